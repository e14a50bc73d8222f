"""A small operation to run, crash and recover: it delivers a letter into a folder, much as a rebase installs a session.

It stages the letter's bytes, installs them without overwriting, makes the letter the current one, and looks at it again.
Nobody but tests knows it; rooms, effects and steps are those that a real operation has.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import NamedTuple

from foundation.durable import Files, RealFiles, publish, write_atomically
from foundation.errors import ContextError
from journal.keys import Keys
from journal.lifecycle import Course, Fact, Record
from journal.operations import HopelessError, Outcome, Step, Work, abandon, recover, run
from journal.places import Journal
from journal.reading import SetAside, listed
from journal.writing import HeldJournal, locked

STAGES = ("Prepared", "Checked", "Staged", "Installed", "Activated", "Verified")
COURSE = Course("delivery", STAGES, committed="Activated")
KEYS = Keys("0123456789abcdef", b"k" * 32)
OPERATION = "delivery_1"
NOW = 1_795_161_600_000
BUSY = "rebase-busy"


class Look(NamedTuple):
    """What a file looks like from outside."""

    data: bytes
    inode: int
    modified_ns: int


class Delivery:
    """A folder with a source that must stay as it is, and a letter to deliver into it."""

    course = COURSE

    def __init__(self, root: str, disk: Files | None = None, *, keys: Keys | None = KEYS) -> None:
        self.root = root
        self.disk: Files = disk or RealFiles()
        self.keys = keys
        self.now = NOW
        self.letter = b"what was said, " * 40
        self.entered: list[str] = []
        self.source, self.staged = self.path("source.jsonl"), self.path("letter.staged")
        self.target, self.current = self.path("letter.jsonl"), self.path("current")
        if not os.path.exists(self.source):
            with open(self.source, "wb") as file:
                file.write(b"the source\n")
        self.before = look(self.source)

    def path(self, *names: str) -> str:
        """Give a path in the folder."""
        return os.path.join(self.root, *names)

    def clock(self) -> int:
        """Give the time; it goes on by itself."""
        self.now += 1
        return self.now

    # --- the operation ------------------------------------------------------------------------------------------

    @property
    def journal(self) -> Journal:
        """Give the journal to read."""
        return Journal(self.path(".journal"), COURSE, self.keys)

    def held(self, *, wait_seconds: float = 0) -> AbstractContextManager[HeldJournal]:
        """Hold the journal."""
        assert self.keys is not None
        return locked(
            self.journal,
            disk=self.disk,
            clock=self.clock,
            pid=4711,
            busy=BUSY,
            wait_seconds=wait_seconds,
        )

    def run(self, operation_id: str = OPERATION) -> Outcome:
        """Begin it and carry it through."""
        with self.held() as journal:
            facts: Mapping[str, Fact] = {"source": self.source, "sourceSize": os.path.getsize(self.source)}
            return run(journal, operation_id, self.work(), versions={"composer": "1"}, facts=facts)

    def recover(self, operation_id: str = OPERATION) -> Outcome:
        """Bring it to its end."""
        with self.held() as journal:
            return recover(journal, operation_id, self.work())

    def abandon(self, operation_id: str = OPERATION) -> Outcome:
        """Undo it."""
        with self.held() as journal:
            return abandon(journal, operation_id, self.work())

    def record(self) -> Record | SetAside | None:
        """Give what the journal says of it."""
        found = listed(self.journal)
        return found[0] if found else None

    def work(self) -> Work:
        """Give the steps; each notes the phase that was recorded when it began."""
        steps = (self.check, self.stage, self.install, self.activate, self.verify)
        return Work(
            tuple((stage, self._noting(step)) for stage, step in zip(STAGES[1:], steps, strict=True)), self.undo
        )

    def _noting(self, step: Step) -> Step:
        def noted(record: Record) -> Mapping[str, Fact]:
            self.entered.append(record.phase)
            return step(record)

        return noted

    def check(self, record: Record) -> Mapping[str, Fact]:
        """See that the source is what it was."""
        if os.path.getsize(self.source) != record.facts["sourceSize"]:
            raise HopelessError("source-changed")
        return {}

    def stage(self, record: Record) -> Mapping[str, Fact]:
        """Bring the bytes to the disk, under a name that nobody reads."""
        del record
        if os.path.exists(self.staged):
            self.disk.unlink(self.staged)
        self.disk.create(self.staged, self.letter)
        self.disk.set_times(self.staged, modified_ns=1_000_000_000)
        self.disk.fsync_file(self.staged)
        self.disk.fsync_folder(self.root)
        return {"size": len(self.letter), "sha256": sha256(self.letter).hexdigest()}

    def install(self, record: Record) -> Mapping[str, Fact]:
        """Give the staged bytes their name; only those that were recorded."""
        staged, there = os.path.exists(self.staged), os.path.exists(self.target)
        if there and not self._is_ours(self.target, record):
            raise ContextError("target-exists")
        if not there and not (staged and self._is_ours(self.staged, record)):
            raise HopelessError("source-changed")
        if not there:
            publish(self.disk, self.staged, self.target)
            return {}
        self.disk.fsync_folder(self.root)  # whoever installed it may have died before this, or before the next
        self.disk.unlink(self.staged)
        self.disk.fsync_folder(self.root)
        return {}

    def activate(self, record: Record) -> Mapping[str, Fact]:
        """Make it the current letter."""
        del record
        if os.path.exists(self.current):
            self.disk.fsync_folder(self.root)  # whoever made it may have died before this
        else:
            write_atomically(self.disk, self.current, os.path.basename(self.target).encode())
        return {}

    def verify(self, record: Record) -> Mapping[str, Fact]:
        """Look at it again."""
        if not self._is_ours(self.target, record) or not os.path.exists(self.current):
            raise ContextError("source-unavailable")
        return {}

    def undo(self, record: Record) -> None:
        """Take back what was staged and installed."""
        for path in (self.current, self.current + ".new", self.staged):
            self.disk.unlink(path)
        self.disk.fsync_folder(self.root)  # nothing may name a letter that is gone
        if os.path.exists(self.target) and self._is_ours(self.target, record):
            self.disk.unlink(self.target)
        self.disk.fsync_folder(self.root)

    def _is_ours(self, path: str, record: Record) -> bool:
        try:
            return sha256(look(path).data).hexdigest() == record.facts.get("sha256")
        except FileNotFoundError:
            return False

    # --- what must hold -----------------------------------------------------------------------------------------

    def check_always(self) -> None:
        """Hold what must hold at any moment: the source untouched, the letter whole or not there."""
        assert look(self.source) == self.before
        if os.path.exists(self.target):
            assert look(self.target).data == self.letter
        if os.path.exists(self.current):
            assert look(self.target).data == self.letter

    def check_settled(self) -> str:
        """Hold what must hold after a recovery; give how it ended: `nothing`, `closed` or `Verified`."""
        self.check_always()
        assert not os.path.exists(self.staged)
        record = self.record()
        assert record is None or isinstance(record, Record), record
        journal = [] if record is None else [f".journal/operations/{OPERATION}.json"]
        lock = [] if record is None else [".journal/lock"]
        if record is None or record.closed:
            assert sorted(self.tree()) == sorted(["source.jsonl", *journal, *lock])
            return "closed" if record else "nothing"
        assert record.phase == "Verified"
        assert sorted(self.tree()) == sorted(["source.jsonl", "letter.jsonl", "current", *journal, *lock])
        return record.phase

    def tree(self) -> dict[str, Look]:
        """Look at every file."""
        found = (os.path.join(folder, name) for folder, _, names in os.walk(self.root) for name in names)
        return {os.path.relpath(path, self.root): look(path) for path in found}

    def without_lock(self) -> dict[str, Look]:
        """Look at every file but the lock, whose note tells of its last holder."""
        return {path: seen for path, seen in self.tree().items() if not path.endswith("/lock")}


def look(path: str) -> Look:
    """Look at a file."""
    with open(path, "rb") as file:
        data = file.read()
    stat = os.stat(path)
    return Look(data, stat.st_ino, stat.st_mtime_ns)
