"""The sessions that the index knows, one row each: for lists, for scopes, and to find the file behind a hit."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from index.schema import SHIFT, decoded
from index.sql import rows, value


class SessionRow(NamedTuple):
    """A session as it was when it was last read.

    `version` is 0 where the file has no header; `started`, `active` (its newest message of user or assistant) and
    `newest` (its newest entry) in milliseconds; `done` are the bytes indexed; `last_id` is that of the last entry.
    """

    sid: int
    path: str
    id: str
    version: int
    cwd: str
    parent: str
    name: str
    started: int | None
    active: int | None
    newest: int
    done: int
    entries: int
    repeats: int
    last_id: str | None


FEW = 20
"""Files up to which one look-up each is cheaper than reading all rows."""

_SELECT = (
    "select sid, path, id, version, cwd, parent, name, started, active, newest, done, entries, repeats, last_id"
    " from session"
)


def sessions(db: apsw.Connection) -> dict[str, SessionRow]:
    """Give all sessions by the path of their file."""
    return {row.path: row for row in (_row(*row) for row in rows(db, _SELECT))}


def sessions_at(db: apsw.Connection, paths: Sequence[str]) -> dict[str, SessionRow]:
    """Give the sessions of these files, as far as the index has them."""
    if len(paths) > FEW:
        known = sessions(db)
        return {path: known[path] for path in paths if path in known}
    found = [row for path in paths for row in rows(db, _SELECT + " where path = ?", (os.fsencode(path),))]
    return {row.path: row for row in (_row(*row) for row in found)}


def session(db: apsw.Connection, sid: int) -> SessionRow:
    """Give one session by its number."""
    return _row(*next(rows(db, _SELECT + " where sid = ?", (sid,))))


def quarantined(db: apsw.Connection, sids: Iterable[int]) -> int:
    """Count the quarantined lines of these sessions."""
    listed = "[" + ",".join(map(str, sids)) + "]"
    return int(value(db, "select count(*) from quarantine where sid in (select value from json_each(?))", (listed,)))


# The last entry of a run is a tip unless another run goes on from it.
_TIPS = f"""
    with piece as (select lo >> {SHIFT} as sid, lead(lo) over (partition by lo >> {SHIFT} order by lo) as next from run)
    select sid, count(*) from piece
    where (sid, (select eid from entry where rid < coalesce(next, (sid + 1) << {SHIFT}) order by rid desc limit 1))
        not in (select lo >> {SHIFT}, parent from run where parent is not null)
    group by sid
"""  # noqa: S608 - a number


def branches(db: apsw.Connection) -> dict[int, int]:
    """Count the branches of every session: the entries that no other follows."""
    return dict(rows(db, _TIPS))


def _row(*columns: Any) -> SessionRow:
    row = SessionRow(*columns)
    return row._replace(path=os.fsdecode(row.path), last_id=decoded(columns[-1]))
