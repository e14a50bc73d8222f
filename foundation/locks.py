"""A kernel-backed lock between processes: the death of its holder releases it, at any moment and for good."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from foundation.durable import Files
from foundation.errors import ContextError


@contextmanager
def held(path: str, disk: Files, *, wait_seconds: float, busy: str) -> Iterator[None]:
    """Hold the lock file `path` while the block runs; raise the code `busy` where another keeps it too long.

    Its folder must exist. The file stays behind: removing it could split two waiters onto two different files.
    """
    import portalocker

    if not os.path.exists(path):
        with suppress(FileExistsError):  # another process was faster
            disk.create(path, b"")
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
