"""The summaries of a project's sessions, as an audience may see them: read from the logs, past all other lines."""

from foundation.canonical import Json
from foundation.errors import ContextError
from foundation.texts import RawText
from memory.sources import Summary
from pi_context.entries_seen import gate_of
from pi_context.surroundings import Surroundings
from privacy.redaction import redact
from recall.scope import project_files
from sessions.decoding import slow_parse
from sessions.locating import LogFile, canonical, read_header, session_id
from sessions.reading import open_log, records

_KINDS = ("compaction", "branch_summary")
_MARKS = (*(f'"{kind}"'.encode() for kind in _KINDS), b'"session_info"')


def summaries(around: Surroundings) -> tuple[list[Summary], dict[str, str]]:
    """Give the summaries of the project's sessions and the names of these; what cannot be read is left out."""
    gate = gate_of(around)
    found: list[Summary] = []
    names: dict[str, str] = {}
    if gate.default_class not in gate.allowed:
        return found, names
    for file in project_files(around.files, None, canonical(around.project)):
        try:
            identity, values = session_id(file.path, read_header(file.path)), _entries(file)
        except (ContextError, OSError):
            continue
        for value in values:
            summary = value["type"] in _KINDS
            text = value.get("summary" if summary else "name")
            safe = around.visibility.mask(redact(RawText(text)).text).text if isinstance(text, str) else ""
            if summary:
                found.append(Summary(identity, safe))
            else:
                names[identity] = " ".join(safe.split())
    return found, names


def _entries(file: LogFile) -> list[Json]:
    def parse(raw: bytes) -> Json:
        return slow_parse(raw) if any(mark in raw for mark in _MARKS) else {}

    with open_log(file.path) as log:
        values = [record.value for record in records(log, parse=parse) if record.value]
    return [value for value in values if value.get("type") in (*_KINDS, "session_info")]
