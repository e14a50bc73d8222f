"""The messages of a handoff as they are measured, cut and written: classified whole, redacted, masked, then cut.

A piece keeps sizes and a gist, never its text: what survives the budget is read again, so memory follows the budget
and not the session.
"""

import re
from typing import NamedTuple

from foundation.canonical import utf16_units
from foundation.settings import CLASSES
from foundation.texts import RawText, VisibleText
from memory.visibility import Visibility
from privacy.classes import highest
from privacy.markers import classify
from privacy.redaction import redact
from rebase.rendering import ARGUMENTS, RESULT, Drawn, Part

GIST = 96
"""Characters that stand for a message when it becomes a part of one line."""

_HEADS = {RESULT: (400, 200), ARGUMENTS: (160, 80)}
_POINTER_ROOM = 80
_NAMED_CLASS = re.compile(r'\\*"classification\\*":\s*\\*"(' + "|".join(CLASSES) + r')\\*"')
_SURROGATE = re.compile("[\ud800-\udfff]")
_WHITE = re.compile(r"\s+")


class Gate(NamedTuple):
    """How texts are judged: the class of an entry without a marker, and what the owner removed."""

    default_class: str
    visibility: Visibility


class Measure(NamedTuple):
    """A message as sizes: UTF-16 units whole, and with the parts of kind `how` cut.

    `short` is foretold before redaction, so it may be off by a little; it is `whole` where nothing can give way.
    `redactions` counts the secrets.
    """

    role: str
    classification: str
    whole: int
    short: int
    how: str
    gist: str
    redactions: int


def measure(drawn: Drawn, entry_id: str, gate: Gate) -> Measure | None:
    """Judge a message and measure it; None where it has no words."""
    if not drawn.parts:
        return None
    raw = _whole(drawn)
    classification = _class_of(drawn, raw, gate.default_class)
    text, redactions = clean(raw, gate.visibility)
    whole = short = utf16_units(text)
    how = next((part.kind for part in drawn.parts if _can_give_way(part)), "")
    if how:
        short = utf16_units("\n".join(cut(part.text, part.kind, entry_id) for part in drawn.parts))
    if short >= whole:
        short, how = whole, ""
    return Measure(drawn.role, classification, whole, short, how, gist(text), redactions)


def write(drawn: Drawn, entry_id: str, gate: Gate, *, short: bool) -> VisibleText:
    """Write a message, whole or cut: each part is cleaned whole before it is cut, and what is left once more."""
    if not short:
        return clean(_whole(drawn), gate.visibility)[0]
    parts = [cut(clean(part.text, gate.visibility)[0], part.kind, entry_id) for part in drawn.parts]
    return clean("\n".join(parts), gate.visibility)[0]


def clean(raw: str, visibility: Visibility) -> tuple[VisibleText, int]:
    """Redact and mask a text, and count the secrets in it.

    Halves of a character that came together become one; a half alone becomes U+FFFD, for Pi drops it on the way to a
    provider, and lengths would be wrong then.
    """
    found = redact(RawText(_joined(raw)))
    return visibility.mask(found.text).text, found.count


def cut(text: str, kind: str, entry_id: str) -> str:
    """Keep head and tail of a text, cut at line ends where they are near, with a pointer in the middle.

    Text of a kind that does not give way, or that is short already, stays as it is.
    """
    if not _can_give_way(Part(kind, RawText(text))):
        return text
    head, tail = _HEADS[kind]
    start, end = text[:head], text[-tail:]
    if (at := start.rfind("\n")) > head // 2:
        start = start[:at]
    if 0 <= (at := end.find("\n")) < tail // 2:
        end = end[at + 1 :]
    left = len(text) - len(start) - len(end)
    return f"{start}\n[... {left} characters left out, see entry {entry_id} ...]\n{end}"


def gist(text: str) -> str:
    """Give the beginning of a text on one line."""
    flat = _WHITE.sub(" ", text[: 4 * GIST]).strip()
    return flat if len(flat) <= GIST else flat[: GIST - 1].rstrip() + "…"


def _whole(drawn: Drawn) -> str:
    return "\n".join(part.text for part in drawn.parts)


def _can_give_way(part: Part) -> bool:
    return part.kind in _HEADS and len(part.text) > sum(_HEADS[part.kind]) + _POINTER_ROOM


def _class_of(drawn: Drawn, raw: str, default: str) -> str:
    """Class a message whole: markers count where a person or an extension speaks; our own answers name classes."""
    if drawn.known_class:
        return highest(default, drawn.known_class)
    if drawn.role in ("user", "custom"):
        return highest(default, classify(raw) or default)
    if drawn.own_tool:
        return highest(default, *(found[1] for found in _NAMED_CLASS.finditer(raw)))
    return default


def _joined(raw: str) -> str:
    if raw.isascii() or not _SURROGATE.search(raw):
        return raw
    return raw.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
