"""From what was removed to what may be seen: makes the gate of one memory, or of several where all are looked into."""

from collections.abc import Callable, Iterable
from hashlib import sha256

from foundation.canonical import dumps
from foundation.errors import ContextError
from memory.masking import Hashed, Names
from memory.model import Memory, Removal
from memory.names import FOLD_VERSION, Fold, key
from memory.visibility import Visibility

Signer = Callable[[str, str], str]
"""Gives the digest of a folded name under the key with an id. Raises ContextError `ledger-unreadable`."""


def visibility(memories: Iterable[Memory], signer: Signer, *, now: int, fold: Fold = Fold()) -> Visibility:  # noqa: B008
    """Make the gate of one memory, or of all where all are looked into.

    A confirmed fact that holds now and names an entity shows its name again. Raises ContextError `ledger-unreadable`
    where a deleted name's key is gone.
    """
    keys: dict[str, bool] = {}
    hashed: dict[Hashed, str] = {}
    sessions: set[str] = set()
    gone: set[str] = set()
    for memory in memories:
        shown = _confirmed_names(memory, now, fold)
        for row in memory.removals.values():
            if row.kind == "session":
                sessions.add(row.target)
                gone |= {row.target} if row.permanent else set()
            for name in row.keys:
                if name not in shown:
                    keys[name] = keys.get(name, False) or row.in_parts
            hashed |= _hashed(row, signer, shown)
    said = [sorted(sessions), sorted(keys.items()), sorted(each.digest for each in hashed)]
    digest = sha256(dumps(said).encode()).hexdigest() if any(said) else ""
    sign = _one_of(set(hashed.values()), signer)
    names = Names(keys, list(hashed), sign) if keys or hashed else None
    deleted = Names({}, list(hashed), sign) if hashed else None
    return Visibility(frozenset(sessions), names, digest, deleted=deleted, deleted_sessions=frozenset(gone))


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


def _one_of(key_ids: set[str], signer: Signer) -> Callable[[str], str] | None:
    if not key_ids:
        return None
    (key_id,) = key_ids  # an installation has one key; another one's rows could not be judged
    signer(key_id, "")
    return lambda name: signer(key_id, name)


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
