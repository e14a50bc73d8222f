"""A kernel-backed lock between processes: the death of its holder releases it, at any moment and for good."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

from foundation.canonical import dumps
from foundation.clock import iso
from foundation.durable import Files, create_once, read_plain
from foundation.errors import ContextError

_TRIES = 100  # each lost to a process that removed the lock file just then


class Owner(NamedTuple):
    """Who holds a lock: the process, and since when, in milliseconds since 1970."""

    pid: int
    since: int


class BusyError(ContextError):
    """Another process holds the lock: `owner` says which, where it left a note."""

    def __init__(self, code: str, owner: Owner | None) -> None:
        super().__init__(code)
        self.owner = owner
        if owner is not None:
            self.message += f" It is process {owner.pid}, since {iso(owner.since)}."


@contextmanager
def held(path: str, disk: Files, *, wait_seconds: float, busy: str, owner: Owner | None = None) -> Iterator[None]:
    """Hold the lock file `path` while the block runs; raise BusyError, code `busy`, where another keeps it too long.

    Makes its folder; a link, a file with another name too, and what is no plain file are refused as `in-the-way`. The
    file stays behind, and in it the note of its last owner, which counts only while the lock is held. Only its holder
    may remove the file; who waited for it then finds that out and begins again.
    """
    import portalocker

    flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
    for _ in range(_TRIES):
        create_once(disk, path, b"")
        _check_plain(path)
        lock = portalocker.Lock(path, mode="r+", timeout=wait_seconds, flags=flags)
        try:
            file = lock.acquire()
        except FileNotFoundError:
            continue
        except portalocker.exceptions.AlreadyLocked as error:
            raise BusyError(busy, noted_owner(path)) from error
        except portalocker.exceptions.LockException as error:
            raise ContextError("lock-unavailable") from error
        try:
            if not _still_there(file, path):
                continue
            _check_plain(path)
            if owner is not None:
                disk.overwrite(path, dumps(owner._asdict()).encode())
            yield
        finally:
            lock.release()
        return
    raise BusyError(busy, None)


def noted_owner(path: str) -> Owner | None:
    """Read the note in a lock file; it says nothing about whether the lock is held."""
    try:
        note: Any = json.loads(read_plain(path, 1000) or b"")
        pid, since = note["pid"], note["since"]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in (pid, since)):
        return None
    return Owner(pid, since)


def _check_plain(path: str) -> None:
    """Refuse a lock file that may be somebody else's file too: the note of its owner is written over it."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return  # another process removed it just then
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise ContextError("in-the-way")


def _still_there(file: IO[Any], path: str) -> bool:
    """Tell whether the locked file still has the name by which others look for it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
