"""Take deleted sessions out of the index file for good, or say that it is still pending.

FTS5 marks deleted rows and keeps their words until segments are merged; SQLite keeps freed pages and its
write-ahead log. So: merge under `secure_delete` (always on here), then truncate the log. A reader that holds an old
snapshot makes the last step wait; then the erasure stays pending and the next update tries again.
"""

import os
from collections.abc import Iterable

import apsw

from index.sql import rows, run, transaction, value, waiting
from index.tuning import merge
from index.writing import forget

_PATIENCE_MS = 500  # for readers that are about to end


def forget_missing(db: apsw.Connection, present: Iterable[str]) -> list[int]:
    """Take out the sessions whose files are neither among `present` nor anywhere; give their numbers."""
    there = {os.fsencode(path) for path in present}
    gone = [
        sid for sid, path in rows(db, "select sid, path from session") if path not in there and not os.path.isfile(path)
    ]
    if gone:
        with transaction(db, patient=True):
            for sid in gone:
                forget(db, sid)
    return gone


def is_pending(db: apsw.Connection) -> bool:
    """Tell whether words of deleted sessions may still lie in the file."""
    return value(db, "select 1 from meta where key = 'erase'") is not None


def erase(db: apsw.Connection) -> bool:
    """Erase what was deleted; False where a reader is in the way and the erasure stays pending."""
    deletions = value(db, "select value from meta where key = 'erase'")
    if deletions is None:
        return True
    with transaction(db, patient=True):
        run(db, "delete from toolset where id not in (select tools from entry)")
        merge(db)
    if not _truncate_log(db):
        return False
    with transaction(db, patient=True):  # only if nothing was deleted since
        run(db, "delete from meta where key = 'erase' and value = ?", (deletions,))
    return _truncate_log(db)


def _truncate_log(db: apsw.Connection) -> bool:
    try:
        with waiting(db, _PATIENCE_MS):
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except (apsw.BusyError, apsw.LockedError):
        return False
    return True
