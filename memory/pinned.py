"""Where pins and memories stand in a session's log: its own mutations, read line by line without the rest."""

from itertools import count

from foundation.canonical import Json
from foundation.clock import millis
from memory.pins import TYPES, Mutation
from sessions.decoding import slow_parse
from sessions.reading import open_log, records

_MARKS = tuple(f'"{name}"'.encode() for name in TYPES)


def mutations(path: str, session: str) -> list[Mutation]:
    """List the mutations of a log in its order; raises what `open_log` raises."""
    order = count()
    with open_log(path) as log:
        found = (record.value for record in records(log, parse=_parse_ours) if record.value)
        return [made for value in found if (made := mutation(value, session, next(order)))]


def mutation(value: Json, session: str, order: int) -> Mutation | None:
    """Read an entry as a mutation; None where it is none."""
    kind = TYPES.get(str(value.get("customType"))) if value.get("type") == "custom" else None
    if kind is None:
        return None
    stamp, parent = value.get("timestamp"), value.get("parentId")
    at = millis(stamp) if isinstance(stamp, str) else None
    above = parent if isinstance(parent, str) else ""
    return Mutation(kind, value.get("data"), at or 0, session, order, str(value.get("id")), above)


def _parse_ours(raw: bytes) -> Json:
    """Parse a line that may be a mutation, and pass over all others."""
    return slow_parse(raw) if any(mark in raw for mark in _MARKS) else {}
