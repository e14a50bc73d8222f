"""What of a memory decides on what may be seen, as plain data, and the gate that is made of it.

On the way of every search, so it knows nothing of claims.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple

from foundation.canonical import dumps
from foundation.errors import ContextError
from memory.masking import Names, Prepared, merged, prepared
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


def visibility(sights: Sequence[Sight], signer: Signer) -> Visibility:
    """Make the gate of one memory, or of all where all are looked into."""
    names = merged([sight.names for sight in sights]) if len(sights) != 1 else sights[0].names
    key_id = one_of({sight.key_id for sight in sights} - {""})
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


def one_of(key_ids: set[str]) -> str:
    """Give the one key of all digests: an installation has one, and another one's rows could not be judged."""
    if len(key_ids) > 1:
        raise ContextError("ledger-unreadable")
    return next(iter(key_ids), "")
