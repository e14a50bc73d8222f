"""An effect that the system refuses stops an operation with a code, and never more than that."""

import errno
import os
from collections.abc import Callable

import pytest
from deliveries import OPERATION, STAGES, Delivery
from failing import CODES, fail_everywhere
from faults import ERRORS, CountingFiles, FailingFiles

from foundation.errors import ContextError
from journal.lifecycle import KEPT_ATTEMPTS, Attempt, Record
from journal.operations import HopelessError


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from-then-on"])
@pytest.mark.parametrize("error", ERRORS, ids=CODES.get)
def test_an_error_at_any_effect_is_told_and_recovered_from(error: int, lasting: bool, late: bool) -> None:
    """Whichever effect fails, once or for good: the code is told, the invariants hold, and a good disk brings it home."""
    refusals = fail_everywhere(Delivery, Delivery.run, error, lasting=lasting, late=late)  # type: ignore[arg-type]
    assert refusals.tried > 30
    assert lasting or refusals.noted > 20
    assert refusals.ends == {"nothing", "Verified"}


def test_a_refused_folder_leaves_nothing(delivery: Delivery) -> None:
    """Where nothing may be written the operation does not begin, and no folder or lock is left."""
    delivery.disk = FailingFiles(1, errno.EROFS, only="create", lasting=True)
    with pytest.raises(OSError, match="Read-only"):
        delivery.run()
    delivery.disk = FailingFiles(1, errno.EROFS, lasting=True)
    with pytest.raises(OSError, match="Read-only"):
        delivery.run()
    assert list(delivery.tree()) == ["source.jsonl"]


def refuse(code: str) -> Callable[[Record], dict[str, int]]:
    """Give a step that refuses."""

    def step(_: Record) -> dict[str, int]:
        raise ContextError(code)

    return step


def test_a_refusal_adds_an_attempt_and_never_lowers_the_phase(delivery: Delivery) -> None:
    """Each says when it was, after which phase, and its code; recovery does not clear them away."""
    delivery.activate = refuse("io-error")  # type: ignore[method-assign, assignment]
    stopped = delivery.run()
    assert stopped.error is not None
    assert (stopped.error.code, stopped.record.phase) == ("io-error", "Installed")
    delivery.activate = refuse("disk-full")  # type: ignore[method-assign, assignment]
    delivery.recover()
    record = Delivery(delivery.root).recover().record
    assert record.phase == "Verified"
    assert [attempt[1:] for attempt in record.attempts] == [("Installed", "io-error"), ("Installed", "disk-full")]
    assert record.attempt_count == 2
    assert record.attempts[0].at < record.attempts[1].at


def test_a_record_does_not_grow_with_its_failures(delivery: Delivery) -> None:
    """The newest attempts are kept, the others counted."""
    delivery.install = refuse("io-error")  # type: ignore[method-assign, assignment]
    delivery.run()
    size = 0
    for count in range(2, KEPT_ATTEMPTS + 5):
        record = delivery.recover().record
        assert record.attempt_count == count
        assert len(record.attempts) == min(count, KEPT_ATTEMPTS)
        if count == KEPT_ATTEMPTS:
            size = os.path.getsize(delivery.path(".journal", "operations", f"{OPERATION}.json"))
    assert os.path.getsize(delivery.path(".journal", "operations", f"{OPERATION}.json")) < size + 100


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), "interrupted"), (ZeroDivisionError(), "internal-error")]
)
def test_interruptions_and_defects_are_noted_and_go_up(delivery: Delivery, error: BaseException, code: str) -> None:
    """They are no answers of the operation, but its record tells that they came."""

    def step(_: Record) -> dict[str, int]:
        raise error

    delivery.stage = step  # type: ignore[method-assign, assignment]
    with pytest.raises(type(error)):
        delivery.run()
    record = delivery.record()
    assert isinstance(record, Record)
    assert [attempt.code for attempt in record.attempts] == [code]
    assert Delivery(delivery.root).recover().record.phase == "Verified"


def test_a_step_that_changes_a_recorded_fact_is_a_defect(delivery: Delivery) -> None:
    """Facts are added and never changed: what a phase relied on must stay what it was."""
    delivery.install = lambda _: {"size": 1}  # type: ignore[method-assign, assignment]
    with pytest.raises(ValueError, match="size"):
        delivery.run()
    record = delivery.record()
    assert isinstance(record, Record)
    assert (record.phase, record.facts["size"]) == ("Staged", len(delivery.letter))


def test_what_can_never_be_finished_is_undone_and_closed(delivery: Delivery) -> None:
    """The staged bytes are gone, the record says by which code, and recovering tells it again."""
    with delivery.held():
        pass
    delivery.activate = refuse("io-error")  # type: ignore[method-assign, assignment]
    delivery.run()
    os.unlink(delivery.target)

    def give_up(_: Record) -> dict[str, int]:
        raise HopelessError("source-changed")

    delivery.activate = give_up  # type: ignore[method-assign, assignment]
    outcome = delivery.recover()
    assert outcome.error is not None
    assert (outcome.error.code, outcome.record.closed, outcome.record.closing) == (
        "source-changed",
        True,
        "source-changed",
    )
    again = delivery.recover()
    assert again.error is not None
    assert again.error.code == "source-changed"
    assert again.record == outcome.record
    assert delivery.check_settled() == "closed"


def test_an_operation_that_took_effect_is_never_undone(delivery: Delivery) -> None:
    """From the stage that commits on, also a hopeless step only adds an attempt, and abandoning is refused."""

    def give_up(_: Record) -> dict[str, int]:
        raise HopelessError("source-unavailable")

    delivery.verify = give_up  # type: ignore[method-assign, assignment]
    outcome = delivery.run()
    assert (outcome.record.phase, outcome.record.closing) == ("Activated", "")
    assert outcome.record.attempts == (Attempt(outcome.record.updated_at, "Activated", "source-unavailable"),)
    before = delivery.without_lock()
    with pytest.raises(ContextError) as refused:
        delivery.abandon()
    assert refused.value.code == "operation-committed"
    assert delivery.without_lock() == before


def test_undoing_that_fails_is_gone_on_with(delivery: Delivery) -> None:
    """An operation that is being undone can only be undone further, by abandoning or recovering."""
    delivery.install = refuse("io-error")  # type: ignore[method-assign, assignment]
    delivery.run()
    delivery.undo = lambda _: refuse("permission-denied")(_) and None  # type: ignore[method-assign, assignment]
    outcome = delivery.abandon()
    assert outcome.error is not None
    assert (outcome.error.code, outcome.record.closing, outcome.record.closed) == (
        "permission-denied",
        "operation-abandoned",
        False,
    )
    fresh = Delivery(delivery.root)
    ended = fresh.recover()
    assert ended.error is not None
    assert (ended.error.code, ended.record.closed) == ("operation-abandoned", True)
    assert fresh.check_settled() == "closed"


def test_a_phase_costs_two_syncs(delivery: Delivery) -> None:
    """The file and its folder: where one takes a millisecond, a phase stays far below the ten that it may take."""
    disk = CountingFiles()
    delivery.disk = disk
    for name in ("check", "stage", "install", "activate", "verify"):
        setattr(delivery, name, lambda _: {})
    delivery.run()
    writes = [at for at, done in enumerate(disk.done) if done == ("create", f"{OPERATION}.json.new")]
    assert len(writes) == len(STAGES)
    for begin, end in zip(writes[1:], [*writes[2:], len(disk.done) + 2], strict=True):
        names = disk.names[begin - 2 : end - 2]
        assert names == ["make_folder", "unlink", "create", "replace", "fsync_folder"]
