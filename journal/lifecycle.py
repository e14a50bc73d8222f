"""What can happen to an operation, as pure functions from one record to the next.

Phases only go up, facts are only added, and each record names the digest of the one that it replaces. A failure adds an
attempt and changes nothing else.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Fact = str | int | bool

LONGEST_FACT = 4096
"""Characters of a fact that is a text."""

KEPT_ATTEMPTS = 20
"""Attempts beyond these are only counted, the oldest first; a record must not grow for ever."""

Standing = Literal["open", "finished", "closing", "closed"]
"""`closing`: being undone, and never to be gone on with; `closed`: undone."""


class Course(NamedTuple):
    """The stages of a kind of operation, in order. From the stage `committed` on it can no longer be closed."""

    kind: str
    stages: tuple[str, ...]
    committed: str


class Attempt(NamedTuple):
    """A failure: when, in milliseconds since 1970, after which phase, and its code."""

    at: int
    phase: str
    code: str


class Record(NamedTuple):
    """What is known of an operation, and durable: ids, counts, names, codes; never the text of a message.

    Instants are milliseconds since 1970. `previous` and `digest` are the SHA-256 of the file before and of this one,
    empty where there was none and while this one is not written. `closing` is the code by which it ends undone.
    `adopted_from` names the key that signed it before the owner adopted it.
    """

    operation_id: str
    kind: str
    phase: str
    sequence: int
    previous: str
    created_at: int
    updated_at: int
    versions: Mapping[str, str]
    facts: Mapping[str, Fact]
    attempts: tuple[Attempt, ...] = ()
    attempt_count: int = 0
    closing: str = ""
    closed: bool = False
    adopted_from: str = ""
    digest: str = ""


def begun(
    course: Course, operation_id: str, at: int, *, versions: Mapping[str, str], facts: Mapping[str, Fact]
) -> Record:
    """Begin an operation, at its first stage."""
    return Record(operation_id, course.kind, course.stages[0], 1, "", at, at, dict(versions), dict(facts))


def standing(course: Course, record: Record) -> Standing:
    """Tell whether an operation can be gone on with, is done, is being undone or was."""
    if record.closing:
        return "closed" if record.closed else "closing"
    return "finished" if record.phase == course.stages[-1] else "open"


def committed(course: Course, record: Record) -> bool:
    """Tell whether the operation has taken effect and must not be undone."""
    return course.stages.index(record.phase) >= course.stages.index(course.committed)


def stages_left(course: Course, record: Record) -> tuple[str, ...]:
    """Give the stages that an operation has not reached."""
    return course.stages[course.stages.index(record.phase) + 1 :]


def advanced(course: Course, record: Record, facts: Mapping[str, Fact], at: int) -> Record:
    """Reach the next stage, with what its step found out; a fact once recorded cannot change."""
    changed = [name for name, value in facts.items() if record.facts.get(name, value) != value]
    if changed:
        raise ValueError(f"a step changed what was recorded: {', '.join(changed)}")
    return _next(record, at)._replace(phase=stages_left(course, record)[0], facts={**record.facts, **facts})


def failed(record: Record, code: str, at: int) -> Record:
    """Add a failed attempt; the phase stays."""
    attempts = (*record.attempts, Attempt(at, record.phase, code))[-KEPT_ATTEMPTS:]
    return _next(record, at)._replace(attempts=attempts, attempt_count=record.attempt_count + 1)


def begun_to_close(record: Record, code: str, at: int) -> Record:
    """Say that the operation will be undone, and why; from now on it can only be closed."""
    return _next(record, at)._replace(closing=code)


def closed(record: Record, at: int) -> Record:
    """Say that the operation was undone."""
    return _next(record, at)._replace(closed=True)


def adopted(record: Record, signer: str, at: int) -> Record:
    """Take over an operation that another key signed, or none: `signer` is the id of that key or `unsigned`."""
    return _next(record, at)._replace(adopted_from=signer)


def _next(record: Record, at: int) -> Record:
    return record._replace(
        sequence=record.sequence + 1, previous=record.digest, digest="", updated_at=max(at, record.updated_at)
    )
