"""Which files the index does not have as they are now, told by their stat results alone."""

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from index.sql import rows
from index.stamps import stamp
from sessions.locating import LogFile


class Lag(NamedTuple):
    """A file that the index does not have as it is now, and about how many bytes are missing."""

    file: LogFile
    missing: int


def lags(db: apsw.Connection, files: Iterable[LogFile]) -> list[Lag]:
    """Find the files that changed since they were read, in the order given, by their stat results alone."""
    known = {path: row for path, *row in rows(db, "select path, done, inode, size, mtime, ctime from session")}
    found = (_lag(known.get(os.fsencode(file.path)), file) for file in files)
    return [lag for lag in found if lag]


def lag_of(db: apsw.Connection, file: LogFile) -> Lag | None:
    """Tell whether one file changed since it was read."""
    sql = "select done, inode, size, mtime, ctime from session where path = ?"
    return _lag(next(rows(db, sql, (os.fsencode(file.path),)), None), file)


def unproved(db: apsw.Connection) -> list[Lag]:
    """Find the files that grew since they were last read in full, and are still there."""
    paths = [os.fsdecode(path) for (path,) in rows(db, "select path from session where not proved order by path")]
    return [Lag(LogFile(path, os.stat(path)), 0) for path in paths if os.path.isfile(path)]


def _lag(row: Sequence[int] | None, file: LogFile) -> Lag | None:
    """Hold what is on record of a file, its indexed bytes and its stamp, against the file."""
    done, *known = row or (0,)
    if tuple(known) == stamp(file.stat):
        return None
    size = file.stat.st_size
    return Lag(file, size - done if size >= done else size)
