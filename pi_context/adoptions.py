"""What the owner took over from another installation: digests of seals that count here, though not made by our key.

They are noted beside the key; session logs are never written.
"""

import os
from collections.abc import Iterable
from hashlib import sha256

from foundation.durable import Files
from journal.keys import Keys, Verdict, judge
from pi_context import signed_notes
from pi_context.signed_notes import Note
from rebase.sealing import LINEAGE, Verify

_MOST_BYTES = 4_000_000  # some fifty thousand seals
_WAIT_SECONDS = 10.0


def adopt_seals(folder: str, keys: Keys, disk: Files, seals: Iterable[str]) -> None:
    """Note digests of seals in the folder of keys, durably. Raises BusyError `note-busy`, OSError."""

    def added(known: object) -> list[str]:
        return sorted({*_texts(known), *seals})

    signed_notes.change(_note(folder), keys, disk, added, wait_seconds=_WAIT_SECONDS)


def counting(folder: str, keys: Keys | None) -> Verify:
    """Give what judges seals: those of our key by their MAC, those of others by whether the owner adopted them."""
    known: list[frozenset[str]] = []

    def verify(data: bytes, key_id: str, mac: str) -> Verdict:
        verdict = judge(keys, LINEAGE, data, key_id, mac)
        if verdict in ("good", "forged"):
            return verdict
        if not known:
            known.append(frozenset(_texts(signed_notes.read(_note(folder), keys))))
        return "good" if seal_of(data) in known[0] else verdict

    return verify


def seal_of(data: bytes) -> str:
    """Give the digest by which an adopted seal is known."""
    return sha256(data).hexdigest()


def _note(folder: str) -> Note:
    return Note(os.path.join(folder, "adopted.json"), "adoption", _MOST_BYTES)


def _texts(found: object) -> list[str]:
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
