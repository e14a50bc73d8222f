"""Pins and session memory: what the owner wants kept, as entries of the session itself, never edited in place.

The log holds mutations; what holds now is their replay. A checkpoint freezes what a session has, and the session that
goes on from it lays its own mutations over that. Everything here is pure.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from foundation.canonical import dumps, tokens
from foundation.clock import iso
from foundation.errors import ContextError
from foundation.settings import CLASSES, Values

Kind = Literal["pin", "memory"]

TYPES: Mapping[str, Kind] = {
    "context-pin-v1": "pin", "context-memory-v1": "memory",
    "ds4-context-pin-v1": "pin", "ds4-context-memory-v1": "memory",
}  # fmt: skip
"""The custom types of mutations; the older ones are read, and never written."""

WRITTEN: Mapping[Kind, str] = {"pin": "context-pin-v1", "memory": "context-memory-v1"}
SCOPES: Mapping[Kind, tuple[str, ...]] = {"pin": ("session", "branch", "project"), "memory": ("session", "project")}
ENDS: Mapping[Kind, tuple[str, ...]] = {"pin": ("deleted",), "memory": ("invalid", "expired")}

ACTIVE, SUPERSEDED = "active", "superseded"
MOST_FROZEN = 1000
LONGEST_REASON = 500

_KEYED = re.compile(r"^(.{1,80}?)\s+(?:is|defaults to|=)\s+\S", re.IGNORECASE | re.DOTALL)
_DENIES = re.compile(r"\b(?:(?:do|does|did) not|(?:do|does|did)n't|not|never|no)\b\s*|n't\b", re.IGNORECASE)


class Item(NamedTuple):
    """A pin or a memory. `session`, `entry` and `parent` say where it was made, `branch_leaf` from which leaf.

    `created_at` in milliseconds since 1970. `inherited` tells that it came with a checkpoint.
    """

    kind: Kind
    id: str
    scope: str
    text: str
    created_at: int
    session: str
    entry: str
    parent: str = ""
    key: str = ""
    classification: str = ""
    branch_leaf: str = ""
    project: str = ""
    sources: tuple[str, ...] = ()
    status: str = ACTIVE
    superseded_by: str = ""
    reason: str = ""
    inherited: bool = False


class Mutation(NamedTuple):
    """An entry that changes pins or memory, as the log has it; `at` in milliseconds, `order` its place in the log."""

    kind: Kind
    data: Any
    at: int
    session: str
    order: int
    entry: str
    parent: str


class Replayed(NamedTuple):
    """What mutations come to, in the order in which items were made, and codes of what did not count."""

    items: tuple[Item, ...]
    warnings: tuple[str, ...]

    def active(self, kind: Kind) -> list[Item]:
        """List what holds of a kind."""
        return [item for item in self.items if item.kind == kind and item.status == ACTIVE]

    @property
    def revision(self) -> str:
        """Name this state."""
        return sha256(dumps([list(item) for item in self.items]).encode()).hexdigest()[:24]


class Wish(NamedTuple):
    """A change that somebody wants: `add` a text, `supersede` an item by one, or give it an end such as `deleted`."""

    kind: Kind
    operation: str
    text: str = ""
    id: str = ""
    scope: str = "session"
    key: str = ""
    reason: str = ""


def replay(
    mutations: Iterable[Mutation], *, on_branch: Callable[[str], bool], inherited: Sequence[Item] = ()
) -> Replayed:
    """Replay mutations over what a checkpoint froze; `on_branch` tells whether an entry lies on the live branch.

    First items come to be, then lifecycles apply, so that the order of writers does not matter. Malformed ones, and
    ids that are taken, do not count.
    """
    items: dict[tuple[Kind, str], Item] = {(item.kind, item.id): item._replace(inherited=True) for item in inherited}
    native: set[tuple[Kind, str]] = set()
    warnings: set[str] = set()
    known: list[Mutation] = []
    seen: set[str] = set()
    for mutation in sorted(mutations, key=lambda each: (each.at, each.session, each.order)):
        identity = mutation.data.get("mutationId") if isinstance(mutation.data, dict) else None
        if not isinstance(identity, str) or identity in seen or mutation.data.get("schemaVersion") != 1:
            warnings.add("memory-entry-malformed")
            continue
        seen.add(identity)
        known.append(mutation)
        made = _made(mutation)
        if made is None:
            if mutation.data.get("operation") in ("add", "supersede"):
                warnings.add("memory-entry-malformed")
        elif (made.kind, made.id) in native:
            warnings.add("memory-id-taken")
        elif _applies(made, on_branch):
            native.add((made.kind, made.id))
            items[made.kind, made.id] = made
    for mutation in known:
        warnings |= _lifecycle(items, mutation, on_branch)
    _settle_keys(items)
    return Replayed(tuple(items.values()), tuple(sorted(warnings)))


def data_of(wish: Wish, state: Replayed, values: Values, *, now: int, identify: Callable[[str], str], leaf: str,
            project: str) -> dict[str, Any]:  # fmt: skip
    """Give what an entry has to say to make a wish come true. Raises ContextError where it may not."""
    base = {"schemaVersion": 1, "mutationId": identify("mut_"), "operation": wish.operation, "createdAt": iso(now)}
    if len(wish.reason) > LONGEST_REASON:
        raise ContextError("memory-text-too-long")
    if wish.operation in ENDS[wish.kind]:
        item = _active(state, wish)
        ended = {f"{wish.kind}Id": item.id, "status": wish.operation}
        return base | {"operation": "status", **ended} | ({"reason": wish.reason} if wish.reason else {})
    if wish.operation not in ("add", "supersede") or wish.scope not in SCOPES[wish.kind]:
        raise ContextError("memory-wish-unknown")
    text = " ".join(wish.text.split())
    previous = _active(state, wish) if wish.operation == "supersede" else None
    scope = previous.scope if previous else wish.scope
    _check_text(wish.kind, text, values)
    if scope == "branch" and not leaf:
        raise ContextError("entry-not-found")
    key = wish.key or _key_of(text)
    others = [item for item in state.active(wish.kind) if previous is None or item.id != previous.id]
    _check_room(wish.kind, text, others, values)
    if any(item.scope == scope and item.text == text for item in others):
        raise ContextError("memory-said-already")
    if wish.kind == "memory" and any(_conflicts(item, text, key) for item in others if item.scope == scope):
        raise ContextError("memory-conflict")
    said = "content" if wish.kind == "pin" else "claim"
    made: dict[str, Any] = {"id": identify(f"{wish.kind}_"), "scope": scope, said: text, "createdAt": iso(now)}
    made |= {"branchLeafId": leaf} if scope == "branch" else {}
    made |= {"projectPath": project} if scope == "project" else {}
    made |= {"key": key} if key and wish.kind == "memory" else {}
    return base | ({"previousId": previous.id} if previous else {}) | {"item": made}


def freezable(state: Replayed) -> list[Item]:
    """List what a checkpoint carries on: what holds, and is not the project's, whose own entries say it again."""
    found = [item for item in state.items if item.status == ACTIVE and item.scope != "project"]
    if len(found) > 2 * MOST_FROZEN:
        raise ContextError("memory-too-much")
    return found


