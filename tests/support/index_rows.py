"""Everything that an index holds, written so that two indexes can be compared: numbers of sessions do not count."""

import os
from typing import Any

import apsw
from worlds import World

from index import opening
from index.schema import SHIFT, first_rid
from index.sql import rows, run

Rows = dict[str, Any]

_COLUMNS = (
    "inode, size, mtime, ctime, done, line, records, position, last_id, run, head, chain, tail, id, version, cwd, "
    "parent, name, started, active, newest, entries, repeats"
)


def contents(db: apsw.Connection) -> dict[str, Rows]:
    """Give, for each session file, all its rows and words, record numbers counted within the session."""
    run(db, "create virtual table if not exists temp.vocabulary using fts5vocab('main', 'words', 'instance')")
    found: dict[str, Rows] = {}
    for sid, path in rows(db, "select sid, path from session order by path"):
        found[os.path.basename(os.fsdecode(path))] = _session(db, sid)
    strays = {
        table: [key for (key,) in rows(db, f"select {column} from {table}") if key >> SHIFT not in _sids(db)]
        for table, column in (("entry", "rid"), ("run", "lo"), ("edit", "rid"), ("temp.vocabulary", "doc"))
    }
    assert not any(strays.values()), strays
    return found


def _sids(db: apsw.Connection) -> set[int]:
    return {sid for (sid,) in rows(db, "select sid from session")}


def _session(db: apsw.Connection, sid: int) -> Rows:
    first = first_rid(sid)
    span = (first, first_rid(sid + 1) - 1)
    names = _COLUMNS.split(", ")
    session = dict(zip(names, next(rows(db, f"select {_COLUMNS} from session where sid = ?", (sid,))), strict=True))
    if session["run"] is not None:
        session["run"] -= first
    return {
        "session": session,
        "entry": _of(
            db,
            "select rid - ?, eid, run - ?, ts, off, len, sha, digest, role, class,"
            " (select names from toolset where id = tools) from entry where rid between ? and ? order by rid",
            (first, first, *span),
        ),
        "run": _of(db, "select lo - ?, parent from run where lo between ? and ? order by lo", (first, *span)),
        "edit": _of(
            db, "select rid - ?, target, omits from edit where rid between ? and ? order by rid", (first, *span)
        ),
        "quarantine": _of(
            db, "select line, off, len, reason from quarantine where sid = ? order by off, line", (sid,)
        ),
        "words": _of(
            db,
            "select doc - ?, term, offset from temp.vocabulary where doc between ? and ? order by doc, offset, term",
            (first, *span),
        ),
    }  # fmt: skip


def _of(db: apsw.Connection, sql: str, bindings: tuple[int, ...]) -> list[tuple[Any, ...]]:
    return list(rows(db, sql, bindings))


def compare_with_rebuild(made: World) -> None:
    """Hold the index against one that is made anew beside it."""
    fresh = os.path.join(made.root, "fresh")
    made.rebuild(folder=fresh)
    db = opening.open_writer(fresh)
    assert db is not None
    with made.index() as grown:
        assert contents(grown) == contents(db)
    db.close()
