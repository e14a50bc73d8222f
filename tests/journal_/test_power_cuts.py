"""A power cut loses what was not brought to the disk, in any choice; what a step relied on is never among it."""

from collections.abc import Callable

import pytest
from deliveries import STAGES, Delivery
from faults import Crash, CrashingFiles, ForgetfulFiles, When, scratch

from foundation.errors import ContextError
from journal.lifecycle import Record
from journal.reading import SetAside

Act = Callable[[Delivery], object]


def cut_everywhere(check: Act, number: int, when: When, *acts: Act) -> tuple[int, bool]:
    """Let a first process crash at an effect and others do the other acts, then the power go, in every possible way.

    `check` looks at what is left each time. Give how many ways there were, and whether the first process crashed.
    """
    choice, ways, crashed = 0, 1, False
    while choice < ways:
        with scratch() as root:
            disk = ForgetfulFiles(root)
            first = Delivery(root, CrashingFiles(number, when, disk))
            crashed = died(first, acts[0])
            entered = first.entered
            for act in acts[1:]:
                later = Delivery(root, disk)
                died(later, act)
                entered = entered + later.entered
            outcomes = [(kept, bytes_too) for kept in disk.outcomes() for bytes_too in {False, disk.unsynced}]
            kept, bytes_too = outcomes[choice]
            disk.cut(kept, unsynced_too=bytes_too)
            left = Delivery(root)
            left.entered = entered
            check(left)
            choice, ways = choice + 1, len(outcomes)
    return ways, crashed


def died(delivery: Delivery, act: Act) -> bool:
    """Let a process do something; tell whether it crashed over it."""
    try:
        act(delivery)
    except Crash:
        return True
    except ContextError:
        pass
    return False


def phase(delivery: Delivery) -> int:
    """Give the number of the recorded phase, -1 where nothing is recorded."""
    record = delivery.record()
    assert not isinstance(record, SetAside), record
    return STAGES.index(record.phase) if record else -1


def settles(delivery: Delivery) -> str:
    """Hold what must hold after a power cut, recover, recover again; give how it ended."""
    delivery.check_always()
    assert phase(delivery) >= max((STAGES.index(entered) for entered in delivery.entered), default=-1)
    ends = []
    for _ in range(2):
        if delivery.record() is None:
            with pytest.raises(ContextError, match="no operation"):
                delivery.recover()
        else:
            delivery.recover()
        ends.append((delivery.check_settled(), delivery.without_lock()))
    assert ends[0] == ends[1]
    return ends[0][0]


def run(delivery: Delivery) -> None:
    """Deliver."""
    delivery.run()


def recover(delivery: Delivery) -> None:
    """Recover."""
    delivery.recover()


def run_and_abandon(delivery: Delivery) -> None:
    """Come as far as the letter is installed, and take it back."""

    def refuse(_: Record) -> dict[str, int]:
        raise ContextError("io-error")

    delivery.activate = refuse  # type: ignore[method-assign, assignment]
    delivery.run()
    delivery.abandon()


@pytest.mark.parametrize("act", [run, run_and_abandon])
@pytest.mark.parametrize("when", ["before", "torn"])
def test_what_a_power_cut_leaves_can_be_recovered(act: Act, when: When) -> None:
    """At every effect, whatever names and bytes get lost: what a step began from was durable, and all of it settles."""
    number, cuts, crashed = 0, 0, True
    while crashed:
        number += 1
        ways, crashed = cut_everywhere(settles, number, when, act)
        cuts += ways
    assert cuts > 100


@pytest.mark.parametrize("when", ["before", "torn"])
def test_what_recovery_reports_survives_a_power_cut(when: When) -> None:
    """A process dies, another one recovers, then the power goes: what was reported as done is done for good.

    The second process finds names that the first one did not bring to the disk, and must not rely on them.
    """
    told = ""

    def recover_and_tell(delivery: Delivery) -> None:
        nonlocal told
        told = "nothing"
        told = delivery.recover().record.phase

    def check(delivery: Delivery) -> None:
        if told == "Verified":
            assert delivery.check_settled() == "Verified"
        else:
            assert told == "nothing"
            settles(delivery)

    number, crashed = 0, True
    while crashed:
        number += 1
        _, crashed = cut_everywhere(check, number, when, run, recover_and_tell)


@pytest.mark.parametrize("when", ["before", "torn"])
def test_an_abandoned_operation_does_not_come_back(when: When) -> None:
    """The same for abandoning: what was reported as taken back stays so."""
    closed = False

    def abandon_and_tell(delivery: Delivery) -> None:
        nonlocal closed
        closed = False
        closed = delivery.abandon().record.closed

    def check(delivery: Delivery) -> None:
        assert settles(delivery) == "closed" or not closed

    number, crashed = 0, True
    while crashed:
        number += 1
        _, crashed = cut_everywhere(check, number, when, run, abandon_and_tell)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "torn"])
def test_a_power_cut_inside_recovery_can_be_recovered_from(when: When) -> None:
    """Every effect of the first process, every effect of the second one, every loss after it."""
    number, cuts, crashed = 0, 0, True
    while crashed:
        number, inner, again = number + 1, 0, True
        while again:
            inner += 1

            def recover_and_crash(delivery: Delivery, inner: int = inner) -> None:
                nonlocal again
                delivery.disk = CrashingFiles(inner, when, delivery.disk)
                again = died(delivery, recover)

            ways, crashed = cut_everywhere(settles, number, when, run, recover_and_crash)
            cuts += ways
    assert cuts > 2000
