"""One pass over a log that must be sound: its digest, a small step for each entry, and who calls which tool.

Stricter than Pi, which passes over what it cannot read: whoever writes a new session from an old one has to know that
nothing was passed over. Nothing is mended and no text is kept. Costs a SHA-256 and a typed parse of the file, and
memory by the number of entries and by the longest line.
"""

from hashlib import sha256
from typing import Any, BinaryIO, NamedTuple

import msgspec

from sessions import javascript
from sessions.decoding import JS_WHITE, slow_parse
from sessions.entries import CURRENT, Header, header
from sessions.fingerprint import Fingerprint
from sessions.javascript import MISSING
from sessions.loading import BROKEN, LONGEST_LINE, Loaded, Step

_NEWLINE = 10
_MESSAGE = "message:"
_STOPPED = ("aborted", "error")


class Said(NamedTuple):
    """What a message means for tool exchanges: the ids it calls, the id it answers, whether it stopped early."""

    calls: tuple[Any, ...] = ()
    answers: Any = None
    stopped: bool = False


class Flaw(NamedTuple):
    """The first thing that is not sound; `line` counts from 1.

    Kinds: `no-header`, `version` (`detail` is the one it has), `damaged-line`, `second-header`, `no-id`,
    `conflicting-id`, `bad-parent`, `torn-tail`.
    """

    kind: str
    line: int
    detail: str = ""


class Skimmed(NamedTuple):
    """A log at a glance.

    `loaded` has each entry once, repeats left out, and `places` the position in it of each id; `last` is that of the
    last line's entry, `named` that of the last `session_info`, None where there is none. `said` and `custom_types` go
    by position. After a `flaw` the rest of the file was not read, and only the flaw counts.
    """

    fingerprint: Fingerprint
    loaded: Loaded
    places: dict[str, int]
    last: int | None
    named: int | None
    said: dict[int, Said]
    custom_types: dict[int, str]
    flaw: Flaw | None


class _Block(msgspec.Struct, gc=False):
    type: Any = None
    id: Any = None


class _Message(msgspec.Struct, gc=False):
    role: Any = None
    content: list[_Block] | str | None = None
    toolCallId: Any = None
    stopReason: Any = None


class _Line(msgspec.Struct, gc=False):
    type: Any = None
    id: Any = None
    parentId: Any = None
    customType: Any = None
    message: _Message | None = None


_decode = msgspec.json.Decoder(_Line).decode
_REFUSED = (msgspec.MsgspecError, RecursionError)
_step = tuple.__new__  # what a named tuple does, without the call in between


def skim(log: BinaryIO, size: int) -> Skimmed:
    """Read the first `size` bytes of a log; stops at the first flaw."""
    scan = _Scan(log)
    log.seek(0)
    digest, left, flaw, number = sha256(), size, None, 0
    take, update, readline, longest = scan.take, digest.update, log.readline, LONGEST_LINE + 2
    while left and flaw is None:
        raw = readline(min(left, longest))
        if not raw:
            break
        update(raw)
        number += 1
        flaw = take(raw, size - left, number) if raw[-1] == _NEWLINE else Flaw("torn-tail", number)
        left -= len(raw)
    if flaw is None and scan.header is None:
        flaw = Flaw("no-header", 1)
    found = scan.header or Header("", CURRENT, None, "", "")
    return Skimmed(
        fingerprint=Fingerprint(size - left, digest.hexdigest()),
        loaded=Loaded(found, scan.steps, []),
        places=scan.places,
        last=scan.last,
        named=scan.named,
        said=scan.said,
        custom_types=scan.custom_types,
        flaw=flaw,
    )


