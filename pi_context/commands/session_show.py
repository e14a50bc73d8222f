"""`pi-context session show ENTRY`: an entry and its neighbours, verified."""

from typing import Any

from foundation.clock import iso
from foundation.errors import ContextError
from pi_context.call import Call
from pi_context.entries_seen import Seen, Viewer
from pi_context.output import plain
from pi_context.showing import day
from recall.evidence import Logs
from sessions.tree import Node, Outline, find_id

_MOST_NEIGHBOURS = 200


def show(call: Call) -> int:
    """Show an entry and its neighbours."""
    session, entry = _split(call.words["entry"])
    count = call.words["neighbours"] or 0
    if not 0 <= count <= _MOST_NEIGHBOURS:
        raise ContextError("invalid-range", f"Neighbours are 0 to {_MOST_NEIGHBOURS}.")
    with Logs() as logs:
        viewer = Viewer(call.around, logs, call.around.other_session(session) if session else None)
        wanted = find_id(viewer.outline.by_id, entry)
        seen = [viewer.look(node) for node in neighbours(viewer.outline, wanted, count)]
    if call.out.json:
        call.out.answer(
            {
                "sessionId": viewer.session_id,
                "file": call.around.told_path(viewer.outline.path),
                "entries": list(map(_told, seen)),
            }
        )
        return 0
    for number, each in enumerate(seen):
        if number:
            call.out.say()
        _show(call, each, wanted=each.node.id == wanted and len(seen) > 1)
    return 0


def neighbours(session: Outline, wanted: str, count: int) -> list[Node]:
    """Give an entry with `count` entries before and after it, along the branch that it is on.

    That is the branch of the leaf where it holds the entry, else the one that goes on from the entry's last child.
    """
    path = session.path_to(session.leaf)
    if all(node.id != wanted for node in path):
        children, tip = session.children(), wanted
        seen = {tip}
        while (below := children.get(tip)) and below[-1].id not in seen:
            tip = below[-1].id
            seen.add(tip)
        path = session.path_to(tip)
    at = next(number for number, node in enumerate(path) if node.id == wanted)
    return path[max(at - count, 0) : at + count + 1]


def _split(words: str) -> tuple[str, str]:
    """Split SESSION:ENTRY; a colon within the session's name belongs to it."""
    session, colon, entry = words.rpartition(":")
    return (session, entry) if colon else ("", words)


def _told(seen: Seen) -> dict[str, Any]:
    node, found = seen.node, seen.evidence
    told: dict[str, Any] = {
        "entryId": node.id, "parentId": node.parent, "type": node.type, "role": node.role,
        "timestamp": iso(node.timestamp) if node.timestamp is not None else None, "line": node.line,
    }  # fmt: skip
    if found is None:  # and no digest or length either, by which a short text could be guessed
        return told | {"code": "privacy-omitted"}
    told |= {
        "offset": node.offset, "length": node.length, "sha256": seen.digest, "verified": True,
        "classification": found.classification, "text": found.text,
    }  # fmt: skip
    for name, number in (("redactions", found.redactions), ("masked", found.masked)):
        if number:
            told[name] = number
    return told


def _show(call: Call, seen: Seen, *, wanted: bool) -> None:
    out, node, found = call.out, seen.node, seen.evidence
    head = [
        plain(node.role or node.type),
        day(iso(node.timestamp)) if node.timestamp is not None else "",
        f"entry {plain(node.id)}",
    ]
    mark = out.style("▶ ", "bold") if wanted else ""
    out.say(mark + out.style(" · ".join(part for part in head if part), "cyan"))
    if found is None:
        out.say("(classified above what this audience may see)")
        return
    out.say(plain(found.text) or "(no searchable text)")
    told = f" · {found.redactions} redacted" if found.redactions else ""
    out.say(out.style(f"verified sha256 {seen.digest} · line {node.line}{told}", "dim"))
