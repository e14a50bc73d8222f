r"""Runs of the characters that keys are made of, also across the line breaks that a terminal put into them.

A break is a newline with the indent after it, with or without a backslash before it, or the two characters `\n` of
escaped text. A diff or quote sign is part of the break where the line of the key starts with the same sign.
Whatever is joined is looked at from one place only, so the work is linear.
"""

import functools
import re
from typing import NamedTuple

from privacy.secrets.letters import surprise
from privacy.secrets.shapes import is_plain_words

ALPHABETS = {
    "alnum": b"A-Za-z0-9",
    "address": b"A-Za-z0-9/_@.-",
    "base64": b"A-Za-z0-9+/",
    "escaped64": b"A-Za-z0-9%+/=_-",
    "secret": b"A-Za-z0-9_~.-",
    "cookie": b"A-Za-z0-9%+/=_.:~-",
    "decimal": b"0-9",
    "dotted": b"A-Za-z0-9_.-",
    "dotted64": b"A-Za-z0-9_./+=-",
    "hex": b"0-9a-fA-F",
    "lower": b"a-z0-9",
    "upper": b"A-Z0-9",
    "upper32": b"A-Z2-7",
    "url64": b"A-Za-z0-9_-",
    "word": b"A-Za-z0-9_",
}
BREAK = rb"(?:\\{0,8}\r{0,2}\n|(?:\\{1,8}r)?\\{1,8}n)(?:[ \t]|\\{1,8}t)*"
FAR = 1024  # bytes of a piece that are read before anybody knows whether it is a key
LONGEST = 1 << 16  # bytes of one key; what is longer is data
_SHORT_TAIL = 6
_JOINED_BITS, _ADDED_BITS = -4.0, -2.0
_SIGNS = (b"+", b"-", b">", b"|")


class Run(NamedTuple):
    """Where a run ends in the text, and its characters without the breaks."""

    end: int
    body: str
    first: str
    """The piece before the first break."""


@functools.cache
def _piece(alphabet: str) -> re.Pattern[bytes]:
    return re.compile(b"[" + ALPHABETS[alphabet] + b"]*")


@functools.cache
def _break_back() -> re.Pattern[bytes]:
    return re.compile(BREAK + rb"\Z")


@functools.cache
def _break() -> re.Pattern[bytes]:
    return re.compile(BREAK)


def piece_end(data: bytes, at: int, alphabet: str, far: int = FAR) -> int:
    """Give the end of the unbroken run of this alphabet that starts at `at`, as far as `far` bytes."""
    found = _piece(alphabet).match(data, at, at + far)
    return found.end() if found else at


def further(data: bytes, stop: int, alphabet: str) -> int:
    """Give the end of a run that turned out to be a key and may have been read as far as `FAR` bytes only."""
    return piece_end(data, stop, alphabet, LONGEST)


def piece_start(data: bytes, at: int, alphabet: str) -> int:
    """Give the start of the unbroken run of this alphabet that ends before `at`; looks back 256 bytes at most."""
    floor = max(0, at - 256)
    window = data[floor:at]
    return floor + len(window.rstrip(_members(alphabet)))


@functools.cache
def _members(alphabet: str) -> bytes:
    every = re.compile(b"[" + ALPHABETS[alphabet] + b"]")
    return bytes(code for code in range(256) if every.match(bytes([code])))


def gather(data: bytes, at: int, alphabet: str, *, wanted: int, most: int, far: int = FAR) -> Run:
    """Collect the run that starts at `at`, joining pieces behind breaks while they belong to it.

    Up to `wanted` characters a following piece belongs if the whole can still be a key (`most` characters; 0 for
    no limit) and the piece is no word; beyond it only pieces that look random do. A key that may not be longer than
    `most` is complete with exactly `wanted` characters.
    """
    end = piece_end(data, at, alphabet, far)
    first = body = data[at:end].decode("ascii")
    while end - at < LONGEST and not (most and len(body) in (wanted, most)):
        start = after_break(data, end, at)
        if start is None:
            break
        stop = piece_end(data, start, alphabet)
        piece = data[start:stop].decode("ascii")
        if not _goes_on(len(body), piece, wanted, most, names=names_a_value(data, stop)):
            break
        body, end = body + piece, stop
    return Run(end, body, first)


def gather_back(data: bytes, at: int, alphabet: str, wanted: int) -> int | None:
    """Give where the `wanted` characters start that end before `at`, with or without breaks between them."""
    count, floor = 0, max(0, at - 4 * wanted - 64)
    while True:
        start = max(piece_start(data, at, alphabet), at - (wanted - count))
        count, at = count + at - start, start
        if count == wanted:
            return at
        broken = _break_back().search(data[floor:at])
        if broken is None:
            return None
        at = floor + broken.start()


def after_break(data: bytes, end: int, begin: int) -> int | None:
    """Give where the next line's text starts if the run that began at `begin` is broken at `end`; else None."""
    if data[end : end + 1] not in (b"\n", b"\r", b"\\"):
        return None
    found = _break().match(data, end, end + 512)
    if not found or found.end() >= len(data):
        return None
    start = found.end()
    if data[start : start + 1] in _SIGNS and data[start : start + 1] == _line_sign(data, begin):
        start += 1
        while data[start : start + 1] in (b" ", b"\t"):
            start += 1
    return start


def _line_sign(data: bytes, begin: int) -> bytes:
    r"""Give the first character of the line that holds `begin`; looks back 200 bytes."""
    floor = max(0, begin - 200)
    real, escaped = data.rfind(b"\n", floor, begin), data.rfind(b"\\n", floor, begin)
    if real < 0 and escaped < 0 and floor:
        return b""
    line = max(real + 1, escaped + 2 if escaped >= 0 else 0, floor)
    return data[line : line + 1]


def names_a_value(data: bytes, at: int) -> bool:
    """Tell whether what ends at `at` is the name of something itself, such as the next line's `NAME = `."""
    sign = data[at : at + 16].lstrip(b" \t")
    return sign[:1] in (b"=", b":", b"(") and data[at : at + 2] != b"=="


def _goes_on(have: int, piece: str, wanted: int, most: int, *, names: bool) -> bool:
    """Tell whether a piece behind a break belongs to the key: it completes it exactly, or it is no word."""
    if not piece or (most and have + len(piece) > most):
        return False
    if have + len(piece) == wanted:
        return True
    if names:
        return False
    if len(piece) < _SHORT_TAIL:
        return have < wanted and not piece.isalpha()
    if have < wanted:
        return surprise(piece) > _JOINED_BITS
    return not piece.isdigit() and not is_plain_words(piece) and surprise(piece) > _ADDED_BITS
