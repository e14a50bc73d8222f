"""The effects on disk, counted, failed, or ended by a crash or a power cut at any one of them.

All of these are one idea: `WatchedFiles` turns each effect into a value and hands it to `perform`; what a kind of fault
does there is all that it adds. They can be put inside one another: a `CrashingFiles` around a `ForgetfulFiles` is a
machine that loses power.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal, NamedTuple

from foundation.durable import Files, RealFiles

When = Literal["before", "torn", "after"]
MOMENTS: tuple[When, ...] = ("before", "torn", "after")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS)

_MEMORY = "/dev/shm"  # where there is one, a sync costs nothing


class Crash(BaseException):
    """The process ends here; whatever runs after it runs in a dead process and has no effect."""


class Effect(NamedTuple):
    """One effect: its name in `Files`, the path it is on and the other one it has, the bytes, and what does it."""

    name: str
    path: str
    other: str
    data: bytes
    act: Callable[[], None]


class WatchedFiles:
    """Hands each effect to `perform` before it goes on to another `Files`."""

    def __init__(self, inner: Files | None = None) -> None:
        self.inner: Files = inner or RealFiles()

    def perform(self, effect: Effect) -> None:
        """Let an effect happen."""
        effect.act()

    def tear(self, effect: Effect) -> None:
        """Let half of an effect happen, where it has halves: writing bytes and making several folders do."""
        if isinstance(self.inner, WatchedFiles):
            self.inner.tear(effect)
        else:
            tear_on_disk(effect)

    def make_folder(self, path: str) -> None:
        """Make a folder."""
        self.perform(Effect("make_folder", path, "", b"", partial(self.inner.make_folder, path)))

    def claim_folder(self, path: str) -> None:
        """Make one folder."""
        self.perform(Effect("claim_folder", path, "", b"", partial(self.inner.claim_folder, path)))

    def set_mode(self, path: str, mode: int) -> None:
        """Set permissions."""
        self.perform(Effect("set_mode", path, "", b"", partial(self.inner.set_mode, path, mode)))

    def create(self, path: str, data: bytes) -> None:
        """Create a file."""
        self.perform(Effect("create", path, "", data, partial(self.inner.create, path, data)))

    def overwrite(self, path: str, data: bytes) -> None:
        """Write over a file."""
        self.perform(Effect("overwrite", path, "", data, partial(self.inner.overwrite, path, data)))

    def replace(self, source: str, target: str) -> None:
        """Give a file another name."""
        self.perform(Effect("replace", source, target, b"", partial(self.inner.replace, source, target)))

    def link(self, source: str, target: str) -> None:
        """Give a file a second name."""
        self.perform(Effect("link", source, target, b"", partial(self.inner.link, source, target)))

    def rename_no_replace(self, source: str, target: str) -> None:
        """Give a file another name that is free."""
        act = partial(self.inner.rename_no_replace, source, target)
        self.perform(Effect("rename_no_replace", source, target, b"", act))

    def set_times(self, path: str, *, modified_ns: int) -> None:
        """Set the times of a file."""
        self.perform(Effect("set_times", path, "", b"", partial(self.inner.set_times, path, modified_ns=modified_ns)))

    def unlink(self, path: str) -> None:
        """Remove a file."""
        self.perform(Effect("unlink", path, "", b"", partial(self.inner.unlink, path)))

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        self.perform(Effect("remove_folder", path, "", b"", partial(self.inner.remove_folder, path)))

    def fsync_file(self, path: str) -> None:
        """Make bytes durable."""
        self.perform(Effect("fsync_file", path, "", b"", partial(self.inner.fsync_file, path)))

    def fsync_folder(self, path: str) -> None:
        """Make names durable."""
        self.perform(Effect("fsync_folder", path, "", b"", partial(self.inner.fsync_folder, path)))


def tear_on_disk(effect: Effect) -> None:
    """Do the first half of an effect on the real disk."""
    if effect.name in ("create", "overwrite"):
        fresh = os.O_CREAT | os.O_EXCL if effect.name == "create" else 0
        handle = os.open(effect.path, os.O_WRONLY | fresh, 0o600)
        os.write(handle, effect.data[: len(effect.data) // 2])
        os.close(handle)
    if effect.name == "make_folder" and not os.path.isdir(os.path.dirname(effect.path)):
        RealFiles().make_folder(os.path.dirname(effect.path))


class CountingFiles(WatchedFiles):
    """Numbers the effects from 1, and notes their names and the files they are on."""

    def __init__(self, inner: Files | None = None) -> None:
        super().__init__(inner)
        self.done: list[tuple[str, str]] = []

    @property
    def count(self) -> int:
        """How many effects there were."""
        return len(self.done)

    @property
    def names(self) -> list[str]:
        """What they were."""
        return [name for name, _ in self.done]

    def perform(self, effect: Effect) -> None:
        """Note the effect."""
        self.done.append((effect.name, os.path.basename(effect.path)))
        effect.act()


class CrashingFiles(CountingFiles):
    """Crashes before, in the middle of or after the effect with the number given; dead from then on."""

    def __init__(self, number: int = 0, when: When = "before", inner: Files | None = None) -> None:
        super().__init__(inner)
        self.number, self.when = number, when
        self.dead = False

    def perform(self, effect: Effect) -> None:
        """Crash, or let the effect happen."""
        if self.dead:
            raise Crash
        self.dead = self.count + 1 == self.number
        if not self.dead:
            super().perform(effect)
            return
        self.done.append((effect.name, os.path.basename(effect.path)))
        if self.when == "torn":
            self.tear(effect)
        if self.when == "after":
            effect.act()
        raise Crash


class FailingFiles(CountingFiles):
    """Fails at the effect with the number given, counted among those of the name given, once or from then on.

    Where the disk is full or broken, half of the bytes were written; a late failure comes when all was done.
    """

    def __init__(self, number: int, error: int, *, only: str = "", lasting: bool = False, late: bool = False) -> None:
        super().__init__()
        self.number, self.error, self.only, self.lasting, self.late = number, error, only, lasting, late

    def perform(self, effect: Effect) -> None:
        """Fail, or let the effect happen."""
        self.done.append((effect.name, os.path.basename(effect.path)))
        at = sum(name == self.only for name in self.names) if self.only else self.count
        mine = self.only in ("", effect.name)
        if mine and (at == self.number or (self.lasting and at > self.number)):
            if self.late:
                effect.act()
            elif self.error in (errno.ENOSPC, errno.EIO):
                self.tear(effect)
            raise OSError(self.error, os.strerror(self.error), effect.path)
        effect.act()


class _Node:
    """A file or folder whatever its names are: the bytes and the time that a power cut leaves, and whether others wait."""

    def __init__(self, data: bytes | None, modified_ns: int) -> None:
        self.data, self.modified_ns = data, modified_ns
        self.unsynced = False

    def settle(self, path: str) -> None:
        """Take the bytes and the time that it has now as durable."""
        seen = _seen(path)
        self.data, self.modified_ns, self.unsynced = seen.data, seen.modified_ns, False


class _Change(NamedTuple):
    """Names that change together in one folder, not yet durable."""

    folder: str
    names: dict[str, _Node | None]


class ForgetfulFiles(WatchedFiles):
    """Loses at a power cut what was not brought to the disk: names by any choice, bytes and times.

    What lies below `root` when this is made is durable. Any choice of the pending changes may come through, also a later
    one without an earlier one, as file systems reorder them; two changes of one name keep their order.
    """

    def __init__(self, root: str) -> None:
        super().__init__()
        self.root = root
        self.pending: list[_Change] = []
        self.settle()

    def settle(self) -> None:
        """Take everything that is there now as durable."""
        inodes: dict[int, _Node] = {}
        self._durable: dict[str, _Node] = {}
        self.pending.clear()
        for folder, folders, files in os.walk(self.root):
            for name in (*folders, *files):
                path = os.path.join(folder, name)
                number = os.lstat(path).st_ino
                self._durable[path] = inodes.setdefault(number, _seen(path))
        self._live = dict(self._durable)

    @property
    def unsynced(self) -> bool:
        """Tell whether there are bytes or times that a power cut would lose."""
        return any(node.unsynced for node in self._live.values())

    def outcomes(self) -> Iterator[frozenset[int]]:
        """Give every choice of pending changes that a power cut could let come through."""
        for bits in range(1 << len(self.pending)):
            yield frozenset(number for number in range(len(self.pending)) if bits >> number & 1)

    def perform(self, effect: Effect) -> None:
        """Let the effect happen, and keep in mind what of it is not durable."""
        known = self._known(effect.path)
        effect.act()
        self._note(effect, known)

    def tear(self, effect: Effect) -> None:
        """Let half of it happen; its bytes are not durable."""
        super().tear(effect)
        match effect.name:
            case "make_folder":
                self._note(effect._replace(path=os.path.dirname(effect.path)), None)
            case "overwrite":
                self._note(effect, None)
            case "create":
                self._note(effect, None)
                node = self._live[effect.path]
                node.data, node.unsynced = b"", True
            case _:
                pass  # has no half

    def cut(self, kept: frozenset[int] = frozenset(), *, unsynced_too: bool = False) -> None:
        """Let the power go: of the pending changes only those chosen come through, unsynced bytes and times or not."""
        after = self._left(kept)
        for path, node in self._live.items():
            if os.path.isfile(path):
                if node.unsynced and not unsynced_too:
                    _write(path, node)
                node.settle(path)  # others may have written to it too
        for path in sorted(self._live, key=len, reverse=True):
            if after.get(path) is not self._live[path] and os.path.lexists(path):
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        for path in sorted(after, key=len):
            if not os.path.lexists(path):
                self._restore(path, after)
        self._durable, self._live = after, dict(after)
        self.pending.clear()

    def _left(self, kept: frozenset[int]) -> dict[str, _Node]:
        """Give the names that there are after a power cut: those that can be reached by durable folders."""
        after = dict(self._durable)
        for number in sorted(kept):
            _apply(after, self.pending[number])
        for path in sorted(after, key=len):
            if os.path.dirname(path) != self.root and os.path.dirname(path) not in after:
                del after[path]
        return after

    def _restore(self, path: str, after: dict[str, _Node]) -> None:
        node = after[path]
        if node.data is None:
            os.mkdir(path, 0o700)
            return
        other = next((name for name in after if after[name] is node and name != path and os.path.lexists(name)), None)
        if other is not None:
            os.link(other, path)
            return
        _write(path, node)

    def _known(self, path: str) -> _Node | None:
        """Give what has this name; where the test itself put it there, it counts as durable."""
        if path not in self._live and path.startswith(self.root + os.sep) and os.path.lexists(path):
            self._durable[path] = self._live[path] = _seen(path)
        return self._live.get(path)

    def _note(self, effect: Effect, known: _Node | None) -> None:
        match effect.name:
            case "overwrite" | "set_times":
                self._live[effect.path].unsynced = True
            case "fsync_file":
                self._live[effect.path].settle(effect.path)
            case "fsync_folder":
                for change in [change for change in self.pending if change.folder == effect.path]:
                    _apply(self._durable, change)
                    self.pending.remove(change)
            case _:
                self._note_names(effect, known)

    def _note_names(self, effect: Effect, known: _Node | None) -> None:
        path, other = effect.path, effect.other
        match effect.name:
            case "make_folder":
                while path not in self._live and path.startswith(self.root + os.sep):
                    self._change(path, {path: _seen(path)})
                    path = os.path.dirname(path)
            case "create":
                self._change(path, {path: _seen(path)})
            case "link":
                self._change(other, {other: known})
            case "replace" | "rename_no_replace":
                self._change(other, {other: known, path: None})
            case "unlink" | "remove_folder" if known is not None and not os.path.lexists(path):
                self._change(path, {path: None})

    def _change(self, path: str, names: dict[str, _Node | None]) -> None:
        change = _Change(os.path.dirname(path), names)
        _apply(self._live, change)
        self.pending.append(change)


def _apply(names: dict[str, _Node], change: _Change) -> None:
    for path, node in change.names.items():
        if node is None:
            names.pop(path, None)
        else:
            names[path] = node


def _seen(path: str) -> _Node:
    modified = os.lstat(path).st_mtime_ns
    if os.path.isdir(path):
        return _Node(None, modified)
    with open(path, "rb") as file:
        return _Node(file.read(), modified)


def _write(path: str, node: _Node) -> None:
    assert node.data is not None
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(node.data)
    os.utime(path, ns=(node.modified_ns, node.modified_ns))


@contextmanager
def scratch() -> Iterator[str]:
    """Give an empty folder in memory, and remove it afterwards."""
    folder = tempfile.mkdtemp(prefix="pi-context-test-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)
    try:
        yield os.path.realpath(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