def frozen(item: Item, text: str) -> dict[str, Any]:
    """Write an item as a checkpoint holds it, with its text as it may be shown."""
    row = item._replace(text=text, inherited=False)._asdict()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items() if value != ""}


def thawed(rows: Iterable[Any]) -> list[Item]:
    """Read the items of a checkpoint, which is signed. Raises ContextError `lineage-unverified` for what is none."""
    try:
        return [Item(**{**row, "sources": tuple(row.get("sources", ()))}) for row in rows]
    except (TypeError, AttributeError) as error:
        raise ContextError("lineage-unverified") from error


def _made(mutation: Mutation) -> Item | None:
    """Give the item that a mutation makes; None where it makes none, or says it in no form that is known."""
    data = mutation.data
    said = data.get("item") if data.get("operation") in ("add", "supersede") else None
    if not isinstance(said, dict):
        return None
    text = said.get("content" if mutation.kind == "pin" else "claim")
    identity, scope, classification = said.get("id"), said.get("scope"), said.get("classification", "")
    if not isinstance(identity, str) or not identity or not isinstance(text, str) or not text.strip():
        return None
    if scope not in SCOPES[mutation.kind] or classification not in ("", *CLASSES):
        return None
    sources = said.get("sourceEntryIds", [said["sourceEntryId"]] if "sourceEntryId" in said else [])
    names = {name: said.get(field, "") for name, field in (("key", "key"), ("branch_leaf", "branchLeafId"),
                                                           ("project", "projectPath"))}  # fmt: skip
    if not all(isinstance(value, str) for value in (*names.values(), *sources)):
        return None
    return Item(
        mutation.kind, identity, scope, " ".join(text.split()), mutation.at, mutation.session, mutation.entry,
        parent=mutation.parent, classification=classification, sources=tuple(sources), **names,
    )  # fmt: skip


