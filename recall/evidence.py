"""From a place in a log to the text that an audience may see: read, verified, classified, redacted, masked.

Everything happens on one file descriptor, and not one byte leaves before its SHA-256 is the one on record. The order
is the same for everybody: classify the whole entry, redact it, mask it; only then is anything cut.
"""

import os
from hashlib import sha256
from typing import BinaryIO, NamedTuple, Self

from foundation.canonical import escape_surrogates
from foundation.errors import ContextError
from foundation.settings import Values
from foundation.texts import VisibleText
from index.schema import id_key, made_up_id
from memory.visibility import Visibility
from privacy.audiences import Audience, allowed_classes
from privacy.classes import highest
from privacy.markers import classify
from privacy.redaction import redact, reveal
from sessions.decoding import object_of
from sessions.entries import Entry, entry
from sessions.locating import canonical, header_in, session_id
from sessions.reading import open_log

_BUFFER = 4096


class Place(NamedTuple):
    """Where an entry lies in a log: bytes, the SHA-256 of its line, and its id as a number of the index."""

    path: str
    session_id: str
    offset: int
    size: int
    sha: bytes
    id_key: int


class Evidence(NamedTuple):
    """An entry as an audience may see it; `redactions` and `masked` count what was taken out of the text."""

    entry: Entry
    classification: str
    text: VisibleText
    redactions: int
    masked: int


class Gate(NamedTuple):
    """What decides on an entry's text: the default class, the classes this audience may see, and the removal ledger."""

    default_class: str
    allowed: tuple[str, ...]
    visibility: Visibility
    reveal: bool


def gate(audience: Audience, values: Values, visibility: Visibility, *, reveal: bool) -> Gate:
    """Make the gate for an audience under these settings; `reveal` shows the owner secrets too."""
    return Gate(values["privacy.defaultClassification"], allowed_classes(audience, values), visibility, reveal)


class Logs:
    """The logs that one answer reads, each opened once, its header held against the session's id and the project.

    `project` is the canonical working folder that every log must name; None where any will do.
    """

    def __init__(self, project: str | None = None) -> None:
        self._project = project
        self._open: dict[str, tuple[BinaryIO, str | None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for log, _id in self._open.values():
            log.close()

    def line(self, place: Place) -> bytes:
        """Read an entry's line, verified. Raises ContextError with `source-unavailable` or `source-changed`."""
        raw = self.peek(place)
        if sha256(raw).digest() != place.sha:
            raise ContextError("source-changed")
        return raw

    def peek(self, place: Place) -> bytes:
        """Read an entry's line without verifying it: enough to pass it over, never to show it."""
        log, identity = self._opened(place.path)
        if identity != place.session_id:
            raise ContextError("source-changed")
        return os.pread(log.fileno(), place.size, place.offset)

    def bytes_at(self, path: str, offset: int, size: int) -> bytes:
        """Read any bytes of a log, unverified."""
        return os.pread(self._opened(path)[0].fileno(), size, offset)

    def session_id(self, path: str) -> str:
        """Give the id of a session by its file, as the index spells it."""
        identity = self._opened(path)[1]
        if identity is None:
            raise ContextError("source-changed")
        return identity

    def _opened(self, path: str) -> tuple[BinaryIO, str | None]:
        """Open a log; its id is None where it is not one of the project's."""
        if path not in self._open:
            try:
                log = open_log(path, buffering=_BUFFER)
            except ContextError as error:
                raise ContextError("source-unavailable") from error
            header = header_in(log)
            foreign = self._project is not None and canonical(header.cwd if header else "") != self._project
            self._open[path] = (log, None if foreign else escape_surrogates(session_id(path, header)))
        return self._open[path]


def evidence(raw: bytes, place: Place, gate: Gate) -> Evidence | None:
    """Turn a verified line into what the audience may see; None where its class is not for this audience.

    Raises ContextError with `source-changed` where it is not the entry that lay there.
    """
    found = entry_of(raw, place)
    if id_key(found.id) != place.id_key:
        raise ContextError("source-changed")
    marked = classify(found.text) if found.marked else None
    classification = highest(gate.default_class, marked or gate.default_class)
    if classification not in gate.allowed:
        return None
    redacted = reveal(found.text) if gate.reveal else redact(found.text)
    masked = gate.visibility.mask(redacted.text)
    return Evidence(found, classification, masked.text, redacted.count, masked.count)


def entry_of(raw: bytes, place: Place) -> Entry:
    """Read a verified line as an entry; one without an id in the log has the id that the index made up for it.

    Raises ContextError with `source-changed` where it is no entry at all.
    """
    value = object_of(raw)
    if value is None:
        raise ContextError("source-changed")
    identity = made_up_id(place.id_key) or value.get("id")
    return entry(value, identity if isinstance(identity, str) else "", None)
