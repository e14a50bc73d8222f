"""`pi-context session verify`: a session file checked line by line."""

from foundation.errors import REFUSED
from pi_context.call import Call
from pi_context.entries_seen import current
from pi_context.output import plain
from sessions.tree import outline

DAMAGE = frozenset({"quarantined", "conflicting-id", "cycle", "missing-header", "orphan", "kept-entry-off-path"})
"""Findings that take something away; the others are out of the ordinary and harmless."""

MEANINGS = {
    "quarantined": "not readable as an entry",
    "repeat": "the same line once more; counted once",
    "conflicting-id": "another entry has the same id; the later one counts",
    "orphan": "its parent is not in the file",
    "cycle": "its ancestors lead back to it",
    "missing-header": "the file has no session header",
    "late-header": "the header is not the first record",
    "extra-header": "one more session header; ignored",
    "glued": "several entries on one line; Pi skips them, recall reads them",
    "padding": "NUL bytes, as a crash leaves them",
    "bom": "a byte order mark",
    "torn-tail": "still being written, or cut off; no damage",
    "older-version": "an older format; read without changing it",
    "kept-entry-off-path": "a compaction keeps from an entry that is not before it",
    "no-id": "an entry without an id; it has a made-up one",
    "no-timestamp": "an entry without a time",
}
"""What each finding says to a person."""


def verify(call: Call) -> int:
    """Check the current session's file."""
    session = outline(current(call.around).path)
    damaged = any(kind in DAMAGE for kind in session.counts)
    if call.out.json:
        call.out.answer({
            "file": call.around.told_path(session.path), "bytes": session.size, "entries": len(session.entries),
            "sound": not damaged, "counts": session.counts,
            "findings": [finding._asdict() for finding in session.findings],
        })  # fmt: skip
        return REFUSED if damaged else 0
    for finding in session.findings:
        style = "red" if finding.kind in DAMAGE else "yellow"
        detail = f" ({plain(finding.detail)})" if finding.detail else ""
        place = f"line {finding.line}, bytes {finding.offset} to {finding.offset + finding.length}"
        call.out.say(f"{place}: {call.out.style(finding.kind, style)}{detail}: {MEANINGS[finding.kind]}")
    left = sum(session.counts.values()) - len(session.findings)
    if left:
        call.out.say(f"… and {left} more.")
    state = "Damage was found; everything else can be searched." if damaged else "The file is sound."
    call.out.say(f"{len(session.entries)} entries, {session.size} bytes. {state}")
    return REFUSED if damaged else 0
