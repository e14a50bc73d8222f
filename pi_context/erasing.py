"""What follows a change of memory: words of what was deleted for good leave the index, for good too."""

from collections.abc import Callable
from functools import partial

import apsw

from foundation.errors import ContextError
from index.erasing import erase
from index.fresh import with_index
from index.listing import sessions
from index.sql import transaction
from index.writing import forget
from journal.lifecycle import Record
from pi_context.surroundings import Surroundings
from sessions.locating import canonical

DELETE, UNDELETE = "delete", "undelete"
"""What changes the words that may be indexed: deleting for good, and lifting what that left."""


def follow(around: Surroundings) -> Callable[[Record], None]:
    """Give what follows a change; after a deletion the project's sessions are forgotten and their words erased.

    They are indexed again, masked, by whoever searches or updates next. Raises ContextError `index-unavailable`.
    """

    def done(record: Record) -> None:
        if record.facts.get("op") in (DELETE, UNDELETE):
            with_index(around.own_folder, around.disk, partial(_erased, around))

    return done


def _erased(around: Surroundings, db: apsw.Connection | None, _warnings: tuple[str, ...]) -> None:
    """Forget and erase; a reader in the way leaves the erasure pending, as any other."""
    if db is None:
        raise ContextError("index-unavailable")
    project = canonical(around.project)
    with transaction(db, patient=True):
        for row in sessions(db).values():
            if canonical(row.cwd) == project:
                forget(db, row.sid)
    erase(db)
