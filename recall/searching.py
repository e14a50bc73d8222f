"""Find the hits of a question: in the index where it can be used, in the log itself where it cannot."""

from collections.abc import Sequence

import apsw

from foundation.clock import timer
from foundation.errors import ContextError
from index.fresh import bring_up_to_date
from index.listing import SessionRow, quarantined, session, sessions_at
from index.querying import Filters
from index.sql import snapshot
from recall.candidates import Places, tiers
from recall.examiner import Examiner
from recall.here import Here
from recall.hits import Hit, examine
from recall.judging import LITERAL
from recall.presenting import Outcome
from recall.request import SearchRequest
from recall.scope import BRANCH, PROJECT_WIDE, SESSION, Sources, View, authorise, class_filter

CATCH_UP_MS, SCAN_MS = 2000, 2000
"""How long a search may spend on indexing what it is about, and on reading a log itself."""


def from_index(db: apsw.Connection, here: Here, request: SearchRequest, chosen: Sources, examiner: Examiner) -> Outcome:
    """Search the index, caught up as far as time allows; then the log for what the index does not have."""
    fresh = bring_up_to_date(db, chosen.files, expired=timer(here.clock, CATCH_UP_MS), masks=here.masks)
    one_session = chosen.name not in PROJECT_WIDE
    warnings = [*fresh.warnings, *["index-behind"] * bool(fresh.behind)]
    with snapshot(db):  # all that follows sees one state, whatever other processes write meanwhile
        rows = sessions_at(db, [file.path for file in chosen.files])
        seen: SessionRow | None = None  # the current session, where the index has a beginning of it only
        if one_session and here.asking in fresh.behind:
            from index.changes import is_another_file

            seen = rows.get(here.asking)
            if seen is None or not seen.done or is_another_file(db, seen.path):
                return from_log(here, request, chosen, examiner, Outcome(chosen.name, warnings=warnings))
        try:
            view = authorise(here, chosen, rows, db)
        except ContextError:
            if seen is None:
                raise
            return from_log(here, request, chosen, examiner, Outcome(chosen.name, warnings=warnings))
        places = Places(db, view)
        classes = class_filter(here.values, examiner.gate.allowed)
        filters = Filters(request.roles, classes, request.tools, request.after, request.before)
        batches = tiers(
            db, view.scope, request.query, filters, places, examiner,
            exact=here.values["retrieval.exact"], words=here.values["retrieval.fts"],
        )  # fmt: skip
        found = examine(batches, examiner, places, wanted=request.skip + request.limit)
        damaged = quarantined(db, [row.sid for row in rows.values()])
        warnings += ["lines-quarantined"] * bool(damaged) + ["candidate-limit"] * found.capped
        cwds = {row.id: row.cwd for row in rows.values()}
        outcome = Outcome(view.scope.name, found.hits, found.duplicates, warnings, cwds)
        if seen:
            return from_log(here, request, chosen, examiner, outcome, seen=seen)
        if one_session and not _is_enough(request, found.hits):
            return _from_lines(db, here, request, examiner, outcome, view, filters)
    return outcome._replace(warnings=[*warnings, *examiner.problems()])


def from_log(
    here: Here, request: SearchRequest, chosen: Sources, examiner: Examiner, outcome: Outcome,
    *, seen: SessionRow | None = None,
) -> Outcome:  # fmt: skip
    """Add what the current session's log holds beyond what the index has `seen`; other sessions need the index.

    Where the branch has left the leaf that the index saw, all of it is read; hits in its sources stay where it comes
    from them.
    """
    if chosen.name in PROJECT_WIDE or here.session is None:
        return outcome
    from recall.scanning import Lookout, spots
    from sessions.tree import outline

    session = outline(here.session.path, leaf=here.leaf)
    path = {node.id for node in session.path_to(session.leaf)}
    start = seen.done if seen and (here.leaf or seen.last_id in path) else 0
    descends = chosen.lineage is not None and chosen.lineage.handoff in path
    tree, standing_of = spots(request, examiner, session, ancestors_only=chosen.name != SESSION)
    lookout = Lookout(
        request, examiner, session.path, standing_of, anywhere=not seen, expired=timer(here.clock, SCAN_MS)
    )
    held = {spot.offset: spot for spot in tree}
    known = [
        hit._replace(standing=standing_of(held[hit.place.offset])) if hit.place.path == session.path else hit
        for hit in outcome.hits
        if (hit.place.offset in held if hit.place.path == session.path else descends)
    ]
    scanned = lookout.scan(spot for spot in tree if spot.offset >= start)
    scope = BRANCH if chosen.lineage and not descends else chosen.name
    return _joined(outcome._replace(hits=known, scope=scope), scanned.hits, examiner, complete=scanned.complete)


def _from_lines(
    db: apsw.Connection, here: Here, request: SearchRequest, examiner: Examiner, outcome: Outcome, view: View,
    filters: Filters,
) -> Outcome:  # fmt: skip
    """Add what no index of words can find: places where a term stands inside of other words."""
    from recall.scanning import Lookout, indexed_spots

    expired = timer(here.clock, SCAN_MS)
    found_before = bool(outcome.hits)
    for part in view.scope.parts:
        path = session(db, part.sid).path
        spots, standing_of = indexed_spots(db, view.only(part), filters)
        try:
            lookout = Lookout(
                request, examiner, path, standing_of,
                only_literals=found_before, anywhere=not found_before, expired=expired,
            )  # fmt: skip
            scanned = lookout.scan(spots)
        except ContextError:
            if path == here.asking:
                raise
            examiner.gone.add(path)  # a source that went, or became another file, under our eyes
        else:
            outcome = _joined(outcome, scanned.hits, examiner, complete=scanned.complete)
    return outcome._replace(warnings=[*outcome.warnings, *examiner.problems()])


def _is_enough(request: SearchRequest, hits: Sequence[Hit]) -> bool:
    """Tell whether the lines themselves need no look: there are hits, and one with a literal if one was asked for."""
    literal = any(term.kind == "literal" for term in request.query.terms)
    return bool(hits) and (not literal or any(hit.verdict.tier == LITERAL for hit in hits))


def _joined(outcome: Outcome, more: Sequence[Hit], examiner: Examiner, *, complete: bool) -> Outcome:
    """Put more hits among those at hand, each text once."""
    seen = {hit.digest for hit in outcome.hits}
    hits = sorted([*outcome.hits, *(hit for hit in more if hit.digest not in seen)], key=_order)
    warnings = [*outcome.warnings, *["scan-limit"] * (not complete), *examiner.problems()]
    return outcome._replace(hits=hits, warnings=warnings)


def _order(hit: Hit) -> tuple[int, float, bool, int]:
    return (hit.verdict.tier, -hit.score, not hit.standing.ancestor, -(hit.evidence.entry.timestamp or 0))
