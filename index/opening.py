"""Find, make, open and switch the index: a pointer file names the files of the present generation.

A database is never renamed and never replaced: readers may still hold the old one, and SQLite would mix its
write-ahead log with the new one's pages. A new generation gets a new file name, and the pointer is switched.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import apsw

from foundation.canonical import dumps
from foundation.durable import Files, write_atomically
from foundation.errors import ContextError
from index.counting import phrase_counts
from index.failures import DAMAGE
from index.schema import CHECKSUMS, MIGRATIONS
from index.sql import BUSY_WAIT_MS, rows, run, transaction
from sessions.reading import open_log

_LONGEST_POINTER = 65_536  # bytes
_SWITCHES = 5  # that may come between reading the pointer and opening the file
POINTER, LOCK = "index.json", "index.lock"
_OURS = re.compile(r"(?P<file>index-(?P<number>[0-9]+)(-[0-9]+)?\.db)(-\w+)?")
"""A shard file of a generation, or one that SQLite keeps beside it."""


class Generation(NamedTuple):
    """A generation of the index: its number and its shard files, of which there is one today."""

    number: int
    files: tuple[str, ...]


class Stale(Exception):  # noqa: N818 - a finding, which is acted upon
    """The index on disk is not one that this version can use; it must be made anew. `reason` says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def current(folder: str) -> Generation | None:
    """Read the pointer; None where there is no index yet. Raises Stale where it is there and cannot be read as one."""
    try:
        with open_log(os.path.join(folder, POINTER)) as pointer:  # waits on no pipe that somebody put there
            found = json.loads(pointer.read(_LONGEST_POINTER))
        number, names = found["generation"], found["files"]
        if isinstance(number, int) and isinstance(names, list) and names and all(map(_is_ours, names)):
            return Generation(number, tuple(names))
    except ContextError as error:
        if error.code == "file-missing":
            return None
        raise Stale("pointer-damaged") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Stale("pointer-damaged") from error
    raise Stale("pointer-damaged")


def open_reader(folder: str) -> apsw.Connection | None:
    """Open the present index for reading; None where there is none. Raises Stale where it cannot be used."""
    return _open(folder, apsw.SQLITE_OPEN_READONLY)


def open_writer(folder: str) -> apsw.Connection | None:
    """Open the present index for reading and writing; None where there is none. Raises Stale likewise."""
    return _open(folder, apsw.SQLITE_OPEN_READWRITE)


def create(folder: str, files: Files, *, wait_ms: int = BUSY_WAIT_MS) -> None:
    """Make an empty index where there is none; two processes at once make one.

    Raises ContextError with `index-busy` where another process holds the lock too long, Stale like `current`.
    """
    with exclusive(folder, files, wait_ms=wait_ms):
        if current(folder) is None:
            replace_generation(folder, files)


def open_or_create(folder: str, files: Files, *, wait_ms: int = BUSY_WAIT_MS) -> apsw.Connection:
    """Open the present index for reading and writing, or make one. Raises ContextError and Stale like `create`."""
    db = open_writer(folder)
    if db is None:
        create(folder, files, wait_ms=wait_ms)
        db = open_writer(folder)
    if db is None:  # another process drops what we make
        raise ContextError("index-busy")
    return db


def replace_generation(folder: str, files: Files) -> None:
    """Switch to a new and empty generation; the lock must be held."""
    number = _number_after(folder)
    _make(folder, number, files).close()
    switch(folder, files, number)


@contextlib.contextmanager
def exclusive(folder: str, files: Files, *, wait_ms: int = BUSY_WAIT_MS) -> Iterator[None]:
    """Hold the right to switch generations. Raises ContextError with `index-busy`."""
    from foundation import locks

    files.make_folder(folder)
    with locks.held(os.path.join(folder, LOCK), files, wait_seconds=wait_ms / 1000, busy="index-busy"):
        yield


def begin_generation(folder: str, files: Files) -> tuple[int, apsw.Connection]:
    """Start a new generation beside the present one; the lock must be held.

    Until it is switched to, nobody reads it and a crash may leave anything in it: so it is written without
    journal and without syncs.
    """
    number = _number_after(folder)
    connection = _make(folder, number, files)
    connection.pragma("journal_mode", "off")
    connection.pragma("synchronous", "off")
    connection.pragma("locking_mode", "exclusive")
    return number, connection


def finish_generation(folder: str, number: int, connection: apsw.Connection, files: Files) -> None:
    """Make a new generation durable, and switch to it."""
    connection.pragma("locking_mode", "normal")
    connection.pragma("synchronous", "full")
    connection.pragma("journal_mode", "wal")
    run(connection, "update meta set value = value where key = 'rules'")  # a synced commit
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()
    files.fsync_file(os.path.join(folder, _file_name(number)))
    switch(folder, files, number)


def abandon_generation(folder: str, files: Files) -> None:
    """Remove a generation that was begun and not finished; the lock must be held."""
    try:
        present = current(folder)
    except Stale:
        present = None
    sweep(folder, files, keep=present.files if present else ())


