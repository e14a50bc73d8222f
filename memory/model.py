"""The matter of memory as plain frozen data: entities, statements, removals, and all of them together.

Two time axes: `valid_from` and `valid_to` say when something was true in the world, `recorded_at` and `retracted_at`
when memory held it. All instants are milliseconds since 1970, UTC. Nothing here reads or writes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Status = Literal["proposed", "confirmed", "retracted"]
RemovalKind = Literal["entity", "name", "session", "fact"]

OWNER = "owner"
"""The id of the one entity that is always there and cannot be removed: the person whose memory this is."""

REMOVED, FORGOT, RESTORED = "removed", "forgot", "restored"
"""Reasons of a statement's status: its entity was removed, the owner forgot it, it came back."""


class Entity(NamedTuple):
    """Something that statements are about. One that was merged stands for `merged_into` in every read."""

    id: str
    kind: str
    label: str
    aliases: tuple[str, ...] = ()
    created_at: int = 0
    merged_into: str = ""
    removed_at: int | None = None


class Statement(NamedTuple):
    """One claim: subject, predicate, and as object either an entity or a literal value, the other one empty.

    An unknown `valid_from` counts from `recorded_at`. `supersedes` names the statement whose end this one is; `single`
    tells that its predicate has one value at a time. `evidence` are entry ids or other words of where it comes from.
    """

    id: str
    subject: str
    predicate: str
    object: str
    value: str
    status: Status
    recorded_at: int
    reason: str = ""
    valid_from: int | None = None
    valid_to: int | None = None
    retracted_at: int | None = None
    supersedes: str = ""
    single: bool = False
    evidence: tuple[str, ...] = ()

    def holds(self, at: int) -> bool:
        """Tell whether memory holds it and it is true at an instant."""
        start = self.valid_from if self.valid_from is not None else self.recorded_at
        return self.status != "retracted" and start <= at and (self.valid_to is None or at < self.valid_to)


class Before(NamedTuple):
    """What a statement was before a removal withdrew it, so that restoring gives exactly that back."""

    statement: str
    status: Status
    reason: str


class NameDigest(NamedTuple):
    """A name that was deleted for good: the keyed digest of its folded form, and the id of the key.

    `words` counts its words; where its script has no spaces it is 0, and `characters` tells how long it is.
    """

    digest: str
    key_id: str
    words: int
    characters: int
    fold_version: int


class Removal(NamedTuple):
    """A row of the ledger: what the owner took away, and what went with it.

    `keys` are the folded names that it suppresses: that of a name, those of an entity with its aliases. Once deleted
    for good (`permanent`) `keys` is empty, `digests` stand for them, and `label` is neutral. `in_parts` suppresses a
    name also where it is a part of an identifier.
    """

    id: str
    kind: RemovalKind
    target: str
    label: str
    removed_at: int
    keys: tuple[str, ...] = ()
    cascade: tuple[Before, ...] = ()
    permanent: bool = False
    digests: tuple[NameDigest, ...] = ()
    in_parts: bool = False


class Memory(NamedTuple):
    """Everything that is remembered of one project, and everything that was taken away. `digest` names this state."""

    entities: Mapping[str, Entity] = MappingProxyType({})
    statements: Mapping[str, Statement] = MappingProxyType({})
    removals: Mapping[str, Removal] = MappingProxyType({})
    digest: str = ""


class Change(NamedTuple):
    """What a step makes of memory: records as they are from now on, and the ids of removals that are gone."""

    entities: tuple[Entity, ...] = ()
    statements: tuple[Statement, ...] = ()
    removals: tuple[Removal, ...] = ()
    restored: tuple[str, ...] = ()

    def then(self, other: "Change") -> "Change":
        """Give both changes as one, this one first."""
        return Change(
            self.entities + other.entities,
            self.statements + other.statements,
            self.removals + other.removals,
            self.restored + other.restored,
        )


def with_change(memory: Memory, change: Change, digest: str = "") -> Memory:
    """Give memory after a change."""
    removals = {name: row for name, row in memory.removals.items() if name not in change.restored}
    return Memory(
        {**memory.entities, **{each.id: each for each in change.entities}},
        {**memory.statements, **{each.id: each for each in change.statements}},
        {**removals, **{each.id: each for each in change.removals}},
        digest,
    )
