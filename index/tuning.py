"""How FTS5 is set for a bulk build and for daily appends.

A bulk build gathers 16 MB of words before it writes a segment, and merges once at the end. That last merge matters
twice: it leaves one segment to search, and it lifts the bulk one level up, or else the sixteenth small append after
it would rewrite everything within one commit.
"""

import apsw

from index.opening import transaction
from index.sql import run, value

BULK_BYTES = 48_000_000
"""Bytes of log from which on an update is worth bulk settings."""

_BUILDING, _MERGING = 1, 2
_MERGE_PAGES = 400  # about a tenth of a second
_SOMETHING = 2  # row changes that a merge makes at least, if there was anything to merge

_BULK = (("hashsize", 16 << 20), ("automerge", 0), ("crisismerge", 2000))
_DAILY = (("hashsize", 1 << 20), ("automerge", 4), ("crisismerge", 16))


def start_bulk(db: apsw.Connection) -> None:
    """Set the words for a bulk build; the index remembers it until `finish_bulk`, also over a crash."""
    _set(db, _BULK)
    run(db, "insert or replace into meta values('bulk', ?)", (_BUILDING,))


def finish_bulk(db: apsw.Connection, *, at_once: bool) -> None:
    """Merge what a bulk build left, where there was one, and go back to daily settings.

    Merging a large index takes many seconds, so who answers a question does a small part of it and leaves the rest.
    """
    if not in_bulk(db):
        return
    with transaction(db):
        if at_once:
            end_bulk(db)
        else:
            _merge_a_little(db)


def _merge_a_little(db: apsw.Connection) -> None:
    """Begin to merge all there is, or go on with that; what is appended meanwhile is merged in the daily way."""
    begun = value(db, "select value from meta where key = 'bulk'") == _MERGING
    before = db.total_changes()
    run(db, "insert into words(words, rank) values('merge', ?)", (_MERGE_PAGES if begun else -_MERGE_PAGES,))
    if db.total_changes() - before < _SOMETHING:
        run(db, "delete from meta where key = 'bulk'")
    elif not begun:
        run(db, "update meta set value = ? where key = 'bulk'", (_MERGING,))
        _set(db, _DAILY)


def end_bulk(db: apsw.Connection) -> None:
    """Merge and go back to daily settings, within the caller's transaction."""
    merge(db)
    _set(db, _DAILY)
    run(db, "delete from meta where key = 'bulk'")


def in_bulk(db: apsw.Connection) -> bool:
    """Tell whether a bulk build began and has not ended."""
    return value(db, "select 1 from meta where key = 'bulk'") is not None


def set_apart(db: apsw.Connection) -> None:
    """Write the words gathered so far as a segment of their own, within a transaction.

    A merge lifts what it merges one level up, and a single segment is merged with nothing.
    """
    run(db, "savepoint apart; release apart")


def merge(db: apsw.Connection) -> None:
    """Write all segments into one; words of deleted rows are gone from it."""
    run(db, "insert into words(words) values('optimize')")


def _set(db: apsw.Connection, options: tuple[tuple[str, int], ...]) -> None:
    for option in options:
        run(db, "insert into words(words, rank) values(?, ?)", option)
