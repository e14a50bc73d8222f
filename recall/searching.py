"""Find the hits of a question: in the index where it can be used, in the log itself where it cannot."""

from collections.abc import Callable

import apsw

from foundation.errors import ContextError
from index.fresh import bring_up_to_date
from index.listing import quarantined, sessions_at
from index.querying import Filters
from recall.candidates import Places, tiers
from recall.here import Here
from recall.hits import Examiner, Hit, examine
from recall.presenting import Outcome
from recall.request import SearchRequest
from recall.scope import PROJECT_WIDE, SESSION, Sources, authorise, class_filter

CATCH_UP_MS, SCAN_MS = 2000, 2000
"""How long a search may spend on indexing what it is about, and on reading a log itself."""


def from_index(
    db: apsw.Connection, here: Here, request: SearchRequest, chosen: Sources, examiner: Examiner, outcome: Outcome
) -> Outcome:
    """Search the index, caught up as far as time allows; then the log for what the index does not have."""
    fresh = bring_up_to_date(db, chosen.files, expired=timer(here, CATCH_UP_MS))
    rows = sessions_at(db, [file.path for file in chosen.files])
    behind = ["index-behind"] if fresh.behind else []
    try:
        view = authorise(here, chosen, rows, db)
    except ContextError:
        if not behind:
            raise
        return from_log(here, request, chosen, examiner, outcome._replace(warnings=behind))
    places = Places(db, view.ancestors)
    wanted = Filters(
        request.roles, class_filter(here.values, examiner.gate.allowed), request.tools, request.after, request.before
    )
    batches = tiers(
        db, view.scope, request.query, wanted, places, examiner.logs,
        exact=here.values["retrieval.exact"], words=here.values["retrieval.fts"],
    )  # fmt: skip
    found = examine(batches, examiner, places, wanted=request.skip + request.limit)
    damaged = quarantined(db, [row.sid for row in rows.values()])
    warnings = [*fresh.warnings, *behind, *["lines-quarantined"] * bool(damaged), *["candidate-limit"] * found.capped]
    outcome = Outcome(
        chosen.name, found.hits, found.duplicates, [*warnings, *examiner.problems()], view.edited,
        {row.id: row.cwd for row in rows.values()},
    )  # fmt: skip
    if chosen.name in PROJECT_WIDE or (found.hits and not behind):
        return outcome
    done = rows[chosen.files[0].path].done if behind and rows else 0
    return from_log(here, request, chosen, examiner, outcome, start=done, anywhere=not behind)


def from_log(
    here: Here, request: SearchRequest, chosen: Sources, examiner: Examiner, outcome: Outcome,
    *, start: int = 0, anywhere: bool = True,
) -> Outcome:  # fmt: skip
    """Add what the current session's log holds from the byte `start` on; other sessions need the index."""
    if chosen.name in PROJECT_WIDE or here.session is None:
        return outcome
    from recall.scanning import scan
    from sessions.tree import outline

    session = outline(here.session.path, leaf=here.leaf)
    scanned = scan(
        request, examiner, session, session_id=examiner.logs.session_id(session.path), start=start, anywhere=anywhere,
        ancestors_only=chosen.name != SESSION, expired=timer(here, SCAN_MS),
    )  # fmt: skip
    fresh = [hit for hit in scanned.hits if hit.digest not in {old.digest for old in outcome.hits}]
    warnings = [*outcome.warnings, *["scan-limit"] * (not scanned.complete), *examiner.problems()]
    return outcome._replace(hits=sorted([*outcome.hits, *fresh], key=_order), warnings=warnings)


def _order(hit: Hit) -> tuple[int, float, bool, int]:
    return (hit.verdict.tier, -hit.score, not hit.ancestor, -(hit.evidence.entry.timestamp or 0))


def timer(here: Here, patience: int) -> Callable[[], bool]:
    """Tell, from now on, whether so many milliseconds are over."""
    deadline = here.clock() + patience
    return lambda: here.clock() >= deadline
