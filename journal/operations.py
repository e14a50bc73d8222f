"""The engine: one step after the other, each durable in the journal before the next one has an effect.

A step looks at the world first: a crash may have come after its effect and before its record. So running an operation
and recovering it are the same: the steps after the recorded phase.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from foundation.errors import ContextError, foreseen
from journal import lifecycle
from journal.lifecycle import Fact, Record
from journal.reading import find, read
from journal.writing import HeldJournal, settle, write_first, write_next

Step = Callable[[Record], Mapping[str, Fact]]
"""Has one effect, unless it finds it done, and gives the facts to record with the stage that is reached by it."""


class Work(NamedTuple):
    """What an operation does: a step to each stage after the first, in order, and how all of that is undone.

    Undoing must be repeatable, and is asked for only before the stage that commits.
    """

    steps: Sequence[tuple[str, Step]]
    undo: Callable[[Record], None]


class Outcome(NamedTuple):
    """Where an operation stands now, and what stopped it, if anything did."""

    record: Record
    error: ContextError | None = None


class HopelessError(ContextError):
    """Raised by a step that finds that its operation can never be finished: it is undone and closed with this code."""


class GoneError(HopelessError):
    """Raised by a step that finds that what its operation made is gone: it is closed, even if it had taken effect."""


def run(
    journal: HeldJournal,
    operation_id: str,
    work: Work,
    *,
    versions: Mapping[str, str],
    facts: Mapping[str, Fact],
) -> Outcome:
    """Begin an operation and carry it through; its intent is durable before anything else happens.

    A foreseeable failure stops it and is in the outcome; the operation can be recovered then. Raises ContextError
    where it could not begin, and any defect and interruption, after noting it.
    """
    _check(journal, work)
    record = write_first(
        journal,
        lifecycle.begun(journal.journal.course, operation_id, journal.clock(), versions=versions, facts=facts),
    )
    return _carry_on(journal, record, work)


def recover(journal: HeldJournal, operation_id: str, work: Work) -> Outcome:
    """Bring an operation to its end from wherever it stands: finished, or undone where that had begun.

    One that is finished or was closed is left as it is; the outcome of the latter has the code by which it was closed.
    Raises ContextError: `operation-unknown`, the code of a record that does not count.
    """
    _check(journal, work)
    record = _found(journal, operation_id)
    if record.closing:
        outcome = _undo(journal, record, work)
        return outcome if outcome.error else Outcome(outcome.record, closing_error(record.closing))
    return _carry_on(journal, record, work)


def abandon(journal: HeldJournal, operation_id: str, work: Work) -> Outcome:
    """Undo an operation that has not taken effect, and close it; one that was closed is left as it is.

    Raises ContextError: `operation-committed`, `operation-unknown`, the code of a record that does not count.
    """
    _check(journal, work)
    record = _found(journal, operation_id)
    if not record.closing and lifecycle.committed(journal.journal.course, record):
        raise ContextError("operation-committed")
    return _close(journal, record, work, "operation-abandoned")


def _close(journal: HeldJournal, record: Record, work: Work, code: str) -> Outcome:
    """Undo an operation and close it for good with a code; a crash from here on leaves it to be undone."""
    if not record.closing:
        record = write_next(journal, lifecycle.begun_to_close(record, code, journal.clock()))
    return _undo(journal, record, work)


def adopt(journal: HeldJournal, operation_id: str) -> Record:
    """Sign a record with our key that bears another installation's signature or none; the owner has looked at it.

    One that counts already is left as it is. Raises ContextError with the code of one that cannot be adopted.
    """
    found = read(journal.journal, operation_id)
    if isinstance(found, Record):
        return found
    if found.claim is None:
        raise ContextError(found.code)
    return write_next(journal, lifecycle.adopted(found.claim, found.signer, journal.clock()))


def closing_error(code: str) -> ContextError:
    """Give the error by which an operation was closed, also where this version does not know the code."""
    try:
        return ContextError(code)
    except KeyError:
        return ContextError("operation-closed")


def _found(journal: HeldJournal, operation_id: str) -> Record:
    """Read a record to go on from; it must be durable before what follows has any effect."""
    record = find(journal.journal, operation_id)
    settle(journal, record)
    return record


def _carry_on(journal: HeldJournal, record: Record, work: Work) -> Outcome:
    course = journal.journal.course
    steps = dict(work.steps)
    for stage in lifecycle.stages_left(course, record):
        try:
            facts = steps[stage](record)
            record = write_next(journal, lifecycle.advanced(course, record, facts, journal.clock()))
        except BaseException as error:  # noqa: BLE001 - noted, and raised again unless it was foreseeable
            if isinstance(error, GoneError) or (
                isinstance(error, HopelessError) and not lifecycle.committed(course, record)
            ):
                return _closed_by(journal, record, work, error)
            return _stopped(journal, record, error)
    return Outcome(record)


def _closed_by(journal: HeldJournal, record: Record, work: Work, error: HopelessError) -> Outcome:
    try:
        outcome = _close(journal, record, work, error.code)
    except (ContextError, OSError) as later:
        return _stopped(journal, record, later)
    return outcome if outcome.error else Outcome(outcome.record, error)


def _undo(journal: HeldJournal, record: Record, work: Work) -> Outcome:
    if record.closed:
        return Outcome(record)
    try:
        work.undo(record)
        record = write_next(journal, lifecycle.closed(record, journal.clock()))
    except BaseException as error:  # noqa: BLE001 - noted, and raised again unless it was foreseeable
        return _stopped(journal, record, error)
    return Outcome(record)


def _stopped(journal: HeldJournal, record: Record, error: BaseException) -> Outcome:
    """Note a failure where that is possible, and go on failing where it is no foreseeable one."""
    known = foreseen(error)
    if known is not None and known.code == "journal-changed":
        return Outcome(record, known)  # it is not ours to write to any more
    code = known.code if known else "interrupted" if isinstance(error, KeyboardInterrupt) else "internal-error"
    with suppress(ContextError, OSError):  # the first failure is the one to tell
        present = find(journal.journal, record.operation_id)  # the write that failed may have come through
        record = write_next(journal, lifecycle.failed(present, code, journal.clock()))
    if known is None:
        raise error
    return Outcome(record, known)


def _check(journal: HeldJournal, work: Work) -> None:
    stages = tuple(stage for stage, _ in work.steps)
    if stages != journal.journal.course.stages[1:]:
        raise ValueError(f"these steps do not lead through the stages of {journal.journal.course.kind}")
