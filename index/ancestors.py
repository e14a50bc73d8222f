"""Who descends from whom: the ancestors of an entry as a few intervals of rowids, and entries by their ids."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter

import apsw

from index.schema import SHIFT, first_rid, last_rid
from index.sql import rows, value

_low = itemgetter(0)

Intervals = Sequence[tuple[int, int]]
"""Inclusive intervals of rids, in order and apart."""

PATH = """
with recursive path(lo, hi) as (
  select run, rid from entry where rid = :leaf
  union
  select above.run, above.rid from path join run on run.lo = path.lo
  join entry above on above.rid = (
    select max(rid) from entry where eid = run.parent and rid between :first and :last))
"""
"""Climbs from the leaf run by run; `union` ends it where a damaged log goes in circles."""

_INTERVALS = PATH + "select lo, max(hi) from path group by lo order by lo"  # noqa: S608 - our own text
_WITHIN = "select rid from entry where rid between ? and ? and off < ? order by rid desc limit 1"
_OF_ID = "select max(rid) from entry where eid = ? and rid between ? and ?"  # of several the last, as in Pi


def session_of(rid: int) -> int:
    """Give the session number within a rid."""
    return rid >> SHIFT


def ancestry(db: apsw.Connection, leaf: int, until: int | None = None) -> Intervals:
    """Give the ancestors of an entry, itself included; `until` is the last rid of the session that counts."""
    span = {"leaf": leaf, "first": first_rid(session_of(leaf)), "last": until or last_rid(session_of(leaf))}
    return tuple((low, high) for low, high in rows(db, _INTERVALS, span))


def is_ancestor(intervals: Intervals, rid: int) -> bool:
    """Tell whether a rid lies in one of the intervals, which are in order and apart."""
    at = bisect_right(intervals, rid, key=_low)
    return at > 0 and rid <= intervals[at - 1][1]


def rid_of(db: apsw.Connection, sid: int, key: int, until: int | None = None) -> int | None:
    """Find an entry by its id as a number: of several the last, up to `until`."""
    found: int | None = value(db, _OF_ID, (key, first_rid(sid), until or last_rid(sid)))
    return found


def last_within(db: apsw.Connection, sid: int, size: int) -> int:
    """Give the last entry that lies within the first bytes of a session; the rid before all entries where none does."""
    found: int | None = value(db, _WITHIN, (first_rid(sid), last_rid(sid), size))
    return found or first_rid(sid)


def rid_at(db: apsw.Connection, sid: int, key: int, offset: int) -> int | None:
    """Find the entry whose id has this number and that lies at this offset of its file."""
    span = (key, first_rid(sid), last_rid(sid), offset)
    found: int | None = value(db, _OF_ID + " and off = ?", span)
    return found


def omitted_on(db: apsw.Connection, path: Intervals, sid: int, until: int | None = None) -> tuple[int, ...]:
    """Give the entries that the last context edit on a path takes out of the context; `until` as in `ancestry`."""
    span = (first_rid(sid), until or last_rid(sid))
    edits = rows(db, "select rid, target, omits from edit where rid between ? and ? order by rid", span)
    last = {target: omits for rid, target, omits in edits if is_ancestor(path, rid)}
    targets = [rid_of(db, sid, target, until) for target, omits in last.items() if omits]
    return tuple(rid for rid in targets if rid is not None)
