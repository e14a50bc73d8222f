"""A session log as Pi itself loads it: which lines it takes for entries, under which ids, and what it refuses.

One compact step for each entry; the values stay in the file. Unlike `tree`, nothing is mended here: a line that Pi
skips is skipped, and what it keeps as junk (numbers, lists) is kept, because the last line of a file is its leaf.
"""

import os
from typing import Any, BinaryIO, NamedTuple

from foundation.canonical import Json
from foundation.errors import ContextError
from sessions import javascript
from sessions.decoding import Parse, slow_parse
from sessions.entries import CHAINED, CURRENT, Chain, Header, header
from sessions.javascript import MISSING
from sessions.reading import Record, records

LONGEST_LINE = 0x1FFFFFE8
"""Bytes; no string of JavaScript is longer, so Pi cannot read a longer line either."""

JUNK, BROKEN = "(junk)", "(broken)"
"""Kinds of steps: a value that is no object; a message entry without a message, on which Pi fails."""


class Step(NamedTuple):
    """One entry as Pi holds it: `id` in our words, `key` and `parent` as Pi compares them, and where it lies.

    `kind` is the entry's type, for messages with the role behind `message:`, or `JUNK` or `BROKEN`, or empty.
    """

    id: str | None
    key: Any
    parent: Any
    kind: str
    offset: int
    length: int


class Loaded(NamedTuple):
    """All entries of a session in file order.

    `slots` maps a position in Pi's list of everything, headers included, to one in `steps`, where version 1 needs it.
    """

    header: Header
    steps: list[Step]
    slots: list[int | None]

    @property
    def chained(self) -> bool:
        """Tell whether the file carries ids; before version 2 each entry's parent is simply the one before."""
        return self.header.version >= CHAINED


def load(log: BinaryIO, parse: Parse) -> Loaded:
    """Read a log as Pi does; raises ContextError with `not-a-session` where Pi would refuse to open it."""
    first: Header | None = None
    chain = Chain()
    steps: list[Step] = []
    slots: list[int | None] = []
    words: dict[str, str] = {}
    for record in records(log, parse=parse, longest=LONGEST_LINE):
        value, ours = _seen(record)
        if ours and record.value is not None and record.value.get("type") != "session":
            identity = chain.follow(record.value)[0]
        else:
            identity = None
            if ours:
                chain.skip()
        if not javascript.truthy(value):
            continue
        is_header = isinstance(value, dict) and value.get("type") == "session"
        if first is None:
            first = header(value) if is_header else None
            if first is None:
                raise ContextError("not-a-session")
            chain.version = first.version
        slots.append(None if is_header else len(steps))
        if is_header:
            continue
        if first.version < CHAINED and not isinstance(value, dict | list):
            raise ContextError("not-a-session", "The file holds no session: Pi's migration fails on a line of it.")
        steps.append(_step(value, identity, record, words))
    if first is None:
        raise ContextError("not-a-session")
    return Loaded(first, steps, [] if first.version >= CHAINED else slots)


def value_of(log: BinaryIO, step: Step, *, version: int, parse: Parse) -> Json:
    """Read the value of an entry again, migrated to the current version; junk has none."""
    try:
        value = parse(os.pread(log.fileno(), step.length, step.offset))  # a buffer would be filled for every jump
    except ValueError as error:
        raise ContextError("source-changed") from error
    if not isinstance(value, dict):
        return {}
    if version < CURRENT and step.kind == "message:hookMessage":
        value["message"]["role"] = "custom"
    return value


def _seen(record: Record) -> tuple[Any, bool]:
    """Give the value that Pi makes of a record, None where it skips it; and whether `tree` counts it as an entry."""
    if record.value is not None:
        return (None if record.mended else record.value), True
    if record.problem != "not-an-object":
        return None, False
    try:
        return slow_parse(record.raw), False
    except ValueError:  # a list or number among padding or glued to something
        return None, False


def _step(value: Any, identity: str | None, record: Record, words: dict[str, str]) -> Step:
    if not isinstance(value, dict):
        return Step(None, javascript.same_key(MISSING), None, JUNK, record.offset, record.length)
    key = value.get("id", MISSING)
    parent = value.get("parentId", MISSING)
    kind = _kind(value)
    return Step(
        identity,
        identity if key == identity else javascript.same_key(key),
        javascript.same_key(parent) if javascript.truthy(parent) else None,
        words.setdefault(kind, kind),
        record.offset,
        record.length,
    )


def _kind(value: Json) -> str:
    kind = value.get("type")
    if kind == "message":
        message = value.get("message")
        if message is None:
            return BROKEN
        role = message.get("role") if isinstance(message, dict) else None
        return f"message:{role}" if isinstance(role, str) else "message:"
    return kind if isinstance(kind, str) else ""
