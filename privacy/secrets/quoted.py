r"""Reads a quoted string wherever it stands: in code, in JSON, or inside a string where each quote has backslashes.

`"x"` opens with no backslash and closes at the next bare quote; `\"x\"` opens with one and closes with one; deeper
nestings have three, seven and so on. Line breaks inside are skipped, a blank ends the reading.
"""

import functools
import re
from typing import NamedTuple

from privacy.secrets.runs import BREAK

_OPEN = rb"(?:[bBrRfFuU@$]{1,2}(?=\\*[\"']))?(\\*)([\"'`])"
_PLAIN = rb"[^\s\\\"'`]+"
_QUOTES = (b'"', b"'", b"`")
_KEY_LIKE = rb"[A-Za-z0-9+/=_.-]+"
_BREAK = rb"(?:" + BREAK + rb")"


class Quoted(NamedTuple):
    """The content of a quoted string: its place, its text without breaks and escapes, and whether it was closed."""

    start: int
    end: int
    text: str
    closed: bool


@functools.cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def read(data: bytes, at: int, far: int) -> Quoted | None:
    """Read the quoted string that opens at `at`, as far as `far` bytes; None where none opens."""
    opening = _compiled(_OPEN).match(data, at, at + 80)
    if not opening:
        return None
    slashes, quote = len(opening[1]), opening[2]
    start = place = opening.end()
    limit = min(len(data), start + far)
    pieces: list[bytes] = []
    while place < limit:
        plain = _compiled(_PLAIN).match(data, place, limit)
        if plain:
            pieces.append(plain[0])
            place = plain.end()
            continue
        after = place
        while data[after : after + 1] == b"\\" and after < limit:
            after += 1
        count, char = after - place, data[after : after + 1]
        if char == quote and _closes(count, slashes):
            kept = count if slashes == 0 else 0
            return Quoted(start, place + kept, _text([*pieces, data[place : place + kept]]), closed=True)
        broken = _compiled(_BREAK).match(data, place, limit)
        if broken and all(_compiled(_KEY_LIKE).fullmatch(piece) for piece in pieces):
            place = broken.end()
        elif char.isspace() or not char:
            break
        else:
            pieces.append(char if char in _QUOTES else b"\\"[:count] + char)
            place = after + 1
    return Quoted(start, place, _text(pieces), closed=False)


def _closes(count: int, slashes: int) -> bool:
    return count % 2 == 0 if slashes == 0 else count <= slashes


def _text(pieces: list[bytes]) -> str:
    return b"".join(pieces).decode("utf-8", "replace")
