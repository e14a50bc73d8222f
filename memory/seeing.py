"""From what was removed to what decides on what may be seen."""

from collections.abc import Iterable
from hashlib import sha256

from foundation.canonical import dumps
from foundation.errors import ContextError
from memory.masking import Hashed, prepared
from memory.model import Memory, Removal
from memory.names import FOLD_VERSION, Fold, key
from memory.sight import Sight, Signer, one_of


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
        one_of(set(hashed.values())), min(turns, default=None),
        sha256(dumps(said).encode()).hexdigest() if any(said) else "",
    )  # fmt: skip


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
