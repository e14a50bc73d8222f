"""Any story of saying, rebasing, dying, recovering and taking back over generations, against a model of bytes by name."""

import os
from hashlib import sha256
from typing import Any, NamedTuple

import pytest
from deliveries import look
from faults import ERRORS, MOMENTS, Crash, CrashingFiles, FailingFiles, When, scratch
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from rebases import Rebase
from rebasing import say

from foundation.durable import Files, RealFiles
from foundation.errors import ContextError, foreseen
from journal.lifecycle import Record, standing
from journal.operations import Outcome
from journal.reading import listed
from rebase.facts import facts_of
from rebase.steps import COURSE

which = st.integers(0, 9)
crashes = st.none() | st.tuples(st.integers(30, 48) | st.integers(1, 60), st.sampled_from(MOMENTS))
"""Often where a target is there and is not activated yet."""


class Story(RuleBasedStateMachine):
    """Sessions in one folder, each of which may be gone on with and rebased, whatever became of earlier operations.

    `sessions` has the bytes of each session as the story left them, `continued` the targets in which something was
    said, `told` how operations ended of which that was told.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scratch = scratch()
        self.root = self.scratch.__enter__()
        first = Rebase(self.root)
        self.sessions = {os.path.basename(first.source): first.before.data}
        self.continued: set[str] = set()
        self.told: dict[str, str] = {}
        self.begun, self.said, self.now = 0, 100, first.now

    def teardown(self) -> None:
        """Recover everything: it must all end well, and nothing temporary is left."""
        try:
            for record in self.records():
                self.act("recover", record.operation_id, RealFiles())
                assert self.told[record.operation_id]
            self.holds()
            left = [name for _, _, names in os.walk(self.root) for name in names]
            assert not [name for name in left if name.endswith((".tmp", ".new"))]
        finally:
            self.scratch.__exit__(None, None, None)

    # --- what happens ---------------------------------------------------------------------------------------------

    @rule(number=which)
    def go_on(self, number: int) -> None:
        """Say something more in a session, as Pi does, be it source or target of an unfinished operation."""
        name, self.said = self.session(number), self.said + 1
        say(os.path.join(self.root, name), self.said, f"said {self.said}", ("user", "assistant")[self.said % 2])
        now = look(os.path.join(self.root, name)).data
        assert now.startswith(self.sessions[name])
        self.sessions[name] = now
        self.continued.add(name)

    @rule(number=which)
    def plan(self, number: int) -> None:
        """Plan the rebase of a session: that changes nothing (R9)."""
        rebase = self.process(self.session(number), RealFiles())
        before = rebase.tree()
        rebase.plan()
        assert rebase.tree() == before

    @rule(number=which, crash=crashes, again=st.booleans())
    def rebase(self, number: int, crash: tuple[int, When] | None, again: bool) -> None:
        """Rebase a session, unless an earlier operation stands in the way."""
        rebase = self.process(self.session(number), RealFiles())
        before = rebase.earlier(again=again)
        if before is None:
            self.begun += 1
            self.act("run", f"rebase_{self.begun}", _crashing(crash), self.session(number))
        elif before.status == "already-rebased":
            assert not again
            assert standing(COURSE, before.record) == "finished"
        else:
            assert standing(COURSE, before.record) in ("open", "closing")

    @precondition(lambda self: self.records())
    @rule(number=which, crash=crashes)
    def recover(self, number: int, crash: tuple[int, When] | None) -> None:
        """Recover an operation: where nothing stops that, it is finished or closed (R3)."""
        name = self.operation(number)
        self.act("recover", name, _crashing(crash))
        assert crash or self.told[name]

    @precondition(lambda self: self.records())
    @rule(number=which, crash=crashes)
    def abandon(self, number: int, crash: tuple[int, When] | None) -> None:
        """Take an operation back, where that can still be done."""
        self.act("abandon", self.operation(number), _crashing(crash))

    @precondition(lambda self: self.records())
    @rule(number=which, at=st.integers(1, 40), error=st.sampled_from(ERRORS), lasting=st.booleans(), late=st.booleans())
    def recover_on_a_failing_disk(self, number: int, at: int, error: int, lasting: bool, late: bool) -> None:
        """Recover an operation while the system refuses an effect."""
        self.act("recover", self.operation(number), FailingFiles(at, error, lasting=lasting, late=late))

    # --- what must hold -------------------------------------------------------------------------------------------

    @invariant()
    def holds(self) -> None:
        """Hold the invariants."""
        self.whatever_happens()
        self.what_was_told_stays()
        self.what_is_not_activated_is_older()

    def whatever_happens(self) -> None:
        """R1, R2, R6: no session has another byte than was said in it, and each new one is the target of one operation."""
        targets = {made.name: made for made in self.targets()}
        sources = {facts_of(one).source_file for one in self.records() if not one.closing}
        for name, data in list(self.sessions.items()):
            path = os.path.join(self.root, name)
            if os.path.exists(path):
                assert look(path).data == data
            else:
                assert name in targets
                assert name not in self.continued
                assert name not in sources
                assert targets[name].record.closing
                del self.sessions[name]
        for name in os.listdir(self.root):
            if name.endswith(".jsonl") and name not in self.sessions:
                data = look(os.path.join(self.root, name)).data
                assert sha256(data).hexdigest() == facts_of(targets[name].record).target_sha256
                self.sessions[name] = data

    def what_was_told_stays(self) -> None:
        """R3, R5: verified is verified and closed is closed, and what was closed has no target that nobody continued."""
        for record in self.records():
            told = self.told.get(record.operation_id, standing(COURSE, record))
            assert told == standing(COURSE, record)
            target = facts_of(record).target_file
            if told == "finished":
                assert target in self.sessions
            if told == "closed":
                assert target not in self.sessions

    def what_is_not_activated_is_older(self) -> None:
        """R3: until it is activated, whoever goes on with the newest session goes on with the source."""
        for made in self.targets():
            source = os.path.join(self.root, facts_of(made.record).source_file)
            if (
                made.name in self.sessions
                and made.name not in self.continued
                and made.record.phase == "CheckpointReady"
            ):
                assert os.stat(os.path.join(self.root, made.name)).st_mtime_ns < os.stat(source).st_mtime_ns

    # --- how ------------------------------------------------------------------------------------------------------

    def act(self, verb: str, operation: str, disk: Files, session: str = "") -> None:
        """Let a new process do something, and take note of what it tells."""
        rebase = self.process(session or min(self.sessions), disk)
        try:
            outcome: Outcome = getattr(rebase, verb)(operation)
        except Crash:
            return
        except (ContextError, OSError) as error:
            if foreseen(error) is None:
                raise
            return
        finally:
            self.now = rebase.now
        stands = standing(COURSE, outcome.record)
        if stands in ("finished", "closed"):
            assert outcome.error is None or stands == "closed" or isinstance(disk, FailingFiles)
            assert self.told.setdefault(operation, stands) == stands

    def process(self, session: str, disk: Files) -> Rebase:
        """Give a new process that has a session before it."""
        rebase = Rebase(self.root, disk)
        rebase.source, rebase.now = os.path.join(self.root, session), self.now
        return rebase

    def records(self) -> list[Record]:
        """Give the records of all operations; each one counts (R5)."""
        found = listed(Rebase(self.root).journal)
        records = [one for one in found if isinstance(one, Record)]
        assert records == found
        return records

    def targets(self) -> list["Made"]:
        """Give the targets that were composed, each of one operation."""
        made = [Made(facts_of(one).target_file, one) for one in self.records() if facts_of(one).target_file]
        assert len({one.name for one in made}) == len(made)
        return made

    def session(self, number: int) -> str:
        """Choose a session."""
        return sorted(self.sessions)[number % len(self.sessions)]

    def operation(self, number: int) -> str:
        """Choose an operation."""
        records = self.records()
        return records[number % len(records)].operation_id


class Made(NamedTuple):
    """A target by its name, and the record of its operation."""

    name: str
    record: Record


def _crashing(crash: tuple[int, When] | None) -> Files:
    return CrashingFiles(*crash) if crash else RealFiles()


class LongStory(Story):
    """More and longer ones."""


Story.TestCase.settings = settings(max_examples=12, stateful_step_count=10)
LongStory.TestCase.settings = settings(
    max_examples=150, stateful_step_count=25, phases=(Phase.generate,)
)  # to shrink a long story takes minutes
TestStory = Story.TestCase
TestLongStory: Any = pytest.mark.slow(LongStory.TestCase)
