"""The three ways to talk to SQLite: run a statement to its end, read rows, read one value.

A cursor that is not read to its end leaves the rest of its statements undone, so nobody else calls `execute`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

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
