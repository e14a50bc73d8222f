"""A process may end anywhere: recovery brings the operation to one of two ends, and a second one changes nothing."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from crashing import crash_everywhere, crash_twice, crashed
from deliveries import OPERATION, Delivery
from faults import MOMENTS, CountingFiles, CrashingFiles, When, scratch

from foundation.errors import ContextError
from journal.lifecycle import Record
from journal.operations import HopelessError, Outcome


def run(delivery: Any) -> None:
    """Deliver."""
    delivery.run()


def run_and_abandon(delivery: Any) -> None:
    """Come as far as the letter is installed, and take it back."""
    _stop_before_activation(delivery)
    delivery.run()
    delivery.abandon()


def run_hopelessly(delivery: Any) -> None:
    """Find after staging that it can never be finished."""

    def give_up(_: Record) -> dict[str, int]:
        raise HopelessError("source-changed")

    delivery.install = give_up
    outcome = delivery.run()
    assert outcome.record.closed


def _stop_before_activation(delivery: Any) -> None:
    def refuse(_: Record) -> dict[str, int]:
        raise ContextError("io-error")

    delivery.activate = refuse


@pytest.mark.parametrize("act", [run, run_and_abandon, run_hopelessly])
@pytest.mark.parametrize("when", MOMENTS)
def test_after_a_crash_at_any_effect_recovery_settles_it(act: Callable[[Any], None], when: When) -> None:
    """Before, within and after every effect of every course: always one of the ends, and the recorded phase never falls."""
    assert crash_everywhere(Delivery, act, when) == ("Verified" if act is run else "closed")


@pytest.mark.slow
def test_after_a_second_crash_inside_recovery_the_next_one_settles_it() -> None:
    """Recovery itself may die before every one of its effects, after every first crash."""
    assert crash_twice(Delivery, run, "before", "before") > 500


@pytest.mark.slow
@pytest.mark.parametrize("when", ["torn", "after"])
def test_second_crashes_of_every_kind_settle_too(when: When) -> None:
    """The same within and after every effect, and for operations that are being taken back."""
    assert crash_twice(Delivery, run, when, when) > 500
    assert crash_twice(Delivery, run_and_abandon, when, when) > 200


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
