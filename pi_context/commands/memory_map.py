"""`pi-context memory map` and `memory test-sessions`: what memory looks like, and sessions that may be none."""

import os

from foundation.canonical import Json
from foundation.durable import write_atomically
from foundation.errors import ContextError
from memory import removing
from memory.batches import Batch
from memory.changing import appended
from memory.ledger import load
from memory.mapping import Map, drawn
from memory.model import Memory
from memory.picturing import page
from memory.removing import Target
from memory.sources import any_of
from pi_context import environment, filters_seen, memories
from pi_context.call import Call
from pi_context.commands.memory_facts import instant
from pi_context.erasing import follow
from pi_context.output import plain
from pi_context.summaries import summaries
from privacy.audiences import allowed_classes
from recall.scope import project_files
from sessions.locating import canonical, read_header, session_id
from sessions.tree import outline

SCHEMA, REVIEW = "context-map-v1", "context-test-sessions-v1"

_KINDS = {"entity": "thing", "name": "name", "session": "session"}


def draw(call: Call) -> int:
    """Draw the map: as JSON, as lines, or as a page for a browser."""
    found = _map(call)
    if call.words["html"]:
        return _page(call, found)
    for warning in found.warnings:
        call.out.note(f"! {plain(warning)}")
    if call.out.json:
        call.out.answer(_told(found))
        return 0
    for node in found.nodes:
        if node.kind in _KINDS:
            again = "  was removed before" if node.previously_removed else ""
            call.out.say(f"{_KINDS[node.kind]:<8} {plain(node.label)}{call.out.style(again, 'dim')}")
    if len(found.nodes) == 1:
        call.out.say("Nothing is on the map yet: no fact, and no name that several summaries list.")
    elif call.around.owner:
        call.out.note("As a page for a browser: pi-context memory map --html FILE")
    return 0


def review(call: Call) -> int:
    """Offer the sessions that do not look like real ones; with `--remove` remove all that are offered."""
    call.around.require_owner()
    offered = _offered(call)
    done = bool(call.words["remove"] and offered)
    if done:
        _remove(call, [row["sessionId"] for row in offered])
    if call.out.json:
        call.out.answer({"schema": REVIEW, "sessions": offered, "removed": done})
        return 0
    for row in offered:
        call.out.say(f"{plain(row['sessionId'])}  {'; '.join(row['reasons'])}")
    if not offered:
        call.out.say("No session is offered. What real ids look like: sessions.realPatterns in memory.yaml.")
    elif done:
        call.out.say(f"Removed: {len(offered)} sessions; see pi-context memory removed.")
    return 0


def _remove(call: Call, identities: list[str]) -> None:
    around, targets = call.around, [Target("session", identity) for identity in identities]
    with memories.holding(around, follow(around)) as held:
        now, fold = environment.clock(), memories.fold_of(around)
        told = removing.effects(held.memory, targets, at=now, identify=memories.identify, fold=fold)
        after = appended(held.data, Batch(now, removing.removed(told)))
        outcome = memories.carry_out(held, after, op="remove", plan_id=removing.plan_id(held.memory, identities))
    if outcome.error is not None:
        raise outcome.error


def _map(call: Call) -> Map:
    around = call.around
    if around.visibility.closed:
        raise ContextError("ledger-unreadable")
    filters = filters_seen.load(around.own_folder)
    asked = instant(call.words["as_of"])
    at = environment.clock() if asked is None else asked
    found, names = summaries(around)
    values = around.configuration.values
    may_see = values["privacy.defaultClassification"] in allowed_classes(around.audience, values)
    memory = memories.load(around)
    made = drawn(
        memory if may_see else Memory(), found, filters, around.visibility, at=at,
        excluded=filters_seen.excluded(filters.fold), names=names,
    )  # fmt: skip
    return made._replace(warnings=(*filters.warnings, *made.warnings))


def _page(call: Call, found: Map) -> int:
    """Write the page; only for the owner, for it lists what was removed."""
    call.around.require_owner()
    path = os.path.abspath(os.path.join(call.around.current_folder, os.path.expanduser(call.words["html"])))
    folder, sessions = os.path.dirname(path), os.path.join(call.around.agent_dir, "sessions")
    if not os.path.isdir(folder) or os.path.realpath(folder).startswith(os.path.realpath(sessions) + os.sep):
        raise ContextError("file-missing", "There is no such folder, or it is one of sessions.")
    if os.path.isdir(path) or (os.path.lexists(path) and not call.words["force"]):
        raise ContextError("file-exists")
    rows = removing.rows(memories.load(call.around))
    data = page(found, rows, project=os.path.basename(canonical(call.around.project))).encode("utf-8", "replace")
    write_atomically(call.around.disk, path, data)
    if call.out.json:
        call.out.answer({"schema": SCHEMA, "file": path, "nodes": len(found.nodes), "edges": len(found.edges)})
    else:
        call.out.say(f"Written: {plain(path)}")
    return 0


def _told(found: Map) -> Json:
    nodes = [
        {
            "id": node.id, "kind": node.kind, "label": node.label,
            "ref": {"kind": node.ref[0], "id": node.ref[1]} if node.ref else None,
            **({"previouslyRemoved": True} if node.previously_removed else {}),
        }
        for node in found.nodes
    ]  # fmt: skip
    edges = [
        {"from": edge.source, "to": edge.target, "kind": edge.kind, "label": edge.label}
        | ({"status": edge.status, "id": edge.id} if edge.id else {})
        for edge in found.edges
    ]
    return {"schema": SCHEMA, "nodes": nodes, "edges": edges, "warnings": list(found.warnings)}


def _offered(call: Call) -> list[Json]:
    """List sessions whose id is like none of the owner's patterns; without patterns there are none.

    Stays open where the ledger cannot be read: it is where the owner cleans up.
    """
    around = call.around
    filters = filters_seen.load(around.own_folder)
    patterns = filters.values["sessions.realPatterns"]
    is_real, bad = any_of(patterns)
    if len(bad) == len(patterns):
        return []
    try:
        removed = {row.target for row in load(memories.folder_of(around)).removals.values()}
    except ContextError:
        removed = set()
    rows: list[Json] = []
    for file in project_files(around.files, None, canonical(around.project)):
        identity = session_id(file.path, read_header(file.path))
        if identity in removed or filters.is_ephemeral(identity) or is_real(identity):
            continue
        turns = sum(node.role == "user" for node in outline(file.path).entries)
        few = [f"only {turns} turns"] if turns <= filters.values["sessions.fewTurns"] else []
        rows.append({"sessionId": identity, "reasons": ["its id is not like a real session's", *few]})
    return rows
