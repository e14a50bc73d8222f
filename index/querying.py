"""Look the index up: all filters inside the SQL, before any LIMIT, and within an authorised scope only.

A search gives places in the logs and counts, never text: the log is the text.
"""

import heapq
from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from foundation.canonical import dumps
from index.ancestors import PATH, Intervals, ancestry, is_ancestor, session_of
from index.schema import CLASS_CODE, ROLE_CODE, first_rid, last_rid
from index.sql import rows, value

_PROBE = 1500
"""Matches up to which all sessions are searched at once; more are searched session by session, newest first."""


class Part(NamedTuple):
    """One session within a scope: with a leaf only its ancestors, else all entries.

    `newest` is the time of its newest entry in milliseconds; `until` the last rid that counts, None for all.
    """

    sid: int
    leaf: int | None = None
    newest: int = 0
    until: int | None = None


class AuthorisedScope(NamedTuple):
    """What a search may look into, newest session first; made in `recall.scope` and nowhere else.

    `omitted` are the rids that a context edit took out of the branches that it looks into.
    """

    name: str
    parts: tuple[Part, ...]
    omitted: tuple[int, ...] = ()


class Filters(NamedTuple):
    """What a hit must be: empty tuples and None filter nothing. Times in milliseconds, exclusive."""

    roles: tuple[str, ...] = ()
    classes: tuple[str | None, ...] = ()
    tools: tuple[str, ...] = ()
    after: int | None = None
    before: int | None = None


class Found(NamedTuple):
    """A place in a log that matches, offset and size in bytes.

    `counts` holds a byte per phrase of the expression, `length` is in words; `digest` is that of the redacted text.
    """

    rid: int
    id_key: int
    timestamp: int | None
    offset: int
    size: int
    sha: bytes
    digest: int
    role: int
    counts: bytes
    length: int


_ENTRY = "e.rid, e.eid, e.ts, e.off, e.len, e.sha, e.digest, e.role"
_FROM = "from words f join entry e on e.rid = f.rowid where f.words match :match"
_WITHIN = " and f.rowid between :first and :last"
_ENTRIES_WITHIN = "e.digest is not null and e.rid between :first and :last"
_ON_PATH = " and e.rid <= (select max(hi) from path where lo = e.run)"
_FILTERS = " and (1 << e.role) & :roles and (1 << e.class) & :classes"
_TOOLS = " and e.tools in (select id from toolset where exists("
_TOOLS += "select 1 from json_each(names) where value in (select value from json_each(:tools))))"
_AFTER, _BEFORE = " and e.ts > :after", " and e.ts < :before"
_NOT_OMITTED = " and e.rid not in (select value from json_each(:omitted))"


def search(
    db: apsw.Connection, scope: AuthorisedScope, expression: str, filters: Filters, *, most: int
) -> tuple[list[Found], bool]:
    """Give the newest matches of a scope, `most` of them at most, and whether there were more."""
    if not expression or not scope.parts:
        return [], False
    query = _Query(db, scope, expression, filters)
    found = query.sessions(most + 1)
    return found[:most], len(found) > most


def walk(db: apsw.Connection, scope: AuthorisedScope, expression: str, filters: Filters) -> Iterator[Found]:
    """Yield every match of a scope, session by session from the newest, newest entry first."""
    if expression:
        query = _Query(db, scope, expression, filters)
        for part in scope.parts:
            yield from query.part(part, limit=-1)


def every(db: apsw.Connection, scope: AuthorisedScope, filters: Filters) -> Iterator[tuple[Any, ...]]:
    """Yield every entry of a scope that has a text, session by session, the last in the file first.

    Each as rid, number of its id, timestamp, offset, size, number of its role, and digest of its line.
    """
    query = _Query(db, scope, "", filters)
    for part in scope.parts:
        yield from query.entries(part)


def holds(db: apsw.Connection, scope: AuthorisedScope, rid: int) -> bool:
    """Tell whether an entry lies within a scope."""
    part = next((part for part in scope.parts if part.sid == session_of(rid)), None)
    return part is not None and _is_within(_intervals(db, part), rid) and rid not in scope.omitted


