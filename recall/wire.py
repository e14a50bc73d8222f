"""The shapes of answers: one place for every field name, so that shell, server and API give the same JSON."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from foundation.canonical import Json
from foundation.clock import iso
from foundation.texts import RawText
from privacy.redaction import redact

if TYPE_CHECKING:
    from index.health import State
    from recall.evidence import Evidence, Place
    from recall.lineage import Lineage

RESULT, READ, STATUS = "context-history-result-v1", "context-history-read-v1", "context-history-status-v1"
COMPLETE, PARTIAL, UNAVAILABLE, UNKNOWN = "complete", "partial", "unavailable", "unknown"

NOTES = frozenset({"lineage-equals-branch"})
"""Warnings that take nothing away from an answer."""

NOTHING_SEARCHED = frozenset({"query-has-no-searchable-terms", "lexical-retrieval-disabled"})
"""Warnings that say why nothing was looked for at all."""


def unavailable(schema: str, code: str, **fields: object) -> Json:
    """Say that there is no answer, and why."""
    answer: Json = {"schema": schema, "quotedData": True, "status": UNAVAILABLE, "code": code}
    if schema == RESULT:
        answer |= {
            "coverage": UNKNOWN,
            **fields,
            "warnings": [code],
            "omitted": {"budget": 0, "duplicates": 0},
            "hits": [],
        }
    else:
        answer |= {**fields, "warnings": [code]}
    return answer


def envelope(scope: str, warnings: Iterable[str], *, duplicates: int, after: int | None, before: int | None) -> Json:
    """Open a result without its hits; what any warning takes away makes it partial."""
    listed = list(dict.fromkeys(warnings))
    status = COMPLETE if NOTES.issuperset(listed) else PARTIAL
    reason = next((code for code in listed if code in NOTHING_SEARCHED), "")
    answer: Json = {
        "schema": RESULT,
        "quotedData": True,
        "status": status,
        "coverage": UNKNOWN if reason else status,
        "effectiveScope": scope,
    }
    if reason:
        answer["code"] = reason
    for name, instant in (("after", after), ("before", before)):
        if instant is not None:
            answer[name] = iso(instant)
    return answer | {"warnings": listed, "omitted": {"budget": 0, "duplicates": duplicates}}


def entry_fields(reference: str, place: "Place", seen: "Evidence", *, relation: str, edited: bool) -> Json:
    """Tell what an entry is; what is empty or zero is left out."""
    entry = seen.entry
    fields: Json = {
        "sourceRef": reference,
        "sessionId": _safe(place.session_id),
        "entryId": _safe(entry.id),
        "kind": _safe(entry.type),
    }
    if entry.role:
        fields["role"] = entry.role
    if entry.timestamp is not None:
        fields["timestamp"] = iso(entry.timestamp)
    fields |= {"relation": relation, "classification": seen.classification}
    for name, count in (("redactions", seen.redactions), ("masked", seen.masked)):
        if count:
            fields[name] = count
    if edited:
        fields["contextEdit"] = "omitted"
    return fields


def project_id(cwd: str) -> str:
    """Give a project a name that does not tell its path."""
    return sha256(cwd.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def places(found: Sequence[tuple[str, str]]) -> list[Json]:
    """List where the same text stands as well, as sessions and entries."""
    return [{"sessionId": _safe(session_id), "entryId": _safe(entry_id)} for session_id, entry_id in found]


def _safe(name: str) -> str:
    """Give an id or a type as anybody may see it: who wrote the log may have put anything there."""
    return redact(RawText(name)).text


def reading(fields: Json, *, start_line: int, digest: str) -> Json:
    """Open the answer of a read, without its text; the digest is the SHA-256 of the log's line without its newline."""
    answer: Json = {"schema": READ, "quotedData": True, "status": COMPLETE, "warnings": []}
    return answer | fields | {"text": "", "startLine": start_line, "sha256": digest, "verified": True}


def paged(answer: Json, text: str, next_line: int, next_column: int) -> Json:
    """Put a page into the answer of a read; `next_line` 0 means that nothing follows."""
    answer = answer | {"text": text}
    if next_line:
        answer |= {"status": PARTIAL, "warnings": ["more-lines"], "nextLine": next_line}
    if next_column:
        answer["nextColumn"] = next_column
    return answer


def state(
    scope: str,
    warnings: Sequence[str],
    found: "State | None",
    lineage: "Lineage | None",
    *,
    pending: Sequence[str],
    owner: bool,
) -> Json:
    """Tell how recall stands for a scope; numbers and the ids of unfinished rebases are for the owner alone."""
    current = found is not None and not (found.files_behind or found.detectors_behind or found.unfinished)
    answer: Json = {
        "schema": STATUS,
        "quotedData": True,
        "status": COMPLETE if current else PARTIAL,
        "warnings": list(warnings) + ["index-behind"] * (not current),
        "enabled": True,
        "effectiveScope": scope,
        "indexCurrent": current,
        "pendingRebase": bool(pending),
    }
    if owner and pending:
        answer["pendingRebases"] = list(pending)
    if owner and found is not None:
        answer["index"] = {
            "sessions": found.sessions,
            "entries": found.entries,
            "filesBehind": found.files_behind,
            "bytesBehind": found.behind,
            "quarantinedLines": found.quarantined,
            "detectorsBehind": found.detectors_behind,
            "pendingErase": found.pending_erase,
            "unfinished": found.unfinished,
            "bytes": found.size,
        }
    if owner and lineage is not None:
        answer["lineage"] = {"generations": lineage.generations, "verified": lineage.verified}
    return answer
