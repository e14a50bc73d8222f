"""Put verified hits on the wire: labels, references, excerpts, all within the budget."""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from foundation.canonical import Json
from recall import wire
from recall.budget import LONGEST_EXCERPT, Draft, fit
from recall.excerpts import excerpt, serialised
from recall.here import Here
from recall.hits import Hit
from recall.references import Reference
from recall.request import SearchRequest
from recall.scope import EVERYWHERE, PROJECT_WIDE, relation


class Outcome(NamedTuple):
    """What a search came to: the scope in effect, hits in order, how many texts stand elsewhere too, warnings.

    `cwds` are the working folders by session id.
    """

    scope: str
    hits: Sequence[Hit] = ()
    duplicates: int = 0
    warnings: Sequence[str] = ()
    cwds: Mapping[str, str] = MappingProxyType({})


def present(here: Here, request: SearchRequest, outcome: Outcome) -> Json:
    """Give the answer `context-history-result-v1`."""
    shown = outcome.hits[request.skip : request.skip + request.limit]
    references = here.references.issue([_reference(here, outcome.scope, hit) for hit in shown])
    drafts = [_draft(here, outcome, hit, name) for hit, name in zip(shown, references, strict=True)]
    envelope = wire.envelope(
        outcome.scope, outcome.warnings, duplicates=outcome.duplicates, after=request.after, before=request.before
    )
    return fit(envelope, drafts, budget=request.budget)


def _reference(here: Here, scope: str, hit: Hit) -> Reference:
    return Reference(here.asking, scope, hit.place)


def _draft(here: Here, outcome: Outcome, hit: Hit, reference: str) -> Draft:
    related = relation(here, hit.place.path, outcome.scope, ancestor=hit.standing.ancestor)
    fields = wire.entry_fields(reference, hit.place, hit.evidence, relation=related, edited=hit.standing.edited)
    if outcome.scope in PROJECT_WIDE:
        cwd = outcome.cwds.get(hit.place.session_id, "")
        fields["projectId"] = wire.project_id(cwd)
        if outcome.scope == EVERYWHERE:
            fields["project"] = cwd
    fields["matchReasons"] = list(hit.verdict.reasons)
    if here.audience.local:
        fields["score"] = hit.score
    if hit.same:
        fields["alsoIn"] = wire.places(hit.same)
    text = hit.evidence.text
    length = serialised(text) if len(text) <= LONGEST_EXCERPT else len(text)  # longer than any excerpt is long enough
    return Draft(fields, length, partial(excerpt, text, hit.verdict.spans))
