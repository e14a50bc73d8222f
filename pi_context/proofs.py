"""What was proved of the sources of rebased sessions, remembered from one command to the next.

A small file beside the index that holds no text: what the file system says of a source, the digest of its first bytes,
and whether they were the ones. It is signed with this installation's key, so that nobody else's file can vouch for a
source. Where it is lost, damaged or not ours, the sources are read again and nothing else is lost.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from foundation.canonical import dumps
from foundation.durable import write_atomically
from foundation.errors import ContextError
from journal.keys import Keys, judge, load_keys, sign
from pi_context.surroundings import Surroundings
from rebase.lineage import FileState, Proved

MOST = 500
"""Sources that are remembered, each in its last state."""

_FILE, _LOCK = "lineage.json", "lineage.lock"
_PURPOSE = "proofs"
_MOST_BYTES = 1000 * MOST


def load(around: Surroundings) -> dict[FileState, bool]:
    """Give what is remembered; nothing where there is no key, or the file is not what this installation wrote."""
    try:
        keys = load_keys(around.keys_folder)
        with open(_path(around), "rb") as file:
            kept = json.loads(file.read(_MOST_BYTES + 1))
        proved = kept["proved"]
        if keys is None or judge(keys, _PURPOSE, _signed(proved), kept["keyId"], kept["mac"]) != "good":
            return {}
        return {tuple(state): holds for *state, holds in proved}
    except (ContextError, OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def keep(around: Surroundings, known: Proved, fresh: Proved) -> None:
    """Remember what was just proved, if that is new; where it cannot be written, the sources are read again later.

    The oldest make room, and a file counts in its last state only.
    """
    if fresh.items() <= known.items():
        return
    from foundation.locks import held

    with suppress(ContextError, OSError):
        keys = load_keys(around.keys_folder)
        if keys is not None:
            with held(os.path.join(around.own_folder, _LOCK), around.disk, wait_seconds=0, busy="settings-busy"):
                write_atomically(around.disk, _path(around), _written(keys, _joined(load(around), fresh)))


def _joined(known: Mapping[FileState, bool], fresh: Mapping[FileState, bool]) -> list[list[Any]]:
    """Put what is new behind what is old, the same file and prefix only once."""
    latest: dict[tuple[object, ...], tuple[FileState, bool]] = {}
    for state, holds in (*known.items(), *fresh.items()):
        device, inode, _size, _modified, *prefix = state
        which = (device, inode, *prefix)
        latest.pop(which, None)
        latest[which] = (state, holds)
    return [[*state, holds] for state, holds in [*latest.values()][-MOST:]]


def _written(keys: Keys, proved: list[list[Any]]) -> bytes:
    mac = sign(keys, _PURPOSE, _signed(proved))
    return dumps({"keyId": keys.key_id, "mac": mac, "proved": proved}).encode()


def _signed(proved: Any) -> bytes:
    return dumps(proved).encode()


def _path(around: Surroundings) -> str:
    return os.path.join(around.own_folder, _FILE)
