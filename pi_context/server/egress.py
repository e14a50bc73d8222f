"""The last gate: what of our texts may go to the provider of the request that is about to leave.

A class is read from what we wrote ourselves: an answer names one for each hit, a handoff for each message. What cannot
be read is replaced whole; what may not go is taken out of an answer, and replaced in a handoff, by a fixed omission.
"""

import json
from collections.abc import Container
from typing import Any, NamedTuple, NoReturn

from foundation.canonical import Json, dumps
from foundation.settings import CLASSES
from foundation.texts import RawText
from memory.visibility import Visibility
from pi_context import memory_view
from pi_context.server.around import InsidePi
from pi_context.server.methods import Ask
from pi_context.server.protocol import Piece
from privacy.audiences import OMITTED, allowed_classes, provider_audience
from privacy.classes import highest
from privacy.redaction import redact
from rebase.framing import compose, omitting, parse
from recall import wire

UNREADABLE = "[omitted: pi-context could not read this again, so nobody knows its class]"
"""Stands for a text of ours that something changed."""

LEFT_OUT = "privacy-omitted"
"""The warning of an answer from which hits were taken."""


class Gate(NamedTuple):
    """The classes that may go, the one that everything has at least, and what was removed since."""

    allowed: Container[str]
    default: str
    visibility: Visibility

    def masked(self, text: str) -> str:
        """Give a text without the names that were removed."""
        return self.visibility.mask(redact(RawText(text)).text).text

    def lets(self, name: Any) -> bool:
        """Tell whether text of this class may go; what is no class may not."""
        return isinstance(name, str) and name in CLASSES and highest(self.default, name) in self.allowed


def egress(ask: Ask) -> Json:
    """Keep or replace each piece."""
    around = InsidePi(ask.state, ask.params.context)
    values = around.configuration.values
    allowed = _allowed(around, ask.params.also_provider)
    pieces: list[Piece] = ask.params.pieces
    seen = around.visibility
    if set(allowed) == set(CLASSES) and not seen.digest:
        return {"pieces": [{"id": piece.id, "action": "keep"} for piece in pieces], "omitted": 0}
    gate = Gate(allowed, values["privacy.defaultClassification"], seen)
    meant = ask.params.also_provider is None  # the block was made for the live model's provider, a moment ago
    changed = {
        at: _gated(piece, gate) if piece.kind != "prompt" else None if meant else OMITTED
        for at, piece in enumerate(pieces)
        if piece.kind != "tool-call"
    }
    lost = {pieces[at].call_id for at, text in changed.items() if text is not None}
    known = {pieces[at].call_id for at in changed}
    for at, piece in enumerate(pieces):
        if piece.kind == "tool-call":
            safe = piece.call_id not in lost and (piece.call_id in known or gate.lets(gate.default))
            changed[at] = _arguments(piece.text, keep=safe)
    told = [_told(piece, changed[at]) for at, piece in enumerate(pieces)]
    return {"pieces": told, "omitted": sum(text is not None for text in changed.values())}


def _allowed(around: InsidePi, also: str | None) -> tuple[str, ...]:
    """Give the classes that may go to everybody who may get the request."""
    values = around.configuration.values
    allowed = allowed_classes(around.provider, values)
    if also is None:
        return allowed
    others = allowed_classes(provider_audience(also, values), values)
    return tuple(name for name in allowed if name in others)


def _told(piece: Piece, text: str | None) -> Json:
    if text is None:
        return {"id": piece.id, "action": "keep"}
    return {"id": piece.id, "action": "replace", "text": text}


def _gated(piece: Piece, gate: Gate) -> str | None:
    """Give what is to stand in the place of a piece; None where it may go as it is."""
    if gate.visibility.closed:
        return UNREADABLE
    try:
        return _handoff(piece.text, gate) if piece.kind == "handoff" else _answer(piece.text, gate)
    except (ValueError, KeyError, TypeError, RecursionError):
        return UNREADABLE


def _handoff(text: str, gate: Gate) -> str | None:
    kept = omitting(text, lets=gate.lets, omission=OMITTED)
    if gate.visibility.names is not None:
        frame = parse(kept)
        kept = compose(
            gate.masked(frame.preamble), [one._replace(text=gate.masked(one.text)) for one in frame.messages]
        )
        kept = text if parse(kept) == parse(text) else kept
    return None if kept == text else kept


def _answer(text: str, gate: Gate) -> str | None:
    """Gate an answer of ours; raises what `_gated` catches where it is none."""
    answer = json.loads(text, parse_constant=_refuse)
    match answer["schema"]:
        case wire.RESULT:
            _need_only(answer, _RESULT)
            return _result(answer, gate)
        case wire.READ:
            if answer["status"] != wire.UNAVAILABLE:
                if not gate.lets(answer["classification"]) or gate.visibility.is_removed(answer["sessionId"]):
                    return OMITTED
                shown = gate.masked(answer["text"])
                return None if shown == answer["text"] else dumps(answer | {"text": shown})
            _need_only(answer, _UNAVAILABLE)
            return None
        case wire.STATUS:
            _need_only(answer, _STATUS)
            return None
        case memory_view.SCHEMA:
            _need_only(answer, _VIEW)
            return _view(answer, gate)
    raise ValueError("no answer")


def _result(answer: Json, gate: Gate) -> str | None:
    hits = answer["hits"]
    kept = [
        hit | {"excerpt": gate.masked(hit["excerpt"])}
        for hit in hits
        if gate.lets(hit["classification"]) and not gate.visibility.is_removed(hit["sessionId"])
    ]
    if kept == hits:
        return None
    lost = {"status": wire.PARTIAL, "warnings": [*answer["warnings"], LEFT_OUT]} if len(kept) < len(hits) else {}
    return dumps(answer | lost | {"hits": kept})


def _view(answer: Json, gate: Gate) -> str | None:
    """Leave out what may not go, and what was removed since; facts have the class that everything has."""
    facts, items = answer.get("facts", []), answer.get("items", [])
    shown = [
        row | {name: gate.masked(row[name]) for name in ("subject", "predicate", "object")}
        for row in facts
        if gate.lets(answer["classification"])
    ]
    kept = [
        row | {"text": gate.masked(row["text"])}
        for row in items
        if gate.lets(row["classification"]) and not gate.visibility.is_removed(row["sessionId"])
    ]
    return None if (shown, kept) == (facts, items) else dumps(answer | {"facts": shown, "items": kept})


def _need_only(answer: Json, names: Container[str]) -> None:
    """Refuse an answer with a field that has no class and that we do not write."""
    if any(name not in names for name in answer):
        raise ValueError("a field that is not ours")


_UNAVAILABLE = frozenset({"schema", "quotedData", "status", "code", "warnings", "effectiveScope", "enabled"})
_RESULT = _UNAVAILABLE | {"coverage", "omitted", "hits", "after", "before"}
_VIEW = _UNAVAILABLE | {"facts", "items", "revision", "classification", "changed"}
_STATUS = _UNAVAILABLE | {"indexCurrent", "pendingRebase", "pendingRebases", "index", "lineage"}


def _arguments(text: str, *, keep: bool) -> str | None:
    """Give arguments in which no word of a call is left; None where it may go as it is."""
    try:
        arguments = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "{}"
    if not isinstance(arguments, dict):
        return "{}"
    if keep:
        return None
    return dumps({name: OMITTED for name in _CALLED_BY if name in arguments})


_CALLED_BY = ("query", "sourceRef")


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)
