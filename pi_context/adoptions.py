"""What the owner took over from another installation: digests of seals that count here, though not made by our key.

The file is ours and signed by our key, so nothing else can say what was adopted; session logs are never written.
"""

import json
import os
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from foundation.canonical import dumps, pretty
from foundation.durable import Files, write_atomically
from journal.keys import Keys, judge, sign
from rebase.sealing import Verdict, Verify

SCHEMA, PURPOSE = "context-adopted-v1", "adoption"
_FILE = "adopted.json"
_LARGEST = 4_000_000  # bytes, some fifty thousand seals


def adopted_seals(folder: str, keys: Keys | None) -> frozenset[str]:
    """Read the digests of adopted seals from the folder of keys; empty where there are none or the file is not ours."""
    try:
        with open(os.path.join(folder, _FILE), "rb") as file:
            found: Any = json.loads(file.read(_LARGEST))
        seals, key_id, mac = found["seals"], found["keyId"], found["mac"]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return frozenset()
    if not isinstance(seals, list) or not all(isinstance(text, str) for text in (*seals, key_id, mac)):
        return frozenset()
    return frozenset(seals) if judge(keys, PURPOSE, _signed(seals), key_id, mac) == "good" else frozenset()


def adopt_seals(folder: str, keys: Keys, disk: Files, seals: Iterable[str]) -> None:
    """Add digests of seals, durably. Whoever calls holds a lock."""
    every = sorted({*adopted_seals(folder, keys), *seals})
    record = {"schema": SCHEMA, "seals": every, "keyId": keys.key_id, "mac": sign(keys, PURPOSE, _signed(every))}
    write_atomically(disk, os.path.join(folder, _FILE), pretty(record).encode())


def counting(folder: str, keys: Keys | None) -> Verify:
    """Give what judges seals: those of our key by their MAC, those of others by whether the owner adopted them."""
    known: list[frozenset[str]] = []

    def verify(data: bytes, key_id: str, mac: str) -> Verdict:
        verdict = judge(keys, "lineage", data, key_id, mac)
        if verdict in ("good", "forged"):
            return verdict
        if not known:
            known.append(adopted_seals(folder, keys))
        return "good" if seal_of(data) in known[0] else verdict

    return verify


def seal_of(data: bytes) -> str:
    """Give the digest by which an adopted seal is known."""
    return sha256(data).hexdigest()


def _signed(seals: list[str]) -> bytes:
    return dumps(seals).encode()
