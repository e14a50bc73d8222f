"""A power cut loses what was not brought to the disk, in any choice; what a step relied on is never among it."""

from collections.abc import Callable
from typing import Any

import pytest
from crashing import cut_at_every_effect, cut_everywhere, died, recover, settles_after_a_cut
from deliveries import Delivery
from faults import CrashingFiles, When

from foundation.errors import ContextError
from journal.lifecycle import Record

pytestmark = pytest.mark.slow  # a process, or a disk, for each of many cases


def run(delivery: Any) -> None:
    """Deliver."""
    delivery.run()


def run_and_abandon(delivery: Any) -> None:
    """Come as far as the letter is installed, and take it back."""

    def refuse(_: Record) -> dict[str, int]:
        raise ContextError("io-error")

    delivery.activate = refuse
    delivery.run()
    delivery.abandon()


@pytest.mark.parametrize("act", [run, run_and_abandon])
@pytest.mark.parametrize("when", ["before", "torn"])
def test_what_a_power_cut_leaves_can_be_recovered(act: Callable[[Any], None], when: When) -> None:
    """At every effect, whatever names and bytes get lost: what a step began from was durable, and all of it settles."""
    assert cut_at_every_effect(Delivery, act, when) > 100


@pytest.mark.parametrize("when", ["before", "torn"])
def test_what_recovery_reports_survives_a_power_cut(when: When) -> None:
    """A process dies, another one recovers, then the power goes: what was reported as done is done for good.

    The second process finds names that the first one did not bring to the disk, and must not rely on them.
    """
    told = ""

    def recover_and_tell(delivery: Any) -> None:
        nonlocal told
        told = "nothing"
        told = delivery.recover().record.phase

    def check(delivery: Any) -> None:
        if told == "Verified":
            assert delivery.check_settled() == "Verified"
        else:
            assert told == "nothing"
            settles_after_a_cut(delivery)

    number, crashed = 0, True
    while crashed:
        number += 1
        _, crashed = cut_everywhere(Delivery, check, number, when, run, recover_and_tell)


@pytest.mark.parametrize("when", ["before", "torn"])
def test_an_abandoned_operation_does_not_come_back(when: When) -> None:
    """The same for abandoning: what was reported as taken back stays so."""
    closed = False

    def abandon_and_tell(delivery: Any) -> None:
        nonlocal closed
        closed = False
        closed = delivery.abandon().record.closed

    def check(delivery: Any) -> None:
        assert settles_after_a_cut(delivery) == "closed" or not closed

    number, crashed = 0, True
    while crashed:
        number += 1
        _, crashed = cut_everywhere(Delivery, check, number, when, run, abandon_and_tell)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "torn"])
def test_a_power_cut_inside_recovery_can_be_recovered_from(when: When) -> None:
    """Every effect of the first process, every effect of the second one, every loss after it."""
    number, cuts, crashed = 0, 0, True
    while crashed:
        number, inner, again = number + 1, 0, True
        while again:
            inner += 1

            def recover_and_crash(delivery: Any, inner: int = inner) -> None:
                nonlocal again
                delivery.disk = CrashingFiles(inner, when, delivery.disk)
                again = died(delivery, recover)

            ways, crashed = cut_everywhere(Delivery, settles_after_a_cut, number, when, run, recover_and_crash)
            cuts += ways
    assert cuts > 2000
