"""The map: what is remembered as nodes and edges, each node with what `memory remove` takes for it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memory.claims import canonical_id
from memory.filters import Filters
from memory.model import OWNER, Entity, Memory, Statement
from memory.names import key
from memory.sources import Mention, Summary, mentions
from memory.visibility import Visibility


class Node(NamedTuple):
    """Something on the map; `ref` is kind and target for `memory remove`, None where it cannot be removed."""

    id: str
    kind: str
    label: str
    ref: tuple[str, str] | None
    previously_removed: bool = False


class Edge(NamedTuple):
    """A fact between two nodes, or that a session mentions a name."""

    source: str
    target: str
    kind: str
    label: str
    status: str = ""
    id: str = ""


class Map(NamedTuple):
    """All of it, and what was wrong with the filters."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    warnings: tuple[str, ...]


def drawn(
    memory: Memory, summaries: Sequence[Summary], filters: Filters, visibility: Visibility,
    *, at: int, excluded: frozenset[str] = frozenset(), names: Mapping[str, str] | None = None,
) -> Map:  # fmt: skip
    """Draw the map as it was at an instant; `names` are those of sessions by their ids."""
    fold = filters.fold
    suppressed = {name for row in memory.removals.values() for name in row.keys}
    claims = [
        claim for claim in memory.statements.values() if claim.holds(at) and _may_be_drawn(memory, claim, visibility)
    ]
    named = {canonical_id(memory, name) for claim in claims for name in (claim.subject, claim.object)} - {"", OWNER}
    entities = [memory.entities[name] for name in sorted(named) if name in memory.entities]
    shown = {key(text, fold): each for each in entities for text in (each.label, *each.aliases)}
    found, warnings = mentions(memory, summaries, filters, visibility, excluded, shown)
    nodes = [Node(OWNER, "owner", OWNER, None)]
    nodes += [_entity(each, fold_keys=suppressed & {key(each.label, fold)}) for each in entities]
    nodes += [
        Node(f"name:{each.name}", "name", each.label, ("name", each.label))
        for each in {each.name: each for each in found if not each.entity}.values()
    ]
    sessions = dict.fromkeys(each.session for each in found)
    nodes += [
        Node(f"session:{name}", "session", (names or {}).get(name) or name, ("session", name)) for name in sessions
    ]
    edges = [_fact(memory, claim, visibility) for claim in claims] + [_mention(each) for each in found]
    return Map(tuple(nodes), tuple(dict.fromkeys(edges)), warnings)


def _may_be_drawn(memory: Memory, claim: Statement, visibility: Visibility) -> bool:
    """Tell whether a fact is drawn: a proposed one not where a name in it is suppressed."""
    texts = [memory.entities[name].label for name in (claim.subject, claim.object) if name in memory.entities]
    return claim.status == "confirmed" or not any(visibility.suppresses(text) for text in (*texts, claim.value) if text)


def _entity(entity: Entity, *, fold_keys: set[str]) -> Node:
    return Node(entity.id, "entity", entity.label, ("entity", entity.id), previously_removed=bool(fold_keys))


def _fact(memory: Memory, claim: Statement, visibility: Visibility) -> Edge:
    subject, target = canonical_id(memory, claim.subject), canonical_id(memory, claim.object) if claim.object else ""
    said = claim.predicate if target else f"{claim.predicate} {claim.value}"
    label = said if visibility.names is None else visibility.names.masked(said)[0]
    return Edge(subject, target or subject, "fact", label, claim.status, claim.id)


def _mention(each: Mention) -> Edge:
    return Edge(f"session:{each.session}", each.entity or f"name:{each.name}", "mention", "mentions")