def switch(folder: str, files: Files, number: int) -> None:
    """Point at a generation, then remove all others; the lock must be held."""
    name = _file_name(number)
    pointer = dumps({"generation": number, "files": [name]}) + "\n"
    write_atomically(files, os.path.join(folder, POINTER), pointer.encode())
    sweep(folder, files, keep=(name,))


def sweep(folder: str, files: Files, *, keep: tuple[str, ...]) -> None:
    """Remove the files of all generations but those named; the lock must be held."""
    for name in os.listdir(folder):
        found = _OURS.fullmatch(name)
        if found and found["file"] not in keep:
            with contextlib.suppress(OSError):  # Windows keeps an open file: the next switch removes it
                files.unlink(os.path.join(folder, name))


def drop(folder: str, files: Files) -> None:
    """Remove the index; the logs, and what the owner decided, stay."""
    with exclusive(folder, files):
        files.unlink(os.path.join(folder, POINTER))
        sweep(folder, files, keep=())


def is_replaced(folder: str, name: str) -> bool:
    """Tell whether another process has switched to another generation than that of this file.

    Its files are gone then, and SQLite fails in many ways on what is left of them to those who still hold them.
    """
    try:
        present = current(folder)
    except (Stale, OSError):
        return False
    return present is None or name not in present.files


def _open(folder: str, flags: int) -> apsw.Connection | None:
    for _ in range(_SWITCHES):
        generation = current(folder)
        if generation is None:
            return None
        try:
            return _opened(folder, generation.files[0], flags)
        except (Stale, apsw.Error):
            if not is_replaced(folder, generation.files[0]):
                raise
    raise ContextError("index-busy")


def _opened(folder: str, name: str, flags: int) -> apsw.Connection:
    path = os.path.join(folder, name)
    try:
        connection = _connect(path, flags)
    except (apsw.CantOpenError, apsw.IOError) as error:
        if not os.path.isfile(path):
            raise Stale("index-missing") from error
        raise _of_unopened(folder, error) from error
    try:
        _prepare(connection)
        _check(connection, writable=flags == apsw.SQLITE_OPEN_READWRITE)
    except DAMAGE as error:
        connection.close()
        raise Stale("index-damaged") from error
    except apsw.CantOpenError as error:
        connection.close()
        raise _of_unopened(folder, error) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: str, flags: int) -> apsw.Connection:
    """Open a database file. Raises ContextError where its path is one that SQLite cannot take: not UTF-8."""
    try:
        return apsw.Connection(path, flags=flags)
    except UnicodeEncodeError as error:
        raise ContextError("index-unavailable") from error


def _of_unopened(folder: str, error: apsw.Error) -> Exception:
    """Tell a folder that may not be written, where SQLite cannot open a sound index either, from damage."""
    damaged = isinstance(error, apsw.CantOpenError) and os.access(folder, os.W_OK)
    return Stale("index-damaged") if damaged else error


def _prepare(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(BUSY_WAIT_MS)
    connection.pragma("schema_version")  # reads the file, and so tells damage from an SQLite without FTS5
    connection.register_fts5_function("phrase_counts", phrase_counts)
    connection.pragma("synchronous", "normal")
    connection.pragma("secure_delete", "on")  # costs nothing that can be measured; freed pages keep no words
    connection.pragma("temp_store", "memory")
    connection.pragma("trusted_schema", False)


def _check(connection: apsw.Connection, *, writable: bool) -> None:
    """Hold the migrations on record against ours, and make the missing ones; raises Stale where they differ."""
    found = _migrations(connection)
    if found == CHECKSUMS:
        return
    if not writable or found != CHECKSUMS[: len(found)]:
        raise Stale("index-version")
    with transaction(connection):
        _migrate(connection, done=len(_migrations(connection)))  # another process may have been faster


def _migrations(connection: apsw.Connection) -> tuple[str, ...]:
    return tuple(checksum for (checksum,) in rows(connection, "select checksum from migration order by version"))


def _migrate(connection: apsw.Connection, *, done: int) -> None:
    for version in range(done, len(MIGRATIONS)):
        run(connection, MIGRATIONS[version])
        run(connection, "insert into migration values(?, ?)", (version + 1, CHECKSUMS[version]))


def _make(folder: str, number: int, files: Files) -> apsw.Connection:
    from index.rules import RULES

    path = os.path.join(folder, _file_name(number))
    files.create(path, b"")  # so that nobody else may ever read it
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
    connection.pragma("page_size", 8192)
    _prepare(connection)
    connection.pragma("journal_mode", "wal")
    with transaction(connection):
        run(connection, "create table migration(version integer primary key, checksum text not null)")
        _migrate(connection, done=0)
        run(connection, "insert into meta values('rules', ?)", (RULES,))
    return connection


def _number_after(folder: str) -> int:
    """Give a generation number that no file in the folder has; strays of a dead process are passed over."""
    taken = [int(found["number"]) for found in map(_OURS.fullmatch, os.listdir(folder)) if found]
    return max(taken, default=0) + 1


def _is_ours(name: object) -> bool:
    """Tell whether a pointer may name this file: one of ours, in this folder."""
    found = _OURS.fullmatch(name) if isinstance(name, str) else None
    return found is not None and found["file"] == name


def _file_name(number: int) -> str:
    return f"index-{number}.db"
