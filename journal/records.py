"""An operation's record as a file: JSON for people to read, checked by a MAC and a strict model before it counts.

The MAC covers the compact form of all fields but itself, in their order in the file.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StringConstraints

from foundation.canonical import dumps, pretty
from foundation.clock import iso, millis
from journal.keys import Keys, Verdict, judge, sign
from journal.lifecycle import KEPT_ATTEMPTS, LONGEST_FACT, Attempt, Course, Fact, Record

PURPOSE = "journal"
VERSION = 1
LARGEST = 256 * 1024
"""Bytes; a record is metadata, and some files named like one may be anything."""

_SCHEMA = "context-operation-v"
_KEY_ID, _MAC = "keyId", "mac"
_LONGEST_SIGNER = 64

Short = Annotated[str, StringConstraints(max_length=200)]
Code = Annotated[str, StringConstraints(pattern=r"^[a-z]+(-[a-z]+)*$", max_length=64)]
Digest = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")]
Instant = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
FactText = Annotated[str, StringConstraints(max_length=LONGEST_FACT)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


class WrittenAttempt(_Strict):
    """An attempt in the file."""

    at: Instant
    phase: Short
    code: Code


class Written(_Strict):
    """A record in the file, without its signature."""

    schema_name: Literal["context-operation-v1"] = Field(alias="schema")
    operationId: Short
    kind: Short
    phase: Short
    sequence: Annotated[int, Field(ge=1)]
    previous: Digest
    createdAt: Instant
    updatedAt: Instant
    versions: dict[Short, Short]
    facts: dict[Short, StrictBool | StrictInt | FactText]
    attempts: Annotated[list[WrittenAttempt], Field(max_length=KEPT_ATTEMPTS)]
    attemptCount: Annotated[int, Field(ge=0)]
    closing: Code | Literal[""]
    closed: bool
    adoptedFrom: Short


class Refused(NamedTuple):
    """A file that does not count as a record, with the code that says why.

    `claim` is what it says, where only its signature is missing or another installation's, and `signer` names that key.
    """

    code: str
    claim: Record | None = None
    signer: str = ""


def encode(record: Record, keys: Keys) -> bytes:
    """Write a record, signed. Raises ValueError where it is no record that could be read back."""
    fields: dict[str, Any] = {
        "schema": f"{_SCHEMA}{VERSION}",
        "operationId": record.operation_id,
        "kind": record.kind,
        "phase": record.phase,
        "sequence": record.sequence,
        "previous": record.previous,
        "createdAt": iso(record.created_at),
        "updatedAt": iso(record.updated_at),
        "versions": dict(record.versions),
        "facts": dict(record.facts),
        "attempts": [{"at": iso(at), "phase": phase, "code": code} for at, phase, code in record.attempts],
        "attemptCount": record.attempt_count,
        "closing": record.closing,
        "closed": record.closed,
        "adoptedFrom": record.adopted_from,
    }
    Written.model_validate(fields)
    fields[_KEY_ID] = keys.key_id
    fields[_MAC] = sign(keys, PURPOSE, dumps(fields).encode())
    data = pretty(fields).encode()
    if len(data) > LARGEST:
        raise ValueError("a record of an operation is too large")
    return data


def decode(data: bytes, operation_id: str, course: Course, keys: Keys | None) -> Record | Refused:
    """Read a record, or say by a code why the file is none that counts. Never raises."""
    try:
        fields = json.loads(data)
        mac = _text(fields.pop(_MAC, ""))
        signed = dumps(fields).encode()
        signer = _text(fields.pop(_KEY_ID, ""))
        if _is_other_version(fields["schema"]):  # before its signature is judged: that may have another form too
            return Refused("journal-version")
        verdict = judge(keys, PURPOSE, signed, signer, mac)
        if verdict == "forged":
            return Refused("journal-edited")
        record = _record(Written.model_validate(fields), sha256(data).hexdigest())
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return Refused("journal-damaged")
    if record.operation_id != operation_id:
        return Refused("journal-edited")  # a copy under another name
    if record.kind != course.kind or record.phase not in course.stages:
        return Refused("journal-version")
    return _as_signed(record, signer, verdict)


def _as_signed(record: Record, signer: str, verdict: Verdict) -> Record | Refused:
    match verdict:
        case "good":
            return record
        case "unsigned":
            return Refused("journal-unsigned", record, "unsigned")
        case _:
            return Refused("journal-foreign", record, signer[:_LONGEST_SIGNER])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_other_version(schema: Any) -> bool:
    if not isinstance(schema, str) or not schema.startswith(_SCHEMA):
        return False
    return schema.removeprefix(_SCHEMA).isdecimal() and schema != f"{_SCHEMA}{VERSION}"


def _record(written: Written, digest: str) -> Record:
    facts: Mapping[str, Fact] = written.facts
    return Record(
        written.operationId,
        written.kind,
        written.phase,
        written.sequence,
        written.previous,
        _instant(written.createdAt),
        _instant(written.updatedAt),
        written.versions,
        facts,
        tuple(Attempt(_instant(attempt.at), attempt.phase, attempt.code) for attempt in written.attempts),
        written.attemptCount,
        written.closing,
        written.closed,
        written.adoptedFrom,
        digest,
    )


def _instant(stamp: str) -> int:
    instant = millis(stamp)
    if instant is None:
        raise ValueError("no instant")
    return instant
