"""A kernel-backed lock between processes: the death of its holder releases it, at any moment and for good."""

from collections.abc import Iterator
from contextlib import contextmanager

from foundation.durable import Files, create_once
from foundation.errors import ContextError


@contextmanager
def held(path: str, disk: Files, *, wait_seconds: float, busy: str) -> Iterator[None]:
    """Hold the lock file `path` while the block runs; raise the code `busy` where another keeps it too long.

    Makes its folder. The file stays behind: removing it could split two waiters onto two different files.
    """
    import portalocker

    create_once(disk, path, b"")
    flags = portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING
    lock = portalocker.Lock(path, mode="a", timeout=wait_seconds, flags=flags)
    try:
        lock.acquire()
    except portalocker.exceptions.LockException as error:
        raise ContextError(busy) from error
    try:
        yield
    finally:
        lock.release()
