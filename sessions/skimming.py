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

    `loaded` has each entry once, repeats left out; `last` is the position in it of the last line's entry, `named` that
    of the last `session_info`; None where there is none. `said` and `custom_types` go by position. After a `flaw` the
    rest of the file was not read, and only the flaw counts.
    """

    fingerprint: Fingerprint
    loaded: Loaded
    last: int | None
    named: int | None
    said: dict[int, Said]
    custom_types: dict[int, str]
    flaw: Flaw | None


class _Message(msgspec.Struct):
    role: Any = None
    content: msgspec.Raw = msgspec.Raw()
    toolCallId: Any = None
    stopReason: Any = None


class _Line(msgspec.Struct):
    type: Any = None
    id: Any = None
    parentId: Any = None
    customType: Any = None
    message: _Message | None = None


class _Block(msgspec.Struct):
    type: Any = None
    id: Any = None


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_blocks = msgspec.json.Decoder(list[_Block]).decode
_REFUSED = (msgspec.MsgspecError, RecursionError)


def skim(log: BinaryIO, size: int) -> Skimmed:
    """Read the first `size` bytes of a log; stops at the first flaw."""
    scan = _Scan(log)
    log.seek(0)
    digest, left, flaw, number = sha256(), size, None, 0
    while left and flaw is None:
        raw = log.readline(min(left, LONGEST_LINE + 2))
        if not raw:
            break
        digest.update(raw)
        number += 1
        flaw = scan.take(raw, size - left, number) if raw.endswith(b"\n") else Flaw("torn-tail", number)
        left -= len(raw)
    if flaw is None and scan.header is None:
        flaw = Flaw("no-header", 1)
    found = scan.header or Header("", CURRENT, None, "", "")
    return Skimmed(
        fingerprint=Fingerprint(size - left, digest.hexdigest()),
        loaded=Loaded(found, scan.steps, []),
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
        self.last: int | None = None
        self.named: int | None = None
        self.said: dict[int, Said] = {}
        self.custom_types: dict[int, str] = {}
        self._places: dict[str, int] = {}
        self._words: dict[str, str] = {}
        self._first = b""

    def take(self, raw: bytes, offset: int, number: int) -> Flaw | None:
        """Take one line with its newline."""
        try:
            line = _decode_line(raw)
        except _REFUSED:
            if not raw.decode("utf-8", "replace").strip(JS_WHITE):
                return None
            found = _decoded_slowly(raw)
            if found is None:
                return Flaw("damaged-line", number)
            line = found
        if line.type == "session":
            return self._take_header(raw, number)
        if self.header is None:
            return Flaw("no-header", number)
        return self._take_entry(line, raw, offset, number)

    def _take_header(self, raw: bytes, number: int) -> Flaw | None:
        if self.header is not None:  # an old Pi writes all lines again, the header among them
            return None if raw == self._first else Flaw("second-header", number)
        self.header = header(slow_parse(raw))
        self._first = raw
        if self.header is None:
            return Flaw("no-header", number)
        return None if self.header.version == CURRENT else Flaw("version", number, str(self.header.version))

    def _take_entry(self, line: _Line, raw: bytes, offset: int, number: int) -> Flaw | None:
        identity, parent = line.id, line.parentId
        if not isinstance(identity, str) or not identity:
            return Flaw("no-id", number)
        if parent is not None and not isinstance(parent, str):
            return Flaw("bad-parent", number, identity)
        before = self._places.get(identity)
        if before is not None:
            if not self._repeats(self.steps[before], raw):
                return Flaw("conflicting-id", number, identity)
            self._remember(before, line)
            return None
        at = len(self.steps)
        if at and parent == self.steps[-1].id:
            parent = self.steps[-1].id  # one string object for all that name it
        kind = self._kind(line)
        self.steps.append(Step(identity, identity, parent or None, kind, offset, len(raw) - 1))
        self._places[identity] = at
        self._remember(at, line)
        return None

    def _kind(self, line: _Line) -> str:
        if line.type == "message":
            role = line.message.role if line.message else None
            kind = BROKEN if line.message is None else f"message:{role}" if isinstance(role, str) else "message:"
        else:
            kind = line.type if isinstance(line.type, str) else ""
        return self._words.setdefault(kind, kind)

    def _remember(self, at: int, line: _Line) -> None:
        self.last = at
        if line.type == "session_info":
            self.named = at
        if line.message is not None and line.type == "message":
            said = _said(line.message)
            if said is not None:
                self.said[at] = said
        elif isinstance(line.customType, str):
            self.custom_types[at] = self._words.setdefault(line.customType, line.customType)

    def _repeats(self, before: Step, raw: bytes) -> bool:
        here = self.log.tell()
        self.log.seek(before.offset)
        same = self.log.read(before.length + 1) == raw
        self.log.seek(here)
        return same


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


def _said(message: _Message) -> Said | None:
    if message.role == "toolResult":
        return Said(answers=_call_key(message.toolCallId))
    if message.role != "assistant":
        return None
    content = bytes(message.content)
    if b'"toolCall"' not in content and b"\\u" not in content:  # an escape could spell the word in another way
        return None
    try:
        keys = tuple(_call_key(block.id) for block in _decode_blocks(content) if block.type == "toolCall")
    except _REFUSED:
        return said_by({"role": "assistant", "content": slow_parse(content), "stopReason": message.stopReason})
    return Said(keys, None, message.stopReason in _STOPPED) if keys else None


def _call_key(identity: Any) -> Any:
    """Give a hashable that is equal for equal ids; an id that is none equals nothing but itself."""
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
    typed = None
    if isinstance(message, dict):
        content = javascript.stringify(message.get("content")).encode()
        typed = _Message(
            message.get("role"), msgspec.Raw(content), message.get("toolCallId"), message.get("stopReason")
        )
    elif message is not None:
        typed = _Message()  # some other value, from which Pi makes nothing
    return _Line(value.get("type"), value.get("id"), value.get("parentId"), value.get("customType"), typed)
