"""How to talk to SQLite: run a statement to its end, read rows, read one value; and within which transaction.

A cursor that is not read to its end leaves the rest of its statements undone, so nobody else calls `execute`.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

BUSY_WAIT_MS = 10_000
"""How long a connection waits for another writer, outside of `waiting`."""

Bindings = Sequence[Any] | Mapping[str, Any]


def run(db: apsw.Connection, sql: str, bindings: Bindings = ()) -> None:
    """Run statements to their end."""
    for _ in db.execute(sql, bindings):
        pass


def rows(db: apsw.Connection, sql: str, bindings: Bindings = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a query, whose columns the caller knows."""
    yield from db.execute(sql, bindings)


def value(db: apsw.Connection, sql: str, bindings: Bindings = ()) -> Any:
    """Give the first column of the first row; None where there is no row."""
    return db.execute(sql, bindings).get


@contextlib.contextmanager
def waiting(db: apsw.Connection, milliseconds: int) -> Iterator[None]:
    """Let the block wait for other writers only so long."""
    db.set_busy_timeout(milliseconds)
    try:
        yield
    finally:
        db.set_busy_timeout(BUSY_WAIT_MS)


@contextlib.contextmanager
def transaction(db: apsw.Connection, *, patient: bool = False) -> Iterator[None]:
    """Run the block in one transaction that holds the write lock from its start.

    Waits for another writer as long as the connection's busy timeout; who is `patient` also for one who takes longer,
    as long as that one gets on. Raises apsw.BusyError.
    """
    _begin(db, patient=patient)
    try:
        yield
        run(db, "commit")
    except BaseException:
        if db.in_transaction:
            run(db, "rollback")
        raise


def _begin(db: apsw.Connection, *, patient: bool) -> None:
    while True:
        version = db.pragma("data_version")
        try:
            run(db, "begin immediate")
        except apsw.BusyError:
            if not patient or db.pragma("data_version") == version:
                raise
        else:
            return


@contextlib.contextmanager
def snapshot(db: apsw.Connection) -> Iterator[None]:
    """Let all reads of the block see one state, whatever other processes write meanwhile."""
    run(db, "begin")
    try:
        yield
    finally:
        if db.in_transaction:
            run(db, "rollback")
