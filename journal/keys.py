"""This installation's key: made once, for the owner alone; whatever is signed here is signed by keys derived from it.

A MAC tells what a sync, a disk or another installation did to a record. It does not hold against code that runs as the
same user, for that can read the key too.
"""

import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from foundation.durable import Files, make_durable_folder, read_plain, write_atomically
from foundation.errors import ContextError
from foundation.locks import held

Verdict = Literal["good", "unsigned", "foreign", "forged"]
"""`foreign` is signed by another key; `forged` names our key and is not what that key signed."""

KEY_FILE, KEY_BYTES = "install.key", 32
_LOCK, _WAIT_SECONDS = "lock", 10.0
_LEVELS = 2  # the folder of keys and our own folder above it are made on first use
_ID_BYTES = 8
_APPLICATION = "pi-context/1/"
_ID_PURPOSE = "key id"


@dataclass(frozen=True, slots=True)
class Keys:
    """The key of an installation and its public name; what signs are keys derived from it, one for each purpose."""

    key_id: str
    secret: bytes = field(repr=False)


def load_keys(folder: str) -> Keys | None:
    """Read the key in this folder; None where none was made yet. Raises ContextError `key-damaged`."""
    try:
        secret = read_plain(os.path.join(folder, KEY_FILE), KEY_BYTES)
    except FileNotFoundError:
        return None
    if secret is None or len(secret) != KEY_BYTES:
        raise ContextError("key-damaged")
    return Keys(_derived(secret, _ID_PURPOSE, _ID_BYTES).hex(), secret)


def own_keys(folder: str, disk: Files, random: Callable[[int], bytes]) -> Keys:
    """Read the key in this folder, made now where there is none; two processes at once make one.

    `random` gives that many bytes from the system's source. The key is durable when this returns, also where another
    process made it and died. Raises ContextError `key-damaged`, `keys-busy`.
    """
    path = os.path.join(folder, KEY_FILE)
    if not os.path.exists(path):
        make_durable_folder(disk, folder, levels=_LEVELS)
        with held(os.path.join(folder, _LOCK), disk, wait_seconds=_WAIT_SECONDS, busy="keys-busy"):
            if not os.path.exists(path):
                write_atomically(disk, path, random(KEY_BYTES))
    disk.fsync_folder(folder)
    keys = load_keys(folder)
    if keys is None:
        raise ContextError("key-damaged")
    return keys


def sign(keys: Keys, purpose: str, data: bytes) -> str:
    """Give the MAC of some bytes for a purpose such as `journal` or `lineage`: HMAC-SHA256, in hexadecimal digits."""
    return hmac.new(_derived(keys.secret, purpose, KEY_BYTES), data, sha256).hexdigest()


def judge(keys: Keys | None, purpose: str, data: bytes, key_id: str, mac: str) -> Verdict:
    """Judge the MAC that a record bears; both texts are empty where it has none, `keys` is None where we have none."""
    if not key_id or not mac:
        return "unsigned"
    if keys is None or key_id != keys.key_id:
        return "foreign"
    return (
        "good" if hmac.compare_digest(sign(keys, purpose, data).encode(), mac.encode("utf-8", "replace")) else "forged"
    )


def derived(keys: Keys, purpose: str) -> bytes:
    """Give the key for a purpose, for whoever makes many MACs with it."""
    return _derived(keys.secret, purpose, KEY_BYTES)


def _derived(secret: bytes, purpose: str, length: int) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=length, salt=None, info=(_APPLICATION + purpose).encode()).derive(secret)
