"""A rebase may end anywhere: recovery brings it to `Verified` or to nothing, and a second recovery changes nothing."""

from typing import Any

import pytest
from crashing import crash_everywhere, crash_twice, cut_at_every_effect, cut_everywhere, settles_after_a_cut
from faults import MOMENTS, When
from rebases import Rebase

from foundation.errors import ContextError


def run(story: Any) -> None:
    """Rebase."""
    story.run()


def run_and_abandon(story: Any) -> None:
    """Come as far as the target is installed, and take it back."""

    def refuse(*_: str) -> None:
        raise ContextError("io-error")

    story.activate = refuse
    story.run()
    story.abandon()


ACTS = {"run": run, "run-and-abandon": run_and_abandon}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("when", MOMENTS)
def test_a_crash_at_any_effect_is_recovered_from(act: str, when: When) -> None:
    """R2, R3, R4, R6: before, within and after every effect; the source keeps its bytes, inode and time (R1)."""
    assert crash_everywhere(Rebase, ACTS[act], when) == ("Verified" if act == "run" else "closed")


@pytest.mark.slow
def test_a_second_crash_inside_recovery_is_recovered_from() -> None:
    """R3, R6: recovery itself may die before each of its effects, after every first crash."""
    assert crash_twice(Rebase, run, "before", "before") > 500


@pytest.mark.slow
@pytest.mark.parametrize("when", ["torn", "after"])
def test_second_crashes_of_every_kind_are_recovered_from(when: When) -> None:
    """The same within and after every effect, and for operations that are being taken back."""
    assert crash_twice(Rebase, run, when, when) > 500
    assert crash_twice(Rebase, run_and_abandon, when, when) > 200


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("when", ["before", "torn"])
def test_a_power_cut_at_any_effect_is_recovered_from(act: str, when: When) -> None:
    """R3, R5: whatever names and bytes are lost, in any order: what a step began from was durable, and all settles."""
    assert cut_at_every_effect(Rebase, ACTS[act], when) > 100


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "torn"])
def test_what_recovery_reports_survives_a_power_cut(when: When) -> None:
    """A process dies, another one recovers, then the power goes: what was reported as verified is so for good."""
    told = ""

    def recover_and_tell(story: Any) -> None:
        nonlocal told
        told = "nothing"
        told = story.recover().record.phase

    def check(story: Any) -> None:
        if told == "Verified":
            assert story.check_settled() == "Verified"
        else:
            assert told == "nothing"
            settles_after_a_cut(story)

    number, hit = 0, True
    while hit:
        number += 1
        _, hit = cut_everywhere(Rebase, check, number, when, run, recover_and_tell)
