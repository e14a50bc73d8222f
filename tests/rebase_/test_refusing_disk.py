"""A disk that is full, broken, closed or read-only stops a rebase with a code at any effect, and harms nothing."""

import errno
from typing import Any

import pytest
from crashing import crashed
from failing import CODES, fail_everywhere
from faults import ERRORS, CountingFiles, scratch
from rebases import Rebase

from foundation.durable import Files
from journal.operations import Outcome

pytestmark = pytest.mark.slow  # a process, or a disk, for each of many cases

ALL = [pytest.param(error, id=CODES[error]) for error in ERRORS]
ONE = [pytest.param(error, id=CODES[error], marks=() if error == errno.EIO else pytest.mark.slow) for error in ERRORS]
LASTING_OR_NOT = pytest.mark.parametrize("lasting", [False, True], ids=["once", "from-then-on"])
ONCE = pytest.mark.parametrize(
    "lasting", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["once", "from-then-on"]
)


def run(story: Any) -> Outcome:
    """Rebase."""
    outcome: Outcome = story.run()
    return outcome


def recover(story: Any) -> Outcome:
    """Recover."""
    outcome: Outcome = story.recover()
    return outcome


def abandon(story: Any) -> Outcome:
    """Take it back."""
    outcome: Outcome = story.abandon()
    return outcome


def records_written() -> list[int]:
    """Give the numbers of the effects by which a whole run makes its records durable."""
    with scratch() as root:
        disk = CountingFiles()
        Rebase(root, disk).run()
    return [at + 1 for at, (name, file) in enumerate(disk.done) if name == "replace" and file.endswith(".json.new")]


class Left:
    """Makes rebases whose first process died over the effect with the number given."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, root: str, disk: Files | None) -> Rebase:
        """Give the rebase as it was left."""
        made = Rebase(root, disk)
        if made.record() is None:
            assert crashed(made, self.number, "before", run)
            made = Rebase(root, disk)
        return made


@pytest.mark.parametrize("late", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["before", "after"])
@LASTING_OR_NOT
@pytest.mark.parametrize("error", ALL)
def test_a_run_stops_at_any_effect_with_the_code(error: int, lasting: bool, late: bool) -> None:
    """R1–R5: once or from then on, half done or done: the code is told, and a good disk brings it home or to nothing."""
    refusals = fail_everywhere(Rebase, run, error, lasting=lasting, late=late)
    assert refusals.tried > 40
    assert lasting or refusals.noted > 20
    assert refusals.ends == {"nothing", "Verified"}


@pytest.mark.parametrize("late", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["before", "after"])
@ONCE
@pytest.mark.parametrize("error", ONE)
def test_a_recovery_stops_at_any_effect_with_the_code(error: int, lasting: bool, late: bool) -> None:
    """R3, R6: recovery from every phase may be refused each of its effects; the next one brings it to `Verified`."""
    for number in records_written()[1:]:
        refusals = fail_everywhere(Left(number), recover, error, lasting=lasting, late=late)
        assert refusals.tried > 5
        assert refusals.ends == {"Verified"}


@pytest.mark.parametrize("late", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["before", "after"])
@ONCE
@pytest.mark.parametrize("error", ONE)
def test_taking_back_stops_at_any_effect_with_the_code(error: int, lasting: bool, late: bool) -> None:
    """R3, R4: abandoning from every phase before activation; what it could not finish is finished by recovery.

    Where the refusal came before it was recorded that the operation is to be undone, recovery ends in `Verified`.
    """
    for number in records_written()[1:5]:
        refusals = fail_everywhere(Left(number), abandon, error, lasting=lasting, late=late)
        assert refusals.tried > 5
        assert refusals.ends == {"closed", "Verified"}
