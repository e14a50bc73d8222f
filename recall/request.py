"""A search or a read as it was asked for, checked once; the settings cap what it may take."""

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from foundation import clock
from foundation.canonical import utf16_units
from foundation.errors import ContextError
from foundation.settings import SCOPES, Values
from recall.query import LONGEST, Query, parse
from sessions.entries import ROLES

MOST_HITS, LEAST_TOKENS, MOST_TOKENS = 12, 256, 6000
MOST_LINES, DEFAULT_LINES = 200, 120
_SUMMARY = "summary"
_LONGEST_DATE, _LONGEST_TOOL, _MOST_SKIPPED, _FURTHEST_LINE = 40, 200, 10_000, 1_000_000_000


class Asked(TypedDict, total=False):
    """A search as it is asked for; what is missing or None is left to the settings."""

    scope: str | None
    limit: int | None
    max_output_tokens: int | None
    skip: int | None
    roles: Sequence[str]
    tools: Sequence[str]
    before: str | None
    after: str | None
    include_summaries: bool | None
    local_time: bool


class AskedToRead(TypedDict, total=False):
    """A read as it is asked for; what is missing or None is left to the defaults."""

    start_line: int | None
    start_column: int | None
    max_lines: int | None
    max_output_tokens: int | None


class SearchRequest(NamedTuple):
    """A checked search; `limit` and `budget` are what is in force. Times in milliseconds."""

    query: Query
    scope: str
    limit: int
    budget: int
    skip: int
    roles: tuple[str, ...]
    tools: tuple[str, ...]
    after: int | None
    before: int | None


class ReadRequest(NamedTuple):
    """A checked read; lines and columns count from 1."""

    reference: str
    start_line: int
    start_column: int
    most_lines: int
    budget: int


def search_request(
    values: Values,
    query: object,
    *,
    scope: str | None = None,
    limit: int | None = None,
    max_output_tokens: int | None = None,
    skip: int | None = None,
    roles: Sequence[str] = (),
    tools: Sequence[str] = (),
    before: str | None = None,
    after: str | None = None,
    include_summaries: bool | None = None,
    local_time: bool = False,
) -> SearchRequest:
    """Check a search; `local_time` is the zone of dates that name none. Raises ContextError, the first fault's code."""
    if not isinstance(query, str) or not query.strip() or utf16_units(query) > LONGEST:
        raise ContextError("invalid-query")
    chosen = values["historyTools.defaultScope"] if scope is None else scope
    if chosen not in SCOPES:
        raise ContextError("invalid-scope")
    if not _is_int(limit, 1, MOST_HITS) or not _is_int(skip, 0, _MOST_SKIPPED):
        raise ContextError("invalid-limit")
    budget = _budget(values, max_output_tokens)
    roles, tools = _listed(roles, "invalid-role"), _listed(tools, "invalid-tool")
    if any(role not in ROLES for role in roles):
        raise ContextError("invalid-role")
    if any(not 0 < len(tool) <= _LONGEST_TOOL for tool in tools):
        raise ContextError("invalid-tool")
    start, end = _instant(after, local=local_time), _instant(before, local=local_time)
    if start is not None and end is not None and start >= end:
        raise ContextError("invalid-date-range")
    summaries = values["historyTools.includeSummaries"] if include_summaries is None else include_summaries
    return SearchRequest(
        query=parse(query),
        scope=chosen,
        limit=min(limit or MOST_HITS, values["historyTools.maxResults"]),
        budget=budget,
        skip=skip or 0,
        roles=tuple(dict.fromkeys(roles)) or tuple(role for role in ROLES if summaries or role != _SUMMARY),
        tools=tuple(dict.fromkeys(tools)),
        after=start,
        before=end,
    )


def read_request(
    values: Values,
    reference: object,
    *,
    start_line: int | None = None,
    start_column: int | None = None,
    max_lines: int | None = None,
    max_output_tokens: int | None = None,
) -> ReadRequest:
    """Check a read. Raises ContextError, the first fault's code."""
    if not isinstance(reference, str):
        raise ContextError("reference-unavailable")
    if not (_is_int(start_line, 1, _FURTHEST_LINE) and _is_int(start_column, 1, _FURTHEST_LINE)):
        raise ContextError("invalid-range")
    if not _is_int(max_lines, 1, MOST_LINES):
        raise ContextError("invalid-range")
    return ReadRequest(
        reference, start_line or 1, start_column or 1, max_lines or DEFAULT_LINES, _budget(values, max_output_tokens)
    )


def _budget(values: Values, asked: int | None) -> int:
    if not _is_int(asked, LEAST_TOKENS, MOST_TOKENS):
        raise ContextError("invalid-budget")
    most: int = values["historyTools.maxOutputTokens"]
    return most if asked is None else min(asked, most)


def _is_int(value: object, low: int, high: int) -> bool:
    """Accept what was not given, and whole numbers in range."""
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and low <= value <= high)


def _listed(given: object, code: str) -> tuple[str, ...]:
    """Accept nothing, and lists of words; one word alone is no list."""
    if given is None:
        return ()
    if not isinstance(given, list | tuple) or not all(isinstance(word, str) for word in given):
        raise ContextError(code)
    return tuple(given)


def _instant(date: object, *, local: bool) -> int | None:
    if date is None:
        return None
    found = clock.parse(date, local=local) if isinstance(date, str) and len(date) <= _LONGEST_DATE else None
    if found is None:
        raise ContextError("invalid-date")
    return found
