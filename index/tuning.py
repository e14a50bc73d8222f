"""How FTS5 merges its segments: in bounded steps that we choose, never all at once behind somebody's back.

FTS5's own automatic merging would one day rewrite everything within the commit of one small append: a bulk build
leaves a large segment on a low level, and the sixteenth neighbour makes a "crisis". So that is switched off; each
small update merges a bounded number of pages, and a bulk build merges once, at its end.
"""

import apsw

from index.sql import run, transaction, value

BULK_BYTES = 48_000_000
"""Bytes of log from which on an update is worth bulk settings."""

_BUILDING, _MERGING = 1, 2
_MERGE_PAGES = 200  # about a tenth of a second
_SOMETHING = 2  # row changes that a merge makes at least, if there was anything to merge

STEP_PAGES = 16
"""Pages that one small update may merge: a few milliseconds."""

_BULK_HASH, _DAILY_HASH = 16 << 20, 1 << 20  # bytes of words gathered before a segment is written


def start_bulk(db: apsw.Connection) -> None:
    """Set the words for a bulk build; the index remembers it until `finish_bulk`, also over a crash."""
    _set(db, "hashsize", _BULK_HASH)
    run(db, "insert or replace into meta values('bulk', ?)", (_BUILDING,))


def finish_bulk(db: apsw.Connection, *, at_once: bool) -> None:
    """Merge what a bulk build left, where there was one, and go back to daily settings.

    Merging a large index takes many seconds, so who answers a question does a small part of it and leaves the rest.
    """
    if not in_bulk(db):
        return
    with transaction(db, patient=at_once):
        if at_once:
            end_bulk(db)
        else:
            _merge_a_little(db)


def _merge_a_little(db: apsw.Connection) -> None:
    """Begin to merge all there is, or go on with that; what is appended meanwhile is merged in the daily way."""
    begun = value(db, "select value from meta where key = 'bulk'") == _MERGING
    before = db.total_changes()
    _set(db, "merge", _MERGE_PAGES if begun else -_MERGE_PAGES)
    if db.total_changes() - before < _SOMETHING:
        run(db, "delete from meta where key = 'bulk'")
    elif not begun:
        run(db, "update meta set value = ? where key = 'bulk'", (_MERGING,))
        _set(db, "hashsize", _DAILY_HASH)


def end_bulk(db: apsw.Connection) -> None:
    """Merge and go back to daily settings, within the caller's transaction."""
    merge(db)
    _set(db, "hashsize", _DAILY_HASH)
    run(db, "delete from meta where key = 'bulk'")


def in_bulk(db: apsw.Connection) -> bool:
    """Tell whether a bulk build began and has not ended."""
    return value(db, "select 1 from meta where key = 'bulk'") is not None


def merge_a_step(db: apsw.Connection) -> None:
    """Merge a bounded number of pages, if sixteen segments have gathered on some level."""
    _set(db, "merge", STEP_PAGES)


def merge(db: apsw.Connection) -> None:
    """Write all segments into one; words of deleted rows are gone from it."""
    run(db, "insert into words(words) values('optimize')")


def _set(db: apsw.Connection, option: str, number: int) -> None:
    run(db, "insert into words(words, rank) values(?, ?)", (option, number))