def _applies(item: Item, on_branch: Callable[[str], bool]) -> bool:
    """Tell whether an item is there on the live branch: one of a branch only where that branch grew from its leaf."""
    return item.scope != "branch" or not item.branch_leaf or on_branch(item.branch_leaf)


def _lifecycle(items: dict[tuple[Kind, str], Item], mutation: Mutation, on_branch: Callable[[str], bool]) -> set[str]:
    """Apply what a mutation says of an item that is there; give the codes of what did not count."""
    data, kind, operation = mutation.data, mutation.kind, mutation.data.get("operation")
    if operation not in ("supersede", "status"):
        return set()
    previous = data.get("previousId" if operation == "supersede" else f"{kind}Id")
    item = items.get((kind, previous)) if isinstance(previous, str) else None
    if item is None:
        return {"memory-item-unknown"}
    if item.status == ACTIVE and not (item.inherited and not on_branch(mutation.entry)):
        changed = _superseded(items, item, mutation) if operation == "supersede" else _ended(item, data)
        if changed is None:
            return {"memory-scope-crossed" if operation == "supersede" else "memory-entry-malformed"}
        items[kind, item.id] = changed
    return set()


def _superseded(items: Mapping[tuple[Kind, str], Item], item: Item, mutation: Mutation) -> Item | None:
    made = _made(mutation)
    if made is None or made.scope != item.scope or (made.kind, made.id) not in items:
        return None
    return item._replace(status=SUPERSEDED, superseded_by=made.id)


def _ended(item: Item, data: Mapping[str, Any]) -> Item | None:
    status, reason = data.get("status"), data.get("reason", "")
    if status not in ENDS[item.kind] or not isinstance(reason, str):
        return None
    return item._replace(status=status, reason=reason[:LONGEST_REASON])


def _settle_keys(items: dict[tuple[Kind, str], Item]) -> None:
    """Let the first of two memories with one key hold, and the later one be invalid."""
    held: set[tuple[str, str]] = set()
    for place, item in items.items():
        if item.kind == "memory" and item.key and item.status == ACTIVE:
            if (item.scope, item.key) in held:
                items[place] = item._replace(status="invalid", reason="another memory has its key")
            held.add((item.scope, item.key))


def _active(state: Replayed, wish: Wish) -> Item:
    named = [item for item in state.active(wish.kind) if wish.id and item.id.startswith(wish.id)]
    found = [item for item in named if item.id == wish.id] or named
    if len(found) != 1:
        raise ContextError("memory-item-unknown")
    return found[0]


def _check_text(kind: Kind, text: str, values: Values) -> None:
    if not text:
        raise ContextError("memory-wish-unknown")
    if len(text) > values["memory.maxPinChars" if kind == "pin" else "memory.maxClaimChars"]:
        raise ContextError("memory-text-too-long")


def _check_room(kind: Kind, text: str, others: Sequence[Item], values: Values) -> None:
    if kind == "pin" and sum(tokens(item.text) for item in others) + tokens(text) > values["memory.maxPinnedTokens"]:
        raise ContextError("memory-too-much")


def _key_of(text: str) -> str:
    """Give what a claim of the form `X is Y` is about."""
    found = _KEYED.match(text)
    return " ".join(found[1].casefold().split()) if found else ""


def _conflicts(item: Item, text: str, key: str) -> bool:
    """Tell whether two memories cannot both hold: about one thing, or the one denies the other."""
    same_key = bool(key) and key == (item.key or _key_of(item.text))
    plain, other = (_DENIES.sub("", said).casefold() for said in (text, item.text))
    return same_key or (plain == other and bool(_DENIES.search(text)) != bool(_DENIES.search(item.text)))
