"""Remove, list, restore, delete for good: what each makes of memory, told before it is done. Pure.

A removal keeps what it needs to be taken back exactly. Only restoring lifts a suppression; a later confirmed fact
overrides it where it is shown, and says so.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from foundation.canonical import dumps
from foundation.errors import ContextError
from memory.batches import Batch
from memory.claims import Identify, canonical_id, found, live_entities, reinstated, restored_fact, retracted
from memory.model import (
    FORGOT,
    OWNER,
    REMOVED,
    Before,
    Change,
    Entity,
    Memory,
    NameDigest,
    Removal,
    RemovalKind,
    Statement,
    with_change,
)
from memory.names import Fold, canonical, key

ENTITY: Final = "entity"
NAME: Final = "name"
SESSION: Final = "session"
FACT: Final = "fact"
KINDS: tuple[RemovalKind, ...] = (ENTITY, NAME, SESSION, FACT)

_LEAST = 2
_LETTER = re.compile(r"[^\W\d_]")

Digest = Callable[[str], NameDigest]
"""Gives the keyed digest of a folded name."""


class Target(NamedTuple):
    """What is to be removed. Of a session `target` is its whole id, `label` what it is called in the list."""

    kind: RemovalKind
    target: str
    label: str = ""
    in_parts: bool = False


class Effect(NamedTuple):
    """What removing one target would do: the row that it gets, what goes with it, and whether it is removed already."""

    row: Removal
    change: Change
    statements: tuple[Statement, ...] = ()
    already: bool = False


class Refused(NamedTuple):
    """A removal that could not be deleted for good, and why."""

    id: str
    code: str


def effects(memory: Memory, targets: Sequence[Target], *, at: int, identify: Identify, fold: Fold) -> list[Effect]:
    """Tell what removing all of these would do; one that cannot be removed refuses all. Raises ContextError."""
    told: list[Effect] = []
    for target in targets:
        effect = _effect(memory, target, at=at, identify=identify, fold=fold)
        memory = with_change(memory, effect.change)
        told.append(effect)
    return told


def removed(told: Sequence[Effect]) -> Change:
    """Give the change that these effects are together."""
    whole = Change()
    for effect in told:
        whole = whole.then(effect.change)
    return whole


def rows(memory: Memory) -> list[Removal]:
    """List what was removed, the newest first: the ledger, and the facts that the owner forgot."""
    facts = [
        Removal(claim.id, FACT, claim.id, "", claim.retracted_at or 0)
        for claim in memory.statements.values()
        if claim.status == "retracted" and claim.reason == FORGOT
    ]
    return sorted([*memory.removals.values(), *facts], key=lambda row: (-row.removed_at, row.id))


def restored(memory: Memory, row_id: str) -> Change:
    """Take a removal back, exactly where nothing was written between. Raises ContextError `removal-unknown`."""
    row = next((row for row in rows(memory) if row.id == row_id), None)
    if row is None:
        raise ContextError("removal-unknown")
    if row.kind == FACT:
        return restored_fact(memory, row.target)
    change = Change(restored=(row.id,))
    if row.kind != ENTITY or row.permanent:
        return change
    change = change.then(Change(entities=(memory.entities[row.target]._replace(removed_at=None),)))
    for before in row.cascade:
        claim = memory.statements.get(before.statement)
        if claim is not None and claim.status == "retracted" and claim.reason == REMOVED:
            back = claim._replace(status=before.status, reason=before.reason, retracted_at=None)
            change = change.then(reinstated(with_change(memory, change), back))
    return change


def deleted(
    memory: Memory, batches: Sequence[Batch], ids: Sequence[str], *, at: int, digest: Digest
) -> tuple[list[Batch], list[str], list[Refused]]:
    """Delete removed things for good: give the changes as they are to stand from now on, what goes, what is refused.

    No line keeps a name or a text of what goes; a suppression stays, as a digest.
    """
    listed = {row.id: row for row in rows(memory)}
    gone: list[Removal] = []
    refused: list[Refused] = []
    for row_id in dict.fromkeys(ids):
        row = listed.get(row_id)
        why = _why_not(memory, row)
        if why or row is None:
            refused.append(Refused(row_id, why))
        else:
            gone.append(row)
    if not gone:
        return list(batches), [], refused
    entities = {row.target for row in gone if row.kind == ENTITY}
    statements = {row.target for row in gone if row.kind == FACT} | {
        claim.id for claim in memory.statements.values() if entities & {claim.subject, claim.object}
    }
    entities |= _known_only_by(memory, statements)
    numbers = sum(row.permanent for row in memory.removals.values())
    kept = [
        row._replace(
            label=f"deleted {row.kind} #{numbers + number}", keys=(), cascade=(), permanent=True,
            digests=tuple(map(digest, row.keys)), target=row.target if row.kind == SESSION else row.id,
        )
        for number, row in enumerate((row for row in gone if row.kind != FACT), 1)
    ]  # fmt: skip
    rids = {row.id for row in gone}
    left = [batch._replace(change=_without(batch.change, entities, statements, rids)) for batch in batches]
    return [*left, Batch(at, Change(removals=tuple(kept)))], [row.id for row in gone], refused


def previously_removed(memory: Memory, entity: Entity, fold: Fold) -> bool:
    """Tell whether the name of an entity that is shown was taken away before."""
    names = _keys(entity, fold)
    return any(names & set(row.keys) for row in memory.removals.values())


def plan_id(memory: Memory, told: object) -> str:
    """Name what would be done, and the memory that it would be done to."""
    from hashlib import sha256

    return sha256(dumps([memory.digest, told]).encode()).hexdigest()[:32]


def _effect(memory: Memory, target: Target, *, at: int, identify: Identify, fold: Fold) -> Effect:
    match target.kind:
        case "fact":
            claim = found(memory, target.target)
            row = Removal(claim.id, FACT, claim.id, "", at)
            change = retracted(memory, claim.id, at=at, reason=FORGOT)
            return Effect(row, change, (claim,), already=claim.status == "retracted")
        case "entity":
            return _entity(memory, target, at=at, identify=identify, fold=fold)
        case "name":
            label, name = canonical(target.target, fold), key(target.target, fold)
            if len(name) < _LEAST or not _LETTER.search(name):
                raise ContextError("name-too-short")
            row = Removal(identify("rm_"), NAME, name, label, at, keys=(name,), in_parts=target.in_parts)
        case _:
            row = Removal(identify("rm_"), SESSION, target.target, target.label, at)
    return _listed(memory, row) or Effect(row, Change(removals=(row,)))


def _entity(memory: Memory, target: Target, *, at: int, identify: Identify, fold: Fold) -> Effect:
    entity = memory.entities.get(target.target)
    if entity is None:
        named = live_entities(memory, target.target, fold)
        if len(named) > 1:
            raise ContextError("entity-ambiguous")
        entity = named[0] if named else _removed_entity(memory, target.target, fold)
    if entity is None or entity.id == OWNER:
        raise ContextError("entity-unknown")
    entity = memory.entities[canonical_id(memory, entity.id)]
    keys = tuple(sorted(_keys(entity, fold)))
    row = Removal(identify("rm_"), ENTITY, entity.id, entity.label, at, keys=keys, in_parts=target.in_parts)
    if (listed := _listed(memory, row)) is not None:
        return listed
    own = {each.id for each in memory.entities.values() if canonical_id(memory, each.id) == entity.id}
    live = tuple(
        claim
        for claim in memory.statements.values()
        if own & {claim.subject, claim.object} and claim.status != "retracted"
    )
    gone = tuple(claim._replace(status="retracted", reason=REMOVED, retracted_at=at) for claim in live)
    row = row._replace(cascade=tuple(Before(claim.id, claim.status, claim.reason) for claim in live))
    return Effect(row, Change((entity._replace(removed_at=at),), gone, (row,)), live)


def _removed_entity(memory: Memory, name: str, fold: Fold) -> Entity | None:
    wanted = key(name, fold)
    gone = [each for each in memory.entities.values() if each.removed_at is not None and wanted in _keys(each, fold)]
    return max(gone, key=lambda each: (each.removed_at, each.id), default=None)


def _keys(entity: Entity, fold: Fold) -> set[str]:
    return {key(name, fold) for name in (entity.label, *entity.aliases)}


def _listed(memory: Memory, row: Removal) -> Effect | None:
    """Give the effect of removing once more what is removed already: none, and the first row."""
    for known in memory.removals.values():
        if (known.kind, known.target) == (row.kind, row.target):
            return Effect(known, Change(), already=True)
    return None


def _why_not(memory: Memory, row: Removal | None) -> str:
    if row is None:
        return "removal-unknown"
    if row.permanent:
        return "deleted-already"
    if row.kind == ENTITY:
        if any(other.merged_into == row.target for other in memory.entities.values()):
            return "entity-merged"
        if any(
            row.target in (claim.subject, claim.object) and claim.status != "retracted"
            for claim in memory.statements.values()
        ):
            return "fact-holds"
    return ""


def _known_only_by(memory: Memory, statements: set[str]) -> set[str]:
    """List the entities that nothing but these statements speaks of."""
    named: dict[bool, set[str]] = {True: set(), False: {row.target for row in memory.removals.values()}}
    for claim in memory.statements.values():
        named[claim.id in statements] |= {claim.subject, claim.object}
    return named[True] - named[False] - {"", OWNER}


def _without(change: Change, entities: set[str], statements: set[str], rows_gone: set[str]) -> Change:
    return Change(
        tuple(each for each in change.entities if each.id not in entities),
        tuple(each for each in change.statements if each.id not in statements),
        tuple(each for each in change.removals if each.id not in rows_gone),
        change.restored,
    )
