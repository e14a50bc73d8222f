"""The effects on disk, made to fail or to end the process at any one of them."""

import os
from collections.abc import Callable

from foundation.durable import RealFiles


class Crash(BaseException):
    """The process ends here; whatever runs after it runs in a dead process and has no effect."""


class CrashingFiles(RealFiles):
    """Counts the effects, and crashes before or after the one with the number given; dead from then on."""

    def __init__(self, number: int = 0, *, before: bool = True) -> None:
        self.number, self.before, self.count = number, before, 0
        self.dead = False

    def _step(self, effect: Callable[[], None]) -> None:
        if self.dead:
            raise Crash
        self.count += 1
        here = self.count == self.number
        self.dead = here
        if here and self.before:
            raise Crash
        effect()
        if here:
            raise Crash

    def make_folder(self, path: str) -> None:
        """Make a folder."""
        self._step(lambda: RealFiles.make_folder(self, path))

    def create(self, path: str, data: bytes) -> None:
        """Create a file."""
        self._step(lambda: RealFiles.create(self, path, data))

    def replace(self, source: str, target: str) -> None:
        """Give a file another name."""
        self._step(lambda: RealFiles.replace(self, source, target))

    def unlink(self, path: str) -> None:
        """Remove a file."""
        self._step(lambda: RealFiles.unlink(self, path))

    def fsync_file(self, path: str) -> None:
        """Make bytes durable."""
        self._step(lambda: RealFiles.fsync_file(self, path))

    def fsync_folder(self, path: str) -> None:
        """Make names durable."""
        self._step(lambda: RealFiles.fsync_folder(self, path))


class RefusingFiles(RealFiles):
    """Fails at one effect with an error of the operating system, once."""

    def __init__(self, name: str, error: int) -> None:
        self.name, self.error = name, error

    def _perhaps(self, name: str) -> None:
        if name == self.name:
            self.name = ""
            raise OSError(self.error, os.strerror(self.error))

    def make_folder(self, path: str) -> None:
        """Make a folder."""
        self._perhaps("make_folder")
        super().make_folder(path)

    def create(self, path: str, data: bytes) -> None:
        """Create a file."""
        self._perhaps("create")
        super().create(path, data)

    def replace(self, source: str, target: str) -> None:
        """Give a file another name."""
        self._perhaps("replace")
        super().replace(source, target)

    def unlink(self, path: str) -> None:
        """Remove a file."""
        self._perhaps("unlink")
        super().unlink(path)

    def fsync_file(self, path: str) -> None:
        """Make bytes durable."""
        self._perhaps("fsync_file")
        super().fsync_file(path)

    def fsync_folder(self, path: str) -> None:
        """Make names durable."""
        self._perhaps("fsync_folder")
        super().fsync_folder(path)
