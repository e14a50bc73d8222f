"""The only place that changes files outside SQLite: private folders, atomic replacement, publishing, removal.

Effects go through `Files`, so that a test can number them, fail them or crash between them. A failed fsync is
never retried on the same descriptor: the bytes behind it may already be lost.
"""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable
from typing import Protocol

from foundation.errors import ContextError

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700

PROBES = ("probe.new", "probe-2.new")
"""Files that are there while a file system is tried out."""

_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EACCES}
_NO_SUCH_RENAME = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}
_NO_SUCH_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY}
_HERE, _NO_REPLACE, _EXCLUSIVELY = -100, 1, 4  # AT_FDCWD and RENAME_NOREPLACE of Linux, RENAME_EXCL of macOS


class Files(Protocol):
    """The effects on disk that we use, one method each."""

    def make_folder(self, path: str) -> None:
        """Make a folder for the owner alone; its parents too."""

    def claim_folder(self, path: str) -> None:
        """Make one folder; raise FileExistsError where it is there."""

    def create(self, path: str, data: bytes) -> None:
        """Create a new file for the owner alone, with these bytes on the disk when it returns."""

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permissions of a file."""

    def replace(self, source: str, target: str) -> None:
        """Give `source` the name `target` in one indivisible step."""

    def overwrite(self, path: str, data: bytes) -> None:
        """Write these bytes over a file in place, durable or not: for notes that only living processes read."""

    def link(self, source: str, target: str) -> None:
        """Give a file a second name; raise FileExistsError where that is taken."""

    def rename_no_replace(self, source: str, target: str) -> None:
        """Give a file another name; raise FileExistsError where that is taken."""

    def set_times(self, path: str, *, modified_ns: int) -> None:
        """Set when a file was last changed and read, in nanoseconds since 1970."""

    def unlink(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""

    def remove_folder(self, path: str) -> None:
        """Remove a folder that is empty; one that holds something or is gone already is no error."""

    def fsync_file(self, path: str) -> None:
        """Make the bytes and times of a file durable that something else wrote or set."""

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

    def claim_folder(self, path: str) -> None:
        """Make one folder; raise FileExistsError where it is there."""
        os.mkdir(path, PRIVATE_FOLDER)

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permissions of a file."""
        os.chmod(path, mode)

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

    def overwrite(self, path: str, data: bytes) -> None:
        """Write these bytes over a file in place, durable or not: for notes that only living processes read."""
        handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | getattr(os, "O_CLOEXEC", 0))  # a link may lead anywhere
        try:
            os.write(handle, data)
            os.ftruncate(handle, len(data))
        finally:
            os.close(handle)

    def link(self, source: str, target: str) -> None:
        """Give a file a second name; raise FileExistsError where that is taken."""
        os.link(source, target)

    def rename_no_replace(self, source: str, target: str) -> None:
        """Give a file another name; raise FileExistsError where that is taken."""
        import ctypes

        old, new = os.fsencode(source), os.fsencode(target)
        try:
            library = ctypes.CDLL(None, use_errno=True)
            if sys.platform == "darwin":
                failed = library.renamex_np(old, new, _EXCLUSIVELY)
            else:
                failed = library.renameat2(_HERE, old, _HERE, new, _NO_REPLACE)
        except (AttributeError, TypeError):  # a C library without the call, or a system without such a library
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), source, None, target) from None
        if failed:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), source, None, target)

    def set_times(self, path: str, *, modified_ns: int) -> None:
        """Set when a file was last changed and read, in nanoseconds since 1970."""
        os.utime(path, ns=(modified_ns, modified_ns))

    def unlink(self, path: str) -> None:
        """Remove a file; one that is gone already is no error."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def remove_folder(self, path: str) -> None:
        """Remove a folder that is empty; one that holds something or is gone already is no error."""
        try:
            os.rmdir(path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
                raise

    def fsync_file(self, path: str) -> None:
        """Make the bytes and times of a file durable that something else wrote or set."""
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
            fsync(handle)
        except OSError as error:
            if error.errno not in _NO_SUCH_SYNC:
                raise
        finally:
            os.close(handle)


def fsync(handle: int) -> None:
    """Bring a file to the disk; macOS has a stronger call for that than `fsync`, which some disks do not know."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        except OSError as error:
            if error.errno not in _NO_SUCH_SYNC:  # what failed otherwise is never tried again: its bytes may be lost
                raise
        else:
            return
    os.fsync(handle)


