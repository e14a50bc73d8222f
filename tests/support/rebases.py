"""A whole rebase in a scratch folder, to run, crash and recover, with the disk, the clock and the key of a test."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from unittest.mock import patch

from deliveries import KEYS, NOW, Look, look
from logs import START, Value, header, lines, message
from rebasing import say

from foundation.durable import Files, RealFiles
from foundation.settings import defaults
from journal.keys import Keys, Verdict, judge, sign
from journal.lifecycle import Fact, Record
from journal.operations import Outcome, Step, Work
from journal.places import Journal
from journal.reading import SetAside, listed
from journal.writing import HeldJournal, locked
from memory.visibility import Visibility
from rebase import operation, steps
from rebase.checkpoint import Origin
from rebase.facts import Facts, facts_of
from rebase.operation import Earlier
from rebase.plan import Plan, make_plan
from rebase.sealing import Signer
from rebase.steps import COURSE, Site

OPERATION = "rebase_0123456789abcdef"
_LONG_AGO_NS = START * 1_000_000


def conversation(turns: int = 6) -> list[Value]:
    """Give a short talk."""
    return [
        message(number, number - 1 or None, f"turn {number}: keep ledger_{number} in grams", ("assistant", "user")[number % 2])
        for number in range(1, turns + 1)
    ]  # fmt: skip


class Rebase:
    """A session in a folder, and one operation that rebases it."""

    stages, course, operation_id = COURSE.stages, COURSE, OPERATION

    def __init__(self, root: str, disk: Files | None = None, *, keys: Keys | None = KEYS) -> None:
        self.root = root
        self.disk: Files = disk or RealFiles()
        self.keys = keys
        self.now = NOW
        self.values = defaults()
        self.visibility = Visibility()
        self.entered: list[str] = []
        self.meanwhile: Callable[[str, str], object] = lambda _moment, _phase: None
        self.source = self.path("2026-11-20T08-00-00-000Z_s1.jsonl")
        if not os.path.exists(self.source):
            with open(self.source, "wb") as file:
                file.write(lines(header(), *conversation()))
            os.utime(self.source, ns=(_LONG_AGO_NS, _LONG_AGO_NS))
        self.before = look(self.source)

    def path(self, *names: str) -> str:
        """Give a path in the folder."""
        return os.path.join(self.root, *names)

    def clock(self) -> int:
        """Give the time; it goes on by itself."""
        self.now += 1
        return self.now

    # --- what the door hands in ---------------------------------------------------------------------------------

    @property
    def journal(self) -> Journal:
        """Give the journal to read."""
        return Journal(self.path(".ds4-rebase"), COURSE, self.keys)

    def held(self, *, wait_seconds: float = 0) -> AbstractContextManager[HeldJournal]:
        """Hold the journal."""
        return locked(
            self.journal, disk=self.disk, clock=self.clock, pid=4711, busy="rebase-busy", wait_seconds=wait_seconds
        )

    def verify(self, data: bytes, key_id: str, mac: str) -> Verdict:
        """Judge a MAC."""
        return judge(self.keys, "lineage", data, key_id, mac)

    def plan(self, source: str = "", *, leaf: str | None = None, fitted: bool = False, size: int | None = None) -> Plan:
        """Plan the rebase."""
        return make_plan(
            source or self.source, leaf=leaf, values=self.values, visibility=self.visibility, fitted=fitted,
            verify=self.verify, locate=self.locate, proved={}, size=size,
        )  # fmt: skip

    def locate(self, origin: Origin) -> list[str]:
        """Find a source by the name it had."""
        path = self.path(origin.file)
        return [path] if os.path.exists(path) else []

    def replan(self, facts: Facts, source: str) -> Plan:
        """Plan again what was recorded."""
        return self.plan(source, leaf=facts.leaf, fitted=facts.fitted, size=facts.source_size)

    def activate(self, target: str, source: str) -> None:
        """Activate as the shell does."""
        steps.make_newest(self.disk, target, source, now_ns=self.clock() * 1_000_000)

    def site(self, *, recovering: bool) -> Site:
        """Give what the steps work with."""
        assert self.keys is not None
        signer = Signer(self.keys.key_id, partial(sign, self.keys, "lineage"))
        return Site(self.root, self.disk, signer, self.verify, self.replan, self.activate, recovering=recovering)

    def _noting(self, site: Site) -> Work:
        """Give the steps; each notes the phase that was recorded when it began."""
        done = steps.work(site)
        return Work([(stage, partial(self._noted, step)) for stage, step in done.steps], done.undo)

    def _noted(self, step: Step, record: Record) -> Mapping[str, Fact]:
        """Let a step happen, and others do what they do `before` it or `after` it, before that is recorded."""
        self.entered.append(record.phase)
        self.meanwhile("before", record.phase)
        facts = step(record)
        self.meanwhile("after", record.phase)
        return facts

    # --- the operation ------------------------------------------------------------------------------------------

    def run(self, operation_id: str = OPERATION) -> Outcome:
        """Begin it and carry it through."""
        with self.held() as journal, patch.object(operation, "work", self._noting):
            plan = self.plan()
            site = self.site(recovering=False)._replace(replan=lambda *_: plan)
            operation.check_place(journal)
            return operation.begin(journal, site, plan, operation_id)

    def recover(self, operation_id: str = OPERATION) -> Outcome:
        """Bring it to its end."""
        with self.held() as journal, patch.object(operation, "work", self._noting):
            return operation.recover(journal, self.site(recovering=True), operation_id)

    def abandon(self, operation_id: str = OPERATION) -> Outcome:
        """Take it back."""
        with self.held() as journal, patch.object(operation, "work", self._noting):
            return operation.abandon(journal, self.site(recovering=True), operation_id)

    def earlier(self, *, again: bool = False) -> Earlier | None:
        """Ask what stands in the way of another one."""
        return operation.earlier(self.journal, self.plan(), again=again)

    def record(self, operation_id: str = OPERATION) -> Record | SetAside | None:
        """Give what the journal says of it."""
        return next((one for one in listed(self.journal) if one.operation_id == operation_id), None)

    @property
    def target(self) -> str:
        """Give the path of the target, as the record has it."""
        record = self.record()
        assert isinstance(record, Record)
        return self.path(facts_of(record).target_file)

    def targets(self) -> list[str]:
        """Give the sessions beside the source."""
        return [self.path(name) for name in sorted(os.listdir(self.root))
                if name.endswith(".jsonl") and self.path(name) != self.source]  # fmt: skip

    # --- what must hold -----------------------------------------------------------------------------------------

    def check_always(self) -> None:
        """Hold what must hold at any moment: the source untouched, a target whole, and older until it is activated."""
        assert look(self.source) == self.before
        for path in self.targets():
            record = self.record()
            assert isinstance(record, Record)
            facts = facts_of(record)
            assert path == self.target
            assert len(look(path).data) == facts.target_size
            assert self.phase() >= COURSE.stages.index("CheckpointReady")
            if self.phase() < COURSE.stages.index("TargetCreated"):
                assert os.stat(path).st_mtime_ns < self.before.modified_ns

    def check_settled(self) -> str:
        """Hold what must hold after a recovery; give how it ended: `nothing`, `closed` or `Verified`."""
        self.check_always()
        record = self.record()
        assert record is None or isinstance(record, Record), record
        journal = [] if record is None else [f".ds4-rebase/operations/{OPERATION}.json", ".ds4-rebase/lock"]
        if record is None or record.closed:
            assert sorted(self.tree()) == sorted([os.path.basename(self.source), *journal])
            return "closed" if record else "nothing"
        assert record.phase == "Verified"
        target = os.path.basename(self.target)
        assert sorted(self.tree()) == sorted([os.path.basename(self.source), target, *journal])
        assert os.stat(self.target).st_mtime_ns > self.before.modified_ns
        assert os.stat(self.target).st_nlink == 1
        return record.phase

    def phase(self) -> int:
        """Give the number of the recorded phase, -1 where nothing is recorded."""
        record = self.record()
        assert not isinstance(record, SetAside), record
        return COURSE.stages.index(record.phase) if record else -1

    def tree(self) -> dict[str, Look]:
        """Look at every file."""
        found = (os.path.join(folder, name) for folder, _, names in os.walk(self.root) for name in names)
        return {os.path.relpath(path, self.root): look(path) for path in found}

    def without_lock(self) -> dict[str, Look]:
        """Look at every file but the lock, whose note tells of its last holder."""
        return {path: seen for path, seen in self.tree().items() if not path.endswith("/lock")}

    def grow(self, path: str = "") -> None:
        """Go on in a session as Pi does; in the source, by default."""
        say(path or self.source, 900, "one thing more")
        if not path or path == self.source:
            self.before = look(self.source)
