"""Which files the index does not have as they are now, told by their stat results alone."""

import os
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import apsw

from index.listing import FEW
from index.sql import rows
from index.stamps import stamp
from sessions.locating import LogFile


class Lag(NamedTuple):
    """A file that the index does not have as it is now, and about how many bytes are missing."""

    file: LogFile
    missing: int


_KNOWN = "select path, done, inode, size, mtime, ctime from session"


def lags(db: apsw.Connection, files: Sequence[LogFile]) -> list[Lag]:
    """Find the files that changed since they were read, in the order given, by their stat results alone."""
    if len(files) > FEW:
        found = rows(db, _KNOWN)
    else:
        found = chain.from_iterable(rows(db, _KNOWN + " where path = ?", (os.fsencode(file.path),)) for file in files)
    known = {path: row for path, *row in found}
    return [lag for file in files if (lag := _lag(known.get(os.fsencode(file.path)), file))]


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
