"""Any story of beginning, crashing, losing power, failing, recovering and abandoning, against a model of five lines."""

from typing import Any

from deliveries import STAGES, Delivery
from faults import ERRORS, MOMENTS, Crash, CrashingFiles, FailingFiles, ForgetfulFiles, When, scratch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from foundation.durable import Files
from foundation.errors import ContextError, foreseen
from journal.lifecycle import Record
from journal.operations import Outcome
from journal.reading import SetAside, listed

crashes = st.none() | st.tuples(st.integers(1, 50), st.sampled_from(MOMENTS))


class Story(RuleBasedStateMachine):
    """One delivery after the other in one folder; a new one begins where the last one was closed or never was."""

    def __init__(self) -> None:
        super().__init__()
        self.scratch = scratch()
        self.root = self.scratch.__enter__()
        self.machine = ForgetfulFiles(self.root)
        self.delivery = Delivery(self.root, self.machine)
        self.begun = 0
        self.reached = -1  # the number of the highest phase that a step began from, or that was told
        self.told = ""  # `Verified` or `closed` once that was told

    @initialize()
    def settle(self) -> None:
        """Take what is there at the beginning as durable."""
        self.machine.settle()

    def teardown(self) -> None:
        """Recover once more, as every story must be able to end well."""
        try:
            if self.record() is not None:
                self.recover(None)
                assert self.told
        finally:
            self.scratch.__exit__(None, None, None)

    def record(self) -> Record | None:
        """Give the record of the present operation."""
        found = listed(self.delivery.journal)
        assert not any(isinstance(one, SetAside) for one in found), found
        return next((one for one in found if one.operation_id == self.name and isinstance(one, Record)), None)

    @property
    def name(self) -> str:
        """Give the id of the present operation."""
        return f"delivery_{self.begun}"

    def act(self, verb: str, disk: Files) -> None:
        """Let a new process do something, and take note of what it tells."""
        self.delivery = Delivery(self.root, disk)
        try:
            outcome: Outcome = getattr(self.delivery, verb)(self.name)
        except Crash:
            outcome = Outcome(Record("", "", "", 0, "", 0, 0, {}, {}))
        except (ContextError, OSError) as error:
            known = foreseen(error)
            assert known is not None
            assert self.told != "closed" or known.code != "operation-unknown"
            return
        finally:
            self.reached = max([self.reached, *(STAGES.index(phase) for phase in self.delivery.entered)])
            self.delivery.disk = self.machine
        if outcome.record.closed:
            self.told = "closed"
        elif outcome.record.phase and outcome.error is None:
            assert outcome.record.phase == "Verified"
            self.told = "Verified"

    def crashing(self, crash: tuple[int, When] | None) -> Files:
        """Give the machine, or one on which the process will crash."""
        return CrashingFiles(*crash, self.machine) if crash else self.machine

    @precondition(lambda self: self.told != "Verified" and (self.told == "closed" or self.record() is None))
    @rule(crash=crashes)
    def begin(self, crash: tuple[int, When] | None) -> None:
        """Begin a delivery."""
        self.begun += 1
        self.reached, self.told = -1, ""
        self.act("run", self.crashing(crash))

    @precondition(lambda self: self.begun)
    @rule(crash=crashes)
    def recover(self, crash: tuple[int, When] | None) -> None:
        """Recover it."""
        self.act("recover", self.crashing(crash))

    @precondition(lambda self: self.begun)
    @rule(crash=crashes)
    def abandon(self, crash: tuple[int, When] | None) -> None:
        """Abandon it."""
        self.act("abandon", self.crashing(crash))

    @precondition(lambda self: self.begun)
    @rule(number=st.integers(1, 40), error=st.sampled_from(ERRORS), lasting=st.booleans(), late=st.booleans())
    def recover_on_a_failing_disk(self, number: int, error: int, lasting: bool, late: bool) -> None:
        """Recover it while the system refuses an effect."""
        disk = FailingFiles(number, error, lasting=lasting, late=late)
        disk.inner = self.machine
        self.act("recover", disk)

    @rule(data=st.data())
    def lose_power(self, data: Any) -> None:
        """Lose what is not on the disk, in any choice."""
        kept = data.draw(st.sets(st.integers(0, max(0, len(self.machine.pending) - 1))))
        self.machine.cut(
            frozenset(kept) if self.machine.pending else frozenset(), unsynced_too=data.draw(st.booleans())
        )

    @invariant()
    def the_letter_is_whole_or_not_there(self) -> None:
        """And the source is untouched."""
        self.delivery.check_always()

    @invariant()
    def the_phase_never_falls(self) -> None:
        """Not below one that a step began from."""
        record = self.record()
        assert (STAGES.index(record.phase) if record else -1) >= self.reached

    @invariant()
    def what_was_told_stays(self) -> None:
        """Finished stays finished, closed stays closed."""
        record = self.record()
        if self.told:
            assert record is not None
            assert record.closed == (self.told == "closed")
            assert self.told == "closed" or record.phase == "Verified"


Story.TestCase.settings = settings(max_examples=60, stateful_step_count=15)
TestStory = Story.TestCase