class _Query:
    """One expression with its filters, prepared for any session."""

    def __init__(self, db: apsw.Connection, scope: AuthorisedScope, expression: str, filters: Filters) -> None:
        self.db, self.scope = db, scope
        roles = filters.roles or tuple(ROLE_CODE)
        classes = filters.classes or tuple(CLASS_CODE)
        self.bindings: dict[str, object] = {
            "match": expression,
            "roles": sum(1 << ROLE_CODE[role] for role in set(roles)),
            "classes": sum(1 << CLASS_CODE[name] for name in set(classes)),
        }
        self.conditions = _FILTERS
        for wanted, condition, name in (
            (filters.tools, _TOOLS, "tools"),
            (scope.omitted, _NOT_OMITTED, "omitted"),
        ):
            if wanted:
                self.conditions += condition
                self.bindings[name] = dumps(list(wanted))
        for instant, condition, name in ((filters.after, _AFTER, "after"), (filters.before, _BEFORE, "before")):
            if instant is not None:
                self.conditions += condition
                self.bindings[name] = instant

    def sessions(self, limit: int) -> list[Found]:
        """Give the newest matches over all sessions of the scope."""
        if len(self.scope.parts) == 1:
            return list(self.part(self.scope.parts[0], limit=limit))
        if (few := self._all_at_once()) is not None:
            return heapq.nlargest(limit, few, key=_age)
        return self._newest_first(limit)

    def part(self, part: Part, *, limit: int) -> Iterator[Found]:
        """Give the matches of one session, the last in the file first."""
        head, on_path, bindings = self._bounds(part)
        sql = f"{head}select {_ENTRY}, phrase_counts(f.words) {_FROM}{_WITHIN}{on_path}{self.conditions}"
        return map(_found, rows(self.db, sql + " order by f.rowid desc limit :limit", bindings | {"limit": limit}))

    def entries(self, part: Part) -> Iterator[tuple[Any, ...]]:
        """Give the entries of one session, whatever they say, the last in the file first."""
        head, on_path, bindings = self._bounds(part)
        what = "e.rid, e.eid, e.ts, e.off, e.len, e.role, e.sha from entry e"
        del bindings["match"]
        sql = f"{head}select {what} where {_ENTRIES_WITHIN}{on_path}{self.conditions}"
        return rows(self.db, sql + " order by e.rid desc", bindings)

    def _bounds(self, part: Part) -> tuple[str, str, dict[str, object]]:
        """Give what bounds a query to one session or to the ancestors of its leaf: two pieces of SQL, and bindings."""
        bindings = self.bindings | {"first": first_rid(part.sid), "last": part.until or last_rid(part.sid)}
        return ("", "", bindings) if part.leaf is None else (PATH, _ON_PATH, bindings | {"leaf": part.leaf})

    def _all_at_once(self) -> list[Found] | None:
        """Search the whole index where few rows match; None where many do."""
        probe = "select count(*) from (select 1 from words where words match ? limit ?)"
        if value(self.db, probe, (self.bindings["match"], _PROBE + 1)) > _PROBE:
            return None
        sql = f"select {_ENTRY}, phrase_counts(f.words) {_FROM}{self.conditions}"
        bounds = {part.sid: _intervals(self.db, part) for part in self.scope.parts}
        found = map(_found, rows(self.db, sql, self.bindings))
        return [place for place in found if _is_within(bounds.get(session_of(place.rid)), place.rid)]

    def _newest_first(self, limit: int) -> list[Found]:
        """Search session by session; stop where no older one can hold a newer match than those at hand."""
        best: list[Found] = []
        for part in sorted(self.scope.parts, key=lambda part: -part.newest):
            if len(best) == limit and part.newest <= _age(best[-1])[0]:
                break
            best = heapq.nlargest(limit, [*best, *self.part(part, limit=limit)], key=_age)
        return best


def _found(row: tuple[Any, ...]) -> Found:
    packed: bytes = row[-1]
    rid, *place = row[:-1]
    return Found(rid, *place, counts=packed[:-4], length=int.from_bytes(packed[-4:], "little"))  # type: ignore[misc]


def _intervals(db: apsw.Connection, part: Part) -> Intervals:
    whole = ((first_rid(part.sid), part.until or last_rid(part.sid)),)
    return whole if part.leaf is None else ancestry(db, part.leaf, part.until)


def _is_within(bound: Intervals | None, rid: int) -> bool:
    return bound is not None and is_ancestor(bound, rid)


def _age(found: Found) -> tuple[int, int]:
    return (found.timestamp or 0, found.rid)
