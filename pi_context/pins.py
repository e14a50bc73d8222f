"""The door's side of pins and session memory: what the session remembers, and what an entry must say to change it.

The shell only lists: a session's log is written by Pi alone.
"""

import hmac
import os
from hashlib import sha256

from foundation.canonical import Json
from foundation.clock import iso
from foundation.errors import ContextError
from foundation.texts import RawText
from memory import pinned
from memory.pins import WRITTEN, Item, Mutation, Replayed, Wish, data_of, replay, thawed
from pi_context import environment, rebases
from pi_context.entries_seen import current
from pi_context.exclusions import excluded_sessions
from pi_context.memories import check_words, identify, need_enabled
from pi_context.surroundings import Surroundings
from privacy.audiences import allowed_classes
from privacy.classes import highest
from privacy.markers import classify
from privacy.redaction import redact
from rebase.lineage import head_link
from recall.scope import project_files
from sessions.locating import canonical, read_header, session_id
from sessions.tree import outline

VALID_MS = 10 * 60 * 1000
"""How long a revision may be used that a model was given."""

_SECRET = os.urandom(16)


def state_of(around: Surroundings) -> Replayed:
    """Give what the current session remembers: its own, what it inherited, and the project's where that is allowed.

    Raises ContextError `memory-disabled`, `no-session`, `lineage-unverified`, `ledger-unreadable`.
    """
    need_enabled(around)
    if around.visibility.closed:
        raise ContextError("ledger-unreadable")
    file = current(around)
    identity = session_id(file.path, read_header(file.path))
    session = outline(file.path, leaf=around.words["leaf"])
    branch = {node.id for node in session.path_to(session.leaf)}
    own = head_link(file.path, rebases.verifier(around))
    inherited: list[Item] = []
    if own is not None and own.handoff_id in branch:
        kept_out = excluded_sessions(around.own_folder) | around.visibility.hidden_sessions
        items = thawed([*own.checkpoint.pins, *own.checkpoint.memories])
        inherited = [item for item in items if item.session not in kept_out]
    found = [*pinned.mutations(file.path, identity), *_of_project(around, file.path)]
    return replay(found, on_branch=branch.__contains__, inherited=inherited)


def listed(around: Surroundings, state: Replayed) -> list[Json]:
    """Give what holds as this audience may see it."""
    values = around.configuration.values
    allowed, default = allowed_classes(around.audience, values), values["privacy.defaultClassification"]
    rows = []
    for item in state.items:
        classification = highest(default, item.classification or default, classify(RawText(item.text)) or default)
        if item.status != "active" or classification not in allowed:
            continue
        row: Json = {
            "id": item.id, "kind": item.kind, "scope": item.scope,
            "text": around.visibility.mask(redact(RawText(item.text)).text).text, "classification": classification,
            "createdAt": iso(item.created_at), "sessionId": item.session, "entryId": item.entry,
        }  # fmt: skip
        rows.append(row | ({"key": item.key} if item.key else {}) | ({"inherited": True} if item.inherited else {}))
    return rows


def entry_for(around: Surroundings, wish: Wish, state: Replayed) -> Json:
    """Give the entry that Pi has to append to make a wish come true. Raises ContextError where it may not be."""
    check_words(around, (wish.reason,))
    if redact(RawText(wish.text)).count:
        raise ContextError("claim-holds-secret")
    session = outline(current(around).path, leaf=around.words["leaf"])
    data = data_of(
        wish, state, around.configuration.values, now=environment.clock(), identify=identify,
        leaf=session.leaf or "", project=canonical(around.project),
    )  # fmt: skip
    return {"customType": WRITTEN[wish.kind], "data": data}


def revision_of(state: Replayed, now: int) -> str:
    """Give a token for the present state, for a change that a model asks for; it ends after ten minutes."""
    ends = now + VALID_MS
    return f"{ends:x}.{_mac(state, ends)}"


def check_revision(state: Replayed, token: str, now: int) -> None:
    """Refuse a change that was thought up over another state, or too long ago; raises ContextError `revision-stale`."""
    ends, _, mac = token.partition(".")
    try:
        until = int(ends, 16)
    except ValueError:
        until = 0
    if until < now or not hmac.compare_digest(mac, _mac(state, until)):
        raise ContextError("revision-stale")


def _mac(state: Replayed, ends: int) -> str:
    return hmac.new(_SECRET, f"{state.revision}.{ends}".encode(), sha256).hexdigest()[:24]


def _of_project(around: Surroundings, own: str) -> list[Mutation]:
    """List what the project's other sessions say for all of it, where their memory may be used."""
    if not around.configuration.values["memory.crossSession"] or not around.trusted:
        return []
    kept_out = excluded_sessions(around.own_folder) | around.visibility.hidden_sessions
    found: list[Mutation] = []
    files = project_files(around.files, None, canonical(around.project))
    for file in files[: around.configuration.values["historyTools.maxProjectSessions"]]:
        identity = session_id(file.path, read_header(file.path))
        if file.path != own and identity not in kept_out:
            found += [each for each in pinned.mutations(file.path, identity) if _for_project(each)]
    return found


def _for_project(mutation: Mutation) -> bool:
    data = mutation.data if isinstance(mutation.data, dict) else {}
    item = data.get("item")
    return data.get("operation") == "status" or (isinstance(item, dict) and item.get("scope") == "project")
