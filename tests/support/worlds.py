"""A small world to ask questions of: an agent folder, session logs, a clock of its own; and a guard over the logs.

Whatever a test asks, no byte, time or inode of a session log may change except by the test's own hand: every world
holds that when it is left, and a fixture holds it for the worlds that a test leaves open.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import apsw
from logs import START, Value, header, lines

from foundation.durable import Files, RealFiles
from foundation.settings import defaults
from index import opening
from index.catching_up import Counters, catch_up
from index.erasing import erase, forget_missing
from index.lagging import lags
from index.rebuilding import rebuild
from memory.visibility import Visibility
from privacy.audiences import LOCAL, Audience, audience_of
from recall import answering, reading
from recall import status as standing
from recall.descent import Descend, no_descent
from recall.here import Here
from recall.references import MemoryReferences
from sessions.locating import Folders, LogFile, session_files

Json = dict[str, Any]

PROJECT = "/home/dev/proj"

_MEMORY = "/dev/shm"  # where there is one, a sync costs nothing


class Look(NamedTuple):
    """What a file looks like from outside."""

    data: bytes
    inode: int
    modified: int


class World:
    """Session logs in one folder, an index beside them, and a clock that only the test moves."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.folder = os.path.join(root, "sessions", "--home-dev-proj--")
        self.index_folder = os.path.join(root, "pi-context")
        self.disk: Files = RealFiles()
        self.now = START + 1_000_000
        self.tick = 0
        self.values = defaults()
        self.audience: Audience = LOCAL
        self.owner = True
        self.trusted = True
        self.project = PROJECT
        self.excluded: frozenset[str] = frozenset()
        self.visibility = Visibility()
        self.leaf: str | None = None
        self.reveal = False
        self.session = "s"
        self.descend: Descend = no_descent
        self._issued = 0
        self.references = MemoryReferences(self.clock, self._token)
        self._looks: dict[str, Look] = {}
        os.makedirs(self.folder)
        _open_worlds.append(self)

    # --- the logs, changed by the test's own hand ---------------------------------------------------------

    def path(self, name: str) -> str:
        """Give the path of a session log by its short name."""
        return os.path.join(self.folder, f"{name}.jsonl")

    def write(self, name: str, data: bytes) -> str:
        """Give a log new contents, in place where it is there already."""
        return self._change(name, "wb", data)

    def append(self, name: str, data: bytes) -> str:
        """Add bytes to a log."""
        return self._change(name, "ab", data)

    def log(self, name: str, *entries: Value, cwd: str = PROJECT, identity: str = "") -> str:
        """Write a log with a header and these entries; its id is its name."""
        return self.write(name, lines(header(cwd, identity or name), *entries))

    def replace(self, name: str, data: bytes) -> str:
        """Put another file in the place of a log."""
        fresh = self.path(name) + ".tmp"
        with open(fresh, "wb") as file:
            file.write(data)
        os.replace(fresh, self.path(name))
        return self.seen(name)

    def delete(self, name: str) -> None:
        """Delete a log."""
        os.unlink(self.path(name))
        self._looks.pop(self.path(name), None)

    def move(self, name: str, to: str) -> None:
        """Give a log another name."""
        os.rename(self.path(name), self.path(to))
        self._looks.pop(self.path(name), None)
        self.seen(to)

    def touch(self, name: str, *, seconds: int | None = None) -> None:
        """Change a log's times and nothing else."""
        now = None if seconds is None else (seconds, seconds)
        os.utime(self.path(name), now)
        self.seen(name)

    def seen(self, name: str) -> str:
        """Take a log as it is now for what the test made of it."""
        self._looks[self.path(name)] = _look(self.path(name))
        return self.path(name)

    def _change(self, name: str, mode: str, data: bytes) -> str:
        with open(self.path(name), mode) as file:
            file.write(data)
        return self.seen(name)

    def check_logs(self) -> None:
        """Hold that no log changed but by the test's own hand, and that no file came to lie beside them."""
        found = sorted(os.path.join(self.folder, name) for name in os.listdir(self.folder))
        assert found == sorted(self._looks)
        for path, look in self._looks.items():
            assert _look(path) == look, f"{os.path.basename(path)} was changed"

    # --- the index --------------------------------------------------------------------------------------------

    def files(self) -> list[LogFile]:
        """List the logs."""
        return session_files(Folders((self.folder,), flat=False))

    def file(self, name: str) -> LogFile:
        """Give one log with its present stat result."""
        return LogFile(self.path(name), os.stat(self.path(name)))

    @contextmanager
    def index(self) -> Iterator[apsw.Connection]:
        """Open the index for writing, made where there is none."""
        if opening.current(self.index_folder) is None:
            opening.create(self.index_folder, self.disk)
        db = opening.open_writer(self.index_folder)
        assert db is not None
        try:
            yield db
        finally:
            db.close()

    def without_index(self) -> None:
        """Let there be no index, and no way to make one."""
        self.index_folder = os.path.join(self.root, "a file")
        with open(self.index_folder, "wb"):
            pass

    def update(self, *, thorough: bool = True) -> Counters:
        """Do what `index update` does."""
        files = self.files()
        with self.index() as db:
            forget_missing(db, [file.path for file in files])
            counters = catch_up(db, lags(db, files), thorough=thorough)
            erase(db)
        return counters

    def rebuild(self, *, folder: str = "") -> Counters:
        """Make the index anew, in its own folder or in another one."""
        return rebuild(folder or self.index_folder, self.disk, self.files())

    # --- questions --------------------------------------------------------------------------------------------

    def clock(self) -> int:
        """Give the time, which moves on by itself only as much as the test says."""
        self.now += self.tick
        return self.now

    def _token(self) -> str:
        self._issued += 1
        return f"h_{self._issued:022}"

    def remote(self, provider: str = "somebody") -> None:
        """Let the answers go to a provider elsewhere."""
        self.audience = audience_of(provider, self.values)

    def here(self) -> Here:
        """Put together what a question needs."""
        there = os.path.exists(self.path(self.session))
        return Here(
            index_folder=self.index_folder,
            disk=self.disk,
            clock=self.clock,
            values=self.values,
            audience=self.audience,
            owner=self.owner,
            files=self.files,
            project=self.project,
            trusted=lambda: self.trusted,
            session=self.file(self.session) if there else None,
            leaf=self.leaf,
            excluded=self.excluded,
            visibility=self.visibility,
            everywhere=lambda: self.visibility,
            references=self.references,
            reveal=self.reveal,
            descend=self.descend,
        )

    def search(self, query: str, **asked: Any) -> Json:
        """Ask."""
        return answering.search(self.here(), query, **asked)

    def found(self, query: str, **asked: Any) -> list[str]:
        """Ask, and give the ids of the entries in their order."""
        return [hit["entryId"] for hit in self.search(query, **asked)["hits"]]

    def read(self, reference: str, **asked: Any) -> Json:
        """Read a hit back."""
        return reading.read(self.here(), reference, **asked)

    def status(self, scope: str | None = None) -> Json:
        """Ask how recall stands."""
        return standing.status(self.here(), scope)


_open_worlds: list[World] = []


@contextmanager
def world() -> Iterator[World]:
    """Make a world in a folder of its own, hold at the end that its logs are untouched, and remove it."""
    root = tempfile.mkdtemp(prefix="pi-context-test-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)
    try:
        made = World(root)
        yield made
        made.check_logs()
        _open_worlds.remove(made)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def check_all_logs() -> None:
    """Hold that the logs of all open worlds are untouched, and forget these worlds."""
    opened = _open_worlds[:]
    _open_worlds.clear()
    for made in opened:
        if os.path.isdir(made.folder):
            made.check_logs()


def bytes_at_rest(folder: str) -> bytes:
    """Give every byte of every file of a folder."""
    return b"".join(look.data for look in looks(folder))


def looks(folder: str) -> Sequence[Look]:
    """Look at all files of a folder."""
    return [_look(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def _look(path: str) -> Look:
    with open(path, "rb") as file:
        data = file.read()
    stat = os.stat(path)
    return Look(data, stat.st_ino, stat.st_mtime_ns)
