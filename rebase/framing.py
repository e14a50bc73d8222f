"""How a handoff is written: quoted messages, each behind a line with its speaker, its class and its length.

A reader that counts is never deceived, whatever a message says; one that cannot count, such as a model, tells the
lines of the frame by a mark that stands in no message, because it is chosen after all of them are known.
"""

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Literal, NamedTuple, get_args

from foundation.canonical import utf16_units
from foundation.settings import CLASSES

TITLE = "pi-context handoff v1"

Role = Literal["user", "assistant", "result", "shell", "custom", "summary", "turn", "folded"]
"""Who speaks in a message of a handoff; `turn` and `folded` stand for messages that gave way."""

_ROLES: tuple[str, ...] = get_args(Role)
_MARK_DIGITS = 6
_START = re.compile(rf"\[{TITLE} ([0-9a-f]{{{_MARK_DIGITS}}})\] ")
_LINE = r"\n\[MARK (?:end\]|([a-z]+) ([a-z-]+) (0|[1-9][0-9]{0,8})\]\n)"


class Quoted(NamedTuple):
    """One message of a handoff."""

    role: str
    classification: str
    text: str


class Frame(NamedTuple):
    """A handoff taken apart: what it says of itself, and the messages it quotes."""

    preamble: str
    messages: tuple[Quoted, ...]


def compose(preamble: str, messages: Sequence[Quoted]) -> str:
    """Write a handoff; the same input gives the same text."""
    mark = _mark(preamble, messages)
    pieces = [_start(mark), preamble]
    for message in messages:
        pieces += [_line(mark, message.role, message.classification, utf16_units(message.text)), message.text]
    return "".join([*pieces, _end(mark)])


def parse(handoff: str) -> Frame:
    """Take a handoff apart by counting; raises ValueError where it is none, or anything in it does not fit."""
    start = _START.match(handoff)
    if start is None:
        raise ValueError("no handoff")
    line = re.compile(_LINE.replace("MARK", start[1]))
    units = handoff.encode("utf-16-le", "surrogatepass")
    found = line.search(handoff, start.end())
    if found is None:
        raise ValueError("no message and no end")
    preamble = handoff[start.end() : found.start()]
    if start[1] in preamble:
        raise ValueError("the mark stands where no line of the frame is")
    at = 2 * utf16_units(handoff[: found.start()])
    messages = []
    while True:
        ahead = units[at : at + 2 * _LONGEST_LINE].decode("utf-16-le", "replace")
        found = line.match(ahead)
        if found is None:
            raise ValueError("a length is wrong")
        at += 2 * utf16_units(found[0])
        if found[1] is None:
            break
        role, classification, size = found[1], found[2], 2 * int(found[3])
        if role not in _ROLES or classification not in CLASSES or at + size > len(units):
            raise ValueError("a line of the frame says what it cannot")
        text = units[at : at + size].decode("utf-16-le", "surrogatepass")
        messages.append(Quoted(role, classification, text))
        at += size
    if at != len(units):
        raise ValueError("something follows the end")
    return Frame(preamble, tuple(messages))


def units_of(preamble: str) -> int:
    """Give the UTF-16 units of a handoff without any message."""
    mark = "0" * _MARK_DIGITS
    return utf16_units(_start(mark) + preamble + _end(mark))


def units_for(role: str, classification: str, units: int) -> int:
    """Give the UTF-16 units that a message of so many takes up with its line."""
    return len(_line("0" * _MARK_DIGITS, role, classification, units)) + units


def _start(mark: str) -> str:
    return f"[{TITLE} {mark}] "


def _line(mark: str, role: str, classification: str, units: int) -> str:
    return f"\n[{mark} {role} {classification} {units}]\n"


def _end(mark: str) -> str:
    return f"\n[{mark} end]"


def _mark(preamble: str, messages: Sequence[Quoted]) -> str:
    """Choose a mark from the digest of all messages that stands in none of them."""
    digest = sha256(preamble.encode("utf-8", "surrogatepass"))
    for message in messages:
        digest.update(b"\0%d\0" % len(message.text) + message.text.encode("utf-8", "surrogatepass"))
    number = 0
    while True:
        mark = sha256(digest.digest() + b"%d" % number).hexdigest()[:_MARK_DIGITS]
        if mark not in preamble and not any(mark in message.text for message in messages):
            return mark
        number += 1


_LONGEST_LINE = len(_line("0" * _MARK_DIGITS, max(_ROLES, key=len), max(CLASSES, key=len), 10**9))


def omitting(handoff: str, *, lets: Callable[[str], bool], omission: str) -> str:
    """Let an omission stand for each message whose class may not go. Raises ValueError for what is no handoff."""
    frame = parse(handoff)
    if all(lets(each.classification) for each in frame.messages):
        return handoff
    return compose(
        frame.preamble,
        [each if lets(each.classification) else each._replace(text=omission) for each in frame.messages],
    )
