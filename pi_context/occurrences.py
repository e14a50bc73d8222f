"""Where a name occurs in the project's sessions: how many entries, of how many sessions, as far as they are indexed."""

from functools import partial
from typing import NamedTuple

import apsw

from foundation.clock import timer
from index.ancestors import session_of
from index.fresh import bring_up_to_date, with_index
from index.listing import sessions_at
from index.matching import phrase
from index.querying import Filters, Part, search
from index.sql import snapshot
from pi_context import environment
from pi_context.surroundings import Surroundings
from recall.scope import project_files, whole_sessions
from recall.searching import CATCH_UP_MS
from sessions.locating import canonical

MOST = 1000
"""Entries beyond these are not counted."""


class Occurrences(NamedTuple):
    """How many entries of how many sessions hold a name; `more` where there are more than were counted."""

    entries: int
    sessions: int
    more: bool


def occurrences(around: Surroundings, name: str) -> Occurrences | None:
    """Count where a name occurs, redacted text and indexed entries only; None where there is no index."""
    return with_index(around.own_folder, around.disk, partial(_counted, around, name))


def _counted(
    around: Surroundings, name: str, db: apsw.Connection | None, _warnings: tuple[str, ...]
) -> Occurrences | None:
    if db is None:
        return None
    files = project_files(around.files, db, canonical(around.project))
    bring_up_to_date(db, files, expired=timer(environment.clock, CATCH_UP_MS), masks=around.masks)
    with snapshot(db):
        rows = sessions_at(db, [file.path for file in files])
        scope = whole_sessions([Part(row.sid, None, row.newest) for row in rows.values()])
        found, more = search(db, scope, phrase(name), Filters(), most=MOST)
    return Occurrences(len(found), len({session_of(place.rid) for place in found}), more)
