"""From what was removed to what may be seen: makes the gate of one memory, or of several where all are looked into."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from foundation.canonical import dumps
from foundation.errors import ContextError
from memory.masking import Hashed, Names, Prepared, merged, prepared
from memory.model import Memory, Removal
from memory.names import FOLD_VERSION, Fold, key
from memory.visibility import Visibility

Signer = Callable[[str, str], str]
"""Gives the digest of a folded name under the key with an id. Raises ContextError `ledger-unreadable`."""


class Sight(NamedTuple):
    """What of one memory decides on what may be seen, as plain data.

    `until` is an instant at which it may change by itself, in milliseconds since 1970; `key_id` names the key of the
    digests, empty where there are none.
    """

    sessions: tuple[str, ...]
    deleted_sessions: tuple[str, ...]
    names: Prepared
    key_id: str
    until: int | None
    digest: str


def sight_of(memory: Memory, signer: Signer, *, now: int, fold: Fold) -> Sight:
    """Work out what of a memory decides. A confirmed fact that holds now and names an entity shows its name again.

    Raises ContextError `ledger-unreadable` where a deleted name's key is gone.
    """
    shown = _confirmed_names(memory, now, fold)
    rows = memory.removals.values()
    keys: dict[str, bool] = {}
    hashed: dict[Hashed, str] = {}
    for row in rows:
        for name in row.keys:
            if name not in shown:
                keys[name] = keys.get(name, False) or row.in_parts
        hashed |= _hashed(row, signer, shown)
    turns = [at for claim in memory.statements.values() for at in (claim.valid_from, claim.valid_to) if at and at > now]
    names = prepared(keys, list(hashed))
    sessions = sorted(row.target for row in rows if row.kind == "session")
    said = [sessions, sorted(keys.items()), sorted(each.digest for each in hashed)]
    return Sight(
        tuple(sessions), tuple(sorted(row.target for row in rows if row.kind == "session" and row.permanent)), names,
        _one_of(set(hashed.values())), min(turns, default=None),
        sha256(dumps(said).encode()).hexdigest() if any(said) else "",
    )  # fmt: skip


def visibility(sights: Sequence[Sight], signer: Signer) -> Visibility:
    """Make the gate of one memory, or of all where all are looked into."""
    names = merged([sight.names for sight in sights]) if len(sights) != 1 else sights[0].names
    key_id = _one_of({sight.key_id for sight in sights} - {""})
    sign = (lambda name: signer(key_id, name)) if key_id else None
    if key_id:
        signer(key_id, "")  # that the key is there is known before anything is shown
    sessions = frozenset(name for sight in sights for name in sight.sessions)
    digests = [sight.digest for sight in sights if sight.digest]
    return Visibility(
        sessions,
        Names(names, sign) if names.by_word or names.anywhere or names.hashed else None,
        digests[0] if len(digests) == 1 else sha256(dumps(digests).encode()).hexdigest() if digests else "",
        deleted=Names(prepared({}, names.hashed), sign) if names.hashed else None,
        deleted_sessions=frozenset(name for sight in sights for name in sight.deleted_sessions),
    )


def _hashed(row: Removal, signer: Signer, shown: Iterable[str]) -> dict[Hashed, str]:
    """Give what is known of deleted names; those that a confirmed fact shows again are left out."""
    if not row.digests:
        return {}
    again = {(each.key_id, signer(each.key_id, name)) for each in row.digests for name in shown}
    if any(each.fold_version != FOLD_VERSION for each in row.digests):
        raise ContextError("ledger-unreadable")
    return {
        Hashed(each.digest, each.words, each.characters): each.key_id
        for each in row.digests
        if (each.key_id, each.digest) not in again
    }


def _one_of(key_ids: set[str]) -> str:
    """Give the one key of all digests: an installation has one, and another one's rows could not be judged."""
    if len(key_ids) > 1:
        raise ContextError("ledger-unreadable")
    return next(iter(key_ids), "")


def _confirmed_names(memory: Memory, now: int, fold: Fold) -> set[str]:
    """List the folded names of the entities that a confirmed fact names now."""
    named = {
        entity_id
        for claim in memory.statements.values()
        if claim.status == "confirmed" and claim.holds(now)
        for entity_id in (claim.subject, claim.object)
    }
    entities = [memory.entities[name] for name in named if name in memory.entities]
    return {
        key(text, fold) for entity in entities if entity.removed_at is None for text in (entity.label, *entity.aliases)
    }
