"""A process may end anywhere: recovery brings the operation to one of two ends, and a second one changes nothing."""

import os
from collections.abc import Callable

import pytest
from deliveries import OPERATION, STAGES, Delivery
from faults import MOMENTS, CountingFiles, Crash, CrashingFiles, When, scratch

from foundation.durable import RealFiles
from foundation.errors import ContextError
from journal.lifecycle import Record
from journal.operations import HopelessError, Outcome
from journal.reading import SetAside

EFFECTS = 60
"""More than a delivery has."""


def crashed(delivery: Delivery, number: int, when: When, act: Callable[[Delivery], object]) -> bool:
    """Let the process die at an effect; tell whether there was one of that number."""
    disk = CrashingFiles(number, when)
    delivery.disk = disk
    try:
        act(delivery)
    except Crash:
        return True
    except ContextError:
        pass
    finally:
        delivery.disk = RealFiles()
    return False


def phase(delivery: Delivery) -> int:
    """Give the number of the recorded phase, -1 where nothing is recorded."""
    record = delivery.record()
    assert not isinstance(record, SetAside), record
    return STAGES.index(record.phase) if record else -1


def recovered(delivery: Delivery) -> str:
    """Recover, as a person would: what the list shows, or run again where it shows nothing."""
    if delivery.record() is None:
        with pytest.raises(ContextError, match="no operation"):
            delivery.recover()
    else:
        outcome = delivery.recover()
        assert outcome.error is None or outcome.record.closed
    return delivery.check_settled()


def settles(delivery: Delivery) -> str:
    """Recover, and recover again: the second one changes nothing, neither bytes nor inodes nor times."""
    end = recovered(delivery)
    before = delivery.without_lock()
    assert recovered(delivery) == end
    assert delivery.without_lock() == before
    return end


def run(delivery: Delivery) -> None:
    """Deliver."""
    delivery.run()


def recover(delivery: Delivery) -> None:
    """Recover."""
    delivery.recover()


def run_and_abandon(delivery: Delivery) -> None:
    """Come as far as the letter is installed, and take it back."""
    _stop_before_activation(delivery)
    delivery.run()
    delivery.abandon()


def run_hopelessly(delivery: Delivery) -> None:
    """Find after staging that it can never be finished."""

    def give_up(_: Record) -> dict[str, int]:
        raise HopelessError("source-changed")

    delivery.install = give_up  # type: ignore[method-assign, assignment]
    outcome = delivery.run()
    assert outcome.record.closed


def _stop_before_activation(delivery: Delivery) -> None:
    def refuse(_: Record) -> dict[str, int]:
        raise ContextError("io-error")

    delivery.activate = refuse  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize("act", [run, run_and_abandon, run_hopelessly])
@pytest.mark.parametrize("when", MOMENTS)
def test_after_a_crash_at_any_effect_recovery_settles_it(act: Callable[[Delivery], None], when: When) -> None:
    """Before, within and after every effect of every course: always one of the ends, and the recorded phase never falls."""
    for number in range(1, 2 * EFFECTS):
        with scratch() as root:
            delivery = Delivery(root)
            hit = crashed(delivery, number, when, act)
            delivery.check_always()
            before = phase(delivery)
            assert before >= max((STAGES.index(entered) for entered in delivery.entered), default=-1)
            end = settles(Delivery(root))
            assert phase(delivery) >= before
            if not hit:
                assert number > 30, "fewer effects than there must be"
                assert end == ("Verified" if act is run else "closed")
                return
    raise AssertionError("more effects than were tried")


def crash_twice(act: Callable[[Delivery], None], first: When, second: When) -> int:
    """Crash at every effect, and then inside recovery at every effect; settle what is left. Give how many doubles."""
    doubles, number, hit = 0, 0, True
    while hit:
        number, inner, again = number + 1, 0, True
        while again:
            inner += 1
            with scratch() as root:
                hit = crashed(Delivery(root), number, first, act)
                again = crashed(Delivery(root), inner, second, recover)
                delivery = Delivery(root)
                delivery.check_always()
                settles(delivery)
                doubles += hit and again
    return doubles


def test_after_a_second_crash_inside_recovery_the_next_one_settles_it() -> None:
    """Recovery itself may die before every one of its effects, after every first crash."""
    assert crash_twice(run, "before", "before") > 500


@pytest.mark.slow
@pytest.mark.parametrize("when", ["torn", "after"])
def test_second_crashes_of_every_kind_settle_too(when: When) -> None:
    """The same within and after every effect, and for operations that are being taken back."""
    assert crash_twice(run, when, when) > 500
    assert crash_twice(run_and_abandon, when, when) > 200


def test_a_crash_before_the_intent_is_recorded_leaves_nothing_to_find(delivery: Delivery) -> None:
    """What was half written then is cleared away by whoever holds the journal next, and the journal with it."""
    write = CountingFiles()
    with scratch() as elsewhere:
        Delivery(elsewhere, write).run()
    crashed(delivery, write.done.index(("create", f"{OPERATION}.json.new")) + 1, "torn", run)
    assert [name for name in delivery.tree() if name.endswith(".new")]
    with pytest.raises(ContextError, match="no operation"):
        delivery.recover()
    assert os.listdir(delivery.root) == ["source.jsonl"]


def test_recovering_what_is_finished_writes_no_record(delivery: Delivery) -> None:
    """The outcome is the record as it is; nobody need remember whether it was done."""
    first: Outcome = delivery.run()
    assert (first.record.phase, first.error) == ("Verified", None)
    disk = CrashingFiles()
    delivery.disk = disk
    assert delivery.recover() == first
    assert set(disk.names) <= {"make_folder", "overwrite", "fsync_folder"}
    assert first.record.operation_id == OPERATION
