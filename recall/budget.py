"""Fit an answer into its budget: shorter excerpts first, then less about each hit, then fewer hits.

The cost of an answer is `ceil(UTF-16 units of its JSON / 4)` (rule `chars-v1`) plus 96 for the envelope around it.
It is never exceeded.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple

from foundation.canonical import UNITS_PER_TOKEN, Json, dumps, tokens, utf16_units
from recall.excerpts import ELLIPSIS, ROOM, longest_end, serialised

ENVELOPE = 96
LONGEST_EXCERPT = 1600
"""UTF-16 units as serialised: beyond this a passage is no excerpt any more."""

_LONGEST_ID, _SHORT_ID = 40, 16
_OPAQUE = "opaque_"
_FEW_WARNINGS = 2

Cut = Callable[[int], str]
"""Cuts an excerpt of at most so many serialised UTF-16 units."""


class Draft(NamedTuple):
    """A hit before its excerpt is cut: all fields but `excerpt` and `truncated`, the text's length, and the knife."""

    fields: Json
    length: int
    cut: Cut


def cost(answer: Json) -> int:
    """Give the tokens of an answer with its envelope."""
    return tokens(dumps(answer)) + ENVELOPE


def fit(envelope: Json, drafts: Sequence[Draft], *, budget: int) -> Json:
    """Give the answer with as many hits, and as much of each, as the budget of tokens holds.

    `envelope` is the answer without hits; `omitted.budget` in it counts the hits that had to go.
    """
    units = (budget - ENVELOPE) * UNITS_PER_TOKEN
    shown = [draft.fields for draft in drafts]
    for step in _STEPS:
        envelope, shown = step(envelope, shown)
        if answer := _fitted(envelope, shown, drafts, units):
            return answer
    for count in range(len(drafts) - 1, 0, -1):
        if answer := _fitted(envelope, shown[:count], drafts, units):
            return answer
    for step in _LAST_STEPS:
        envelope, shown = step(envelope, shown[:1])
        if answer := _fitted(envelope, shown, drafts, units):
            return answer
    return _assembled(envelope, [], dropped=len(drafts))  # where there are no hits; one always fits


def _fitted(envelope: Json, shown: Sequence[Json], drafts: Sequence[Draft], units: int) -> Json | None:
    """Give the answer with the hits shown, if that many fit with the shortest of excerpts."""
    bare = _assembled(envelope, shown, dropped=len(drafts) - len(shown))
    room = units - utf16_units(dumps(bare))
    least = sum(min(draft.length, ROOM) for draft in drafts[: len(shown)])
    return _filled(bare, drafts[: len(shown)], room) if room >= least else None


def _assembled(envelope: Json, hits: Sequence[Json], *, dropped: int) -> Json:
    """Put hits into the envelope with empty excerpts, so that only the excerpts' length is still open."""
    omitted = envelope["omitted"] | {"budget": envelope["omitted"]["budget"] + dropped}
    open_hits = [fields | {"excerpt": "", "truncated": False} for fields in hits]
    return envelope | {"omitted": omitted, "hits": open_hits}


def _filled(bare: Json, drafts: Sequence[Draft], room: int) -> Json:
    """Share the room out evenly: what a short text leaves, the long ones get."""
    caps = [0] * len(drafts)
    by_length = sorted(range(len(drafts)), key=lambda at: drafts[at].length)
    for place, at in enumerate(by_length):
        share = min(room // (len(drafts) - place), LONGEST_EXCERPT)
        caps[at] = min(drafts[at].length, share)
        room -= caps[at]
    hits = []
    for hit, draft, cap in zip(bare["hits"], drafts, caps, strict=True):
        text = draft.cut(cap)
        hits.append(hit | {"excerpt": text, "truncated": serialised(text) != draft.length})
    return bare | {"hits": hits}


def _nothing(envelope: Json, hits: list[Json]) -> tuple[Json, list[Json]]:
    return envelope, hits


def _without(*names: str) -> Callable[[Json, list[Json]], tuple[Json, list[Json]]]:
    def step(envelope: Json, hits: list[Json]) -> tuple[Json, list[Json]]:
        return envelope, [{name: value for name, value in hit.items() if name not in names} for hit in hits]

    return step


def _fewer_warnings(envelope: Json, hits: list[Json]) -> tuple[Json, list[Json]]:
    return envelope | {"warnings": envelope["warnings"][:_FEW_WARNINGS]}, hits


def _shorter_ids(envelope: Json, hits: list[Json]) -> tuple[Json, list[Json]]:
    return envelope, [_with_ids(hit, _LONGEST_ID) for hit in hits]


def _shortest_ids(envelope: Json, hits: list[Json]) -> tuple[Json, list[Json]]:
    return envelope, [_with_ids(hit, _SHORT_ID) for hit in hits]


def _without_instants(envelope: Json, hits: list[Json]) -> tuple[Json, list[Json]]:
    return {name: value for name, value in envelope.items() if name not in ("after", "before")}, hits


def _with_ids(hit: Json, longest: int) -> Json:
    """Replace ids that are longer than so many UTF-16 units by digests, and a long path by its end."""
    shorter = {name: shorter_id(hit[name], longest=longest) for name in ("sessionId", "entryId")}
    if utf16_units(hit.get("project", "")) > longest:
        shorter["project"] = ELLIPSIS + longest_end(hit["project"], longest)
    return hit | shorter


def shorter_id(identity: str, *, longest: int = _LONGEST_ID) -> str:
    """Replace a long id by an opaque digest of it; `longest` is in UTF-16 units as serialised."""
    if serialised(identity) <= longest:
        return identity
    digits = (longest - len(_OPAQUE)) // 2 * 2
    return _OPAQUE + sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[: min(digits, 24)]


_STEPS = (
    _nothing,
    _without("score"),
    _without("matchReasons"),
    _without("alsoIn"),
    _without("projectId"),
    _fewer_warnings,
    _shorter_ids,
)
_LAST_STEPS = (_shortest_ids, _without_instants)
"""What also gives way before the last hit would."""