def read_plain(path: str, most: int) -> bytes | None:
    """Read a small file of ours whole; None where it is no plain file or has more bytes. Nothing is waited for.

    Raises FileNotFoundError and other OSError.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(handle)
    return data if len(data) <= most else None


def create_once(files: Files, path: str, data: bytes) -> None:
    """Create a file for the owner alone, and its folder, unless it is there or another process is faster."""
    if os.path.exists(path):
        return
    files.make_folder(os.path.dirname(path))
    with contextlib.suppress(FileExistsError):
        files.create(path, data)


def write_atomically(files: Files, path: str, data: bytes, *, mode: int = PRIVATE_FILE) -> None:
    """Give a file new contents: afterwards, and after any crash, it holds the old bytes or the new ones.

    The temporary name is fixed, so a crash leaves at most one stray file and the next write clears it away.
    Two writers must hold a lock. The file is for the owner alone, unless it is somebody else's and has another `mode`.
    """
    folder, fresh = os.path.dirname(path), path + ".new"
    files.make_folder(folder)
    files.unlink(fresh)
    try:
        files.create(fresh, data)
        if mode != PRIVATE_FILE:
            files.set_mode(fresh, mode)
        files.replace(fresh, path)
    except OSError:
        with contextlib.suppress(OSError):
            files.unlink(fresh)
        raise
    files.fsync_folder(folder)


def make_durable_folder(files: Files, path: str, *, levels: int) -> None:
    """Make a folder whose name and the `levels - 1` names above it survive a power cut.

    All are brought to the disk also where they exist: their maker may have died before it did that.
    """
    files.make_folder(path)
    for _ in range(levels):
        path = os.path.dirname(path)
        files.fsync_folder(path)


def publish(files: Files, staged: str, target: str) -> None:
    """Give a staged file its final name in the same folder, durably; nothing is ever overwritten, the staged name goes.

    May be repeated as long as the staged name is there, wherever a crash stopped it. Raises ContextError:
    `target-exists` where the name is another file's, `install-unsupported` where the file system knows neither hard
    links nor a rename that refuses to replace; the staged file stays then.
    """
    folder = os.path.dirname(target)
    if not _same_file(staged, target):
        try:
            _give_name(files, staged, target)
        except FileExistsError as error:
            raise ContextError("target-exists") from error
    files.fsync_folder(folder)  # before the staged name goes: a power cut must not keep only that
    if os.path.lexists(staged):
        files.unlink(staged)
        files.fsync_folder(folder)


def withdraw(files: Files, target: str, staged: str, *, untouched: Callable[[], bool]) -> bool:
    """Take back what was published, unless `untouched` finds, under its staged name, that somebody wrote to it since.

    Then it gets its name back. Tells whether it is gone; the folder is to be synced afterwards.
    """
    try:
        files.rename_no_replace(target, staged)
    except OSError as error:
        if error.errno not in _NO_SUCH_RENAME:
            raise
        files.unlink(target)
        return True
    if untouched():
        files.unlink(staged)
        return True
    files.rename_no_replace(staged, target)
    return False


def can_publish(files: Files, folder: str) -> None:
    """Try in a folder whether `publish` will work. Raises ContextError `install-unsupported`; leaves nothing behind."""
    probe, other = (os.path.join(folder, name) for name in PROBES)
    for path in (probe, other):
        files.unlink(path)
    try:
        files.create(probe, b"")
        _give_name(files, probe, other)
    finally:
        for path in (probe, other):
            files.unlink(path)


def _give_name(files: Files, staged: str, target: str) -> None:
    try:
        _link_or_rename(files, staged, target)
    except FileExistsError:
        if not _same_file(staged, target):  # over a network a link may come through and be reported as failed
            raise


def _link_or_rename(files: Files, staged: str, target: str) -> None:
    try:
        files.link(staged, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        return
    try:
        files.rename_no_replace(staged, target)
    except OSError as error:
        if error.errno not in _NO_SUCH_RENAME:
            raise
        raise ContextError("install-unsupported") from error


def _same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except FileNotFoundError:
        return False
