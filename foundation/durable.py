"""The only place that changes files outside SQLite: private folders, atomic replacement, removal.

Effects go through `Files`, so that a test can number them, fail them or crash between them. A failed fsync is
never retried on the same descriptor: the bytes behind it may already be lost.
"""

import contextlib
import os
from typing import Protocol

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


class Files(Protocol):
    """The effects on disk that we use, one method each."""

    def make_folder(self, path: str) -> None:
        """Make a folder for the owner alone; its parents too."""

    def create(self, path: str, data: bytes) -> None:
        """Create a new file for the owner alone, with these bytes on the disk when it returns."""

    def replace(self, source: str, target: str) -> None:
        """Give `source` the name `target` in one indivisible step."""

    def unlink(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""

    def fsync_file(self, path: str) -> None:
        """Make the bytes of a file durable that something else wrote."""

    def fsync_folder(self, path: str) -> None:
        """Make the names in a folder durable."""


class RealFiles:
    """The effects on the real disk."""

    def make_folder(self, path: str) -> None:
        """Make a folder for the owner alone; its parents too."""
        above = os.path.dirname(path)
        if above and not os.path.isdir(above):
            self.make_folder(above)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, PRIVATE_FOLDER)

    def create(self, path: str, data: bytes) -> None:
        """Create a new file for the owner alone, with these bytes on the disk when it returns."""
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), PRIVATE_FILE)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            fsync(handle)
        finally:
            os.close(handle)

    def replace(self, source: str, target: str) -> None:
        """Give `source` the name `target` in one indivisible step."""
        os.replace(source, target)

    def unlink(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def fsync_file(self, path: str) -> None:
        """Make the bytes of a file durable that something else wrote."""
        handle = os.open(path, os.O_RDWR)
        try:
            fsync(handle)
        finally:
            os.close(handle)

    def fsync_folder(self, path: str) -> None:
        """Make the names in a folder durable; where folders cannot be synced this does nothing."""
        if os.name == "nt":
            return
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def fsync(handle: int) -> None:
    """Bring a file's bytes to the disk; macOS needs a stronger call for that than `fsync`."""
    import sys

    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def create_once(files: Files, path: str, data: bytes) -> None:
    """Create a file for the owner alone, and its folder, unless it is there or another process is faster."""
    if os.path.exists(path):
        return
    files.make_folder(os.path.dirname(path))
    with contextlib.suppress(FileExistsError):
        files.create(path, data)


def write_atomically(files: Files, path: str, data: bytes) -> None:
    """Give a file new contents: afterwards, and after any crash, it holds the old bytes or the new ones.

    The temporary name is fixed, so a crash leaves at most one stray file and the next write clears it away.
    Two writers must hold a lock.
    """
    folder, fresh = os.path.dirname(path), path + ".new"
    files.make_folder(folder)
    files.unlink(fresh)
    try:
        files.create(fresh, data)
        files.replace(fresh, path)
    except OSError:
        with contextlib.suppress(OSError):
            files.unlink(fresh)
        raise
    files.fsync_folder(folder)