class _Scan:
    """Takes the lines of one file in turn."""

    def __init__(self, log: BinaryIO) -> None:
        self.log = log
        self.header: Header | None = None
        self.steps: list[Step] = []
        self.places: dict[str, int] = {}
        self.last: int | None = None
        self.named: int | None = None
        self.said: dict[int, Said] = {}
        self.custom_types: dict[int, str] = {}
        self._words: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._first = b""
        self._before: str | None = None

    def take(self, raw: bytes, offset: int, number: int) -> Flaw | None:
        """Take one line with its newline."""
        try:
            line = _decode(raw)
        except _REFUSED:
            if not raw.decode("utf-8", "replace").strip(JS_WHITE):
                return None
            found = _decoded_slowly(raw)
            return Flaw("damaged-line", number) if found is None else self._take(found, raw, offset, number)
        return self._take(line, raw, offset, number)

    def _take(self, line: _Line, raw: bytes, offset: int, number: int) -> Flaw | None:
        """Take what a line says; in one go, for there may be a million of them."""
        identity, kind, parent = line.id, line.type, line.parentId
        if kind == "session":
            return self._take_header(raw, number)
        if self.header is None or not isinstance(identity, str) or not identity:
            return Flaw("no-header" if self.header is None else "no-id", number)
        if identity in self.places:
            return self._take_repeat(line, raw, number)
        if parent == self._before:
            parent = self._before  # one string object for all that name it
        elif parent is not None and not isinstance(parent, str):
            return Flaw("bad-parent", number, identity)
        at = len(self.steps)
        if kind == "message":
            message = line.message
            kind = BROKEN if message is None else self._take_message(at, message)
        else:
            if line.customType is not None or kind == "session_info":
                self._note(at, line)
            kind = self._words.setdefault(kind, kind) if isinstance(kind, str) else ""
        self.steps.append(_step(Step, (identity, identity, parent or None, kind, offset, len(raw) - 1)))
        self.places[identity] = self.last = at
        self._before = identity
        return None

    def _take_message(self, at: int, message: _Message) -> str:
        """Note what a message means for tool exchanges, and give the kind of its step."""
        role = message.role
        if role == "assistant":
            blocks = message.content if isinstance(message.content, list) else ()
            keys = tuple([_call_key(block.id) for block in blocks if block.type == "toolCall"])
            if keys:
                self.said[at] = _step(Said, (keys, None, message.stopReason in _STOPPED))
        elif role == "toolResult":
            self.said[at] = _step(Said, ((), _call_key(message.toolCallId), False))
        elif not isinstance(role, str):
            return _MESSAGE
        return self._kinds.get(role) or self._kinds.setdefault(role, _MESSAGE + role)

    def _take_header(self, raw: bytes, number: int) -> Flaw | None:
        if self.header is not None:  # an old Pi writes all lines again, the header among them
            return None if raw == self._first else Flaw("second-header", number)
        self.header = header(slow_parse(raw))
        self._first = raw
        if self.header is None:
            return Flaw("no-header", number)
        return None if self.header.version == CURRENT else Flaw("version", number, str(self.header.version))

    def _take_repeat(self, line: _Line, raw: bytes, number: int) -> Flaw | None:
        """Pass over a byte-identical repeat; it is the last line all the same, and may name the session again."""
        at = self.places[line.id]
        before, here = self.steps[at], self.log.tell()
        self.log.seek(before.offset)
        same = self.log.read(before.length + 1) == raw
        self.log.seek(here)
        if not same:
            return Flaw("conflicting-id", number, line.id)
        self.last = at
        if line.type == "session_info":
            self.named = at
        return None

    def _note(self, at: int, line: _Line) -> None:
        if line.type == "session_info":
            self.named = at
        if isinstance(line.customType, str):
            self.custom_types[at] = self._words.setdefault(line.customType, line.customType)


def said_by(message: Any) -> Said | None:
    """Tell what a message that was read whole means for tool exchanges; None where it means nothing."""
    if not isinstance(message, dict):
        return None
    if message.get("role") == "toolResult":
        return Said(answers=_call_key(message.get("toolCallId")))
    if message.get("role") != "assistant":
        return None
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    calls = [block for block in blocks if isinstance(block, dict) and block.get("type") == "toolCall"]
    keys = tuple(_call_key(block.get("id")) for block in calls)
    return Said(keys, None, message.get("stopReason") in _STOPPED) if keys else None


def _call_key(identity: Any) -> Any:
    """Give a hashable that is equal for equal ids, None where nothing is equal to it."""
    if isinstance(identity, str):
        return identity
    return javascript.same_key(MISSING if identity is None else identity)


def _decoded_slowly(raw: bytes) -> _Line | None:
    """Read a line that the typed parser refuses: lone surrogates, deep nesting, fields of other types."""
    try:
        value = slow_parse(raw)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    message = value.get("message")
    typed = None if message is None else _Message()  # of what is no object Pi makes nothing
    if isinstance(message, dict):
        content = message.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        typed = _Message(
            role=message.get("role"),
            content=[_Block(block.get("type"), block.get("id")) for block in blocks],
            toolCallId=message.get("toolCallId"),
            stopReason=message.get("stopReason"),
        )
    return _Line(value.get("type"), value.get("id"), value.get("parentId"), value.get("customType"), typed)
