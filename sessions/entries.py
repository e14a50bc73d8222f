"""What one record says: its id, its parent, who spoke, which tools, when; and the session's header.

Reads the versions 1 to 3 of the format. Older files get the ids and the chain that Pi's migration would give
them, but fixed instead of random, and nothing on disk changes.
"""

from typing import Any, NamedTuple

from foundation import clock
from foundation.canonical import Json
from foundation.texts import RawText
from sessions import text

CHAINED, CURRENT = 2, 3
"""The first format version whose entries carry ids, and the one that Pi writes today."""

ROLES = ("user", "assistant", "toolResult", "bashExecution", "custom", "summary")
"""The roles that a search can ask for."""

_SUMMARIES = ("compaction", "branch_summary")
_NOTHING = ("", (), RawText(""))


class Header(NamedTuple):
    """The first line of a session; `version` below 3 means an older format, `cwd` is empty where none is recorded."""

    id: str
    version: int
    timestamp: int | None
    cwd: str
    parent_session: str


class Edit(NamedTuple):
    """What a `context_edit` does: to which entry, and whether it takes it out of the context altogether."""

    target: str
    omits: bool


class Entry(NamedTuple):
    """One entry of a session, in our words.

    `role` is one of `ROLES` or empty; `timestamp` in milliseconds or None; `tools` the names of the tools it calls
    or answers for; `text` what can be searched, possibly empty; `marked` whether markers in it set its class;
    `edit` for a `context_edit`, `name` for a `session_info` (empty clears the session's name), else None.
    """

    id: str
    parent: str | None
    type: str
    role: str
    timestamp: int | None
    tools: tuple[str, ...]
    text: RawText
    marked: bool
    edit: Edit | None = None
    name: str | None = None


class Chain:
    """Gives the entries of one session their ids in file order, as Pi's loader and migration would.

    An entry without a usable id is named by its position, `n0000005`, which cannot be mistaken for one of Pi's own
    hexadecimal ids. `position` counts parsed records from 0, the header included; `last` is the id of the entry
    before. Both are all that must be kept to go on reading later.
    """

    def __init__(self, *, version: int = CURRENT, position: int = 0, last: str | None = None) -> None:
        self.version, self.position, self.last = version, position, last

    def follow(self, value: Json) -> tuple[str, str | None]:
        """Give the id and the parent's id of the next entry."""
        identity, parent = value.get("id"), value.get("parentId")
        if self.version < CHAINED or not isinstance(identity, str) or not identity:
            identity = f"n{self.position:07x}"
            parent = self.last if self.version < CHAINED or "parentId" not in value else parent
        self.position += 1
        self.last = identity
        return identity, parent if isinstance(parent, str) and parent else None

    def skip(self) -> None:
        """Count a record that is no entry, such as a header."""
        self.position += 1


def header(value: Json) -> Header | None:
    """Read a record as a session header; None where it is not one that Pi accepts."""
    identity, version, cwd, parent = (value.get(key) for key in ("id", "version", "cwd", "parentSession"))
    if value.get("type") != "session" or not isinstance(identity, str):
        return None
    return Header(
        id=identity,
        version=_version(version),
        timestamp=_instant(value.get("timestamp")),
        cwd=cwd if isinstance(cwd, str) else "",
        parent_session=parent if isinstance(parent, str) else "",
    )


def entry(value: Json, identity: str, parent: str | None) -> Entry:
    """Read a record as an entry with the id and parent that its `Chain` gave."""
    kind = value.get("type")
    stamp = timestamp_of(value)
    # By position: this is done a million times, and names cost as much as all the rest of it.
    if kind == "message":
        message = value.get("message")
        role, tools, spoken = text.spoken(message) if isinstance(message, dict) else _NOTHING
        return Entry(identity, parent, kind, role, stamp, tools, spoken, role in ("user", "custom"))
    role = role_of(value)
    return Entry(
        identity,
        parent,
        kind if isinstance(kind, str) else "",
        role,
        stamp,
        (),
        text.searchable(value),
        role == "custom",
        _edit(value) if kind == "context_edit" else None,
        _name(value) if kind == "session_info" else None,
    )


def role_of(value: Json) -> str:
    """Name who speaks in an entry, one of `ROLES`; empty for entries that nobody speaks in."""
    kind = value.get("type")
    if kind == "message":
        message = value.get("message")
        return text.speaker(message) if isinstance(message, dict) else ""
    if kind == "custom_message":
        return "custom"
    return "summary" if kind in _SUMMARIES else ""


def _edit(value: Json) -> Edit | None:
    target = value.get("targetId")
    return Edit(target, value.get("replacement", target) is None) if isinstance(target, str) else None


def _name(value: Json) -> str:
    name = value.get("name")
    return " ".join(name.split()) if isinstance(name, str) else ""


def timestamp_of(value: Json) -> int | None:
    """Give the entry's own time in milliseconds; version 1 has it in the message."""
    found = _instant(value.get("timestamp"))
    if found is None and isinstance(message := value.get("message"), dict):
        found = _instant(message.get("timestamp"))
    return found


def _version(value: Any) -> int:
    """Compare as Pi does: `version >= 3` in JavaScript, where "2" is 2, true is 1 and nonsense is never less."""
    if value is None:
        return 1
    if not isinstance(value, int) or isinstance(value, bool):
        from sessions.javascript import to_number

        value = to_number(value)
        if value != value:  # noqa: PLR0124 - NaN alone is unequal to itself
            return CURRENT
    return int(max(0, min(value, 1_000_000)))


def _instant(value: Any) -> int | None:
    if isinstance(value, str):
        return clock.millis(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:  # noqa: PLR2004 - year 33658
        return int(value)
    return None
