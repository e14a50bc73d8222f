"""Pi's own lock on its settings: a folder beside the file, which counts as long as it was touched just now.

So a running Pi and this program never lose each other's change.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from foundation.durable import Files
from foundation.errors import ContextError

STALE_SECONDS = 10.0
"""A lock that was not touched for so long is its holder's no more: what Pi's lock library takes, too."""

_WAIT_SECONDS = 12.0  # so that a lock whose holder died is waited out
_STEP_SECONDS = 0.05


@contextmanager
def locked(settings: str, disk: Files) -> Iterator[None]:
    """Hold the lock of Pi's settings file while the block runs. Raises ContextError `settings-busy`.

    What the block does must be done well before the lock counts as stale: it is not touched meanwhile.
    """
    folder = settings + ".lock"  # beside a link too, as Pi does it
    disk.make_folder(os.path.dirname(folder))
    end = time.monotonic() + _WAIT_SECONDS
    while not _taken(folder, disk):
        if time.monotonic() > end:
            raise ContextError("settings-busy")
        time.sleep(_STEP_SECONDS)
    try:
        yield
    finally:
        disk.remove_folder(folder)


def _taken(folder: str, disk: Files) -> bool:
    try:
        disk.claim_folder(folder)
    except FileExistsError:
        with suppress(FileNotFoundError):
            if time.time() - os.stat(folder).st_mtime > STALE_SECONDS:
                disk.remove_folder(folder)
        return False
    return True
