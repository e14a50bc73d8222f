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
from rebase.rendering import ARGUMENTS, RESULT, Drawn

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


class Text(NamedTuple):
    """The text of a message as it may be quoted, whole and with its results or arguments cut, and its class.

    `short` is the whole where nothing can give way; `how` names what does. `redactions` counts the secrets.
    """

    role: str
    classification: str
    whole: VisibleText
    short: VisibleText
    how: str
    redactions: int


def texts_of(drawn: Drawn, entry_id: str, gate: Gate) -> Text | None:
    """Judge and clean a message; None where it has no words."""
    if not drawn.parts:
        return None
    raw = "\n".join(part.text for part in drawn.parts)
    classification = _class_of(drawn, raw, gate.default_class)
    whole, redactions = clean(raw, gate.visibility)
    kinds = [part.kind for part in drawn.parts if part.kind in _HEADS and _can_give_way(part.text, part.kind)]
    if not kinds:
        return Text(drawn.role, classification, whole, whole, "", redactions)
    parts = []
    for part in drawn.parts:
        text, _ = clean(part.text, gate.visibility)
        parts.append(cut(text, part.kind, entry_id) if part.kind in _HEADS else text)
    short, _ = clean("\n".join(parts), gate.visibility)
    if utf16_units(short) >= utf16_units(whole):
        return Text(drawn.role, classification, whole, whole, "", redactions)
    return Text(drawn.role, classification, whole, short, kinds[0], redactions)


def carried_text(role: str, classification: str, text: str, entry_id: str, how: str, gate: Gate) -> Text:
    """Clean a message that an earlier handoff quotes, by the rules of today; its class stays or rises."""
    whole, redactions = clean(text, gate.visibility)
    classification = highest(classification, gate.default_class)
    if role not in ("result", "shell") or how or not _can_give_way(text, RESULT):
        return Text(role, classification, whole, whole, "", redactions)
    short, _ = clean(cut(whole, RESULT, entry_id), gate.visibility)
    return Text(role, classification, whole, short, RESULT, redactions)


def clean(raw: str, visibility: Visibility) -> tuple[VisibleText, int]:
    """Redact and mask a text, and count the secrets in it; halves of a character that came together become one."""
    found = redact(RawText(_joined(raw)))
    return visibility.mask(found.text).text, found.count


def cut(text: str, kind: str, entry_id: str) -> str:
    """Keep head and tail of a text, cut at line ends where they are near, with a pointer in the middle."""
    head, tail = _HEADS[kind]
    if not _can_give_way(text, kind):
        return text
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


def _can_give_way(text: str, kind: str) -> bool:
    return len(text) > sum(_HEADS[kind]) + _POINTER_ROOM


def _class_of(drawn: Drawn, raw: str, default: str) -> str:
    """Class a message whole: markers count where a person or an extension speaks; our own answers name classes."""
    if drawn.role in ("user", "custom"):
        return highest(default, classify(raw) or default)
    if drawn.own_tool:
        return highest(default, *(found[1] for found in _NAMED_CLASS.finditer(raw)))
    return default


def _joined(raw: str) -> str:
    if raw.isascii() or not _SURROGATE.search(raw):
        return raw
    return raw.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
