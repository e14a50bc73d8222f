"""The shell's references: a private SQLite file that outlives one command, keyed by each reference's SHA-256.

Lies in the runtime folder, which the system empties; losing it costs a fresh search and nothing else.
"""

import os
from collections.abc import Callable, Mapping, Sequence

import apsw

from foundation.clock import Clock
from foundation.durable import Files, create_once
from recall.evidence import Place
from recall.references import MOST_LIVE, VALID_MS, Reference, digest

_SCHEMA = """
create table if not exists reference(
    digest blob primary key, expires integer not null, asking blob not null, scope text not null, path blob not null,
    session text not null, off integer not null, size integer not null, sha blob not null, id_key integer not null)
"""
_BUSY_MS = 2000


class ShellReferences:
    """References in a file, opened when the first one is given out or asked for."""

    def __init__(self, folders: Sequence[str], disk: Files, clock: Clock, token: Callable[[], str]) -> None:
        self._folders, self._disk, self._clock, self._token = folders, disk, clock, token

    def issue(self, targets: Sequence[Reference]) -> list[str]:
        """Give each target a reference; where none can be kept, they are given out and will not be found again."""
        names = [self._token() for _ in targets]
        expires = self._clock() + VALID_MS
        rows = [(digest(name), expires, *_packed(target)) for name, target in zip(names, targets, strict=True)]
        for folder in self._folders if rows else ():
            try:
                with self._opened(folder) as db:
                    db.execute("delete from reference where expires <= ?", (self._clock(),))
                    db.executemany("insert into reference values(?,?,?,?,?,?,?,?,?,?)", rows)
                    kept = "select rowid from reference order by expires desc, rowid desc limit ?"
                    db.execute(f"delete from reference where rowid not in ({kept})", (MOST_LIVE,))  # noqa: S608 - our own text
                break
            except (apsw.Error, OSError):
                continue
        return names

    def find(self, reference: str) -> Reference | None:
        """Give what a reference stands for; None where it is unknown or expired."""
        for folder in self._folders:
            if not os.path.exists(os.path.join(folder, _FILE)):
                continue
            try:
                with self._opened(folder) as db:
                    sql = "select * from reference where digest = ? and expires > ?"
                    row = next(db.execute(sql, (digest(reference), self._clock())), None)
            except (apsw.Error, OSError):
                continue
            if row is not None:
                return _unpacked(row)
        return None

    def _opened(self, folder: str) -> apsw.Connection:
        path = os.path.join(folder, _FILE)
        create_once(self._disk, path, b"")
        db = apsw.Connection(path)
        db.set_busy_timeout(_BUSY_MS)
        db.pragma("synchronous", "off")  # nothing here is worth a wait: a crash costs a fresh search
        db.pragma("secure_delete", "on")
        db.execute(_SCHEMA)
        return db


_FILE = "references.db"


def folders(own_folder: str, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Give where references may be kept, the best place first."""
    runtime = variables.get("XDG_RUNTIME_DIR", "")
    inside = (os.path.join(runtime, "pi-context"),) if os.path.isdir(runtime) else ()
    return (*inside, os.path.join(own_folder, "run"))


def _packed(target: Reference) -> tuple[object, ...]:
    place = target.place
    return (os.fsencode(target.asking), target.scope, os.fsencode(place.path), place.session_id, place.offset,
            place.size, place.sha, place.id_key)  # fmt: skip


def _unpacked(row: Sequence[object]) -> Reference:
    _, _, asking, scope, path, session_id, *rest = row
    place = Place(os.fsdecode(path), session_id, *rest)  # type: ignore[arg-type]
    return Reference(os.fsdecode(asking), scope, place)  # type: ignore[arg-type]
