"""What was proved of the sources of rebased sessions, remembered from one command to the next.

A small file beside the index that holds no text: what the file system says of a source, the digest of its first bytes,
and whether they were the ones. It is signed with this installation's key, so that nobody else's file can vouch for a
source. Where it is lost, damaged or not ours, the sources are read again and nothing else is lost.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from foundation.errors import ContextError
from journal.keys import load_keys
from pi_context import signed_notes
from pi_context.signed_notes import Note
from pi_context.surroundings import Surroundings
from rebase.lineage import FileState, Proved

MOST = 500
"""Sources that are remembered, each in its last state."""


def load(around: Surroundings) -> dict[FileState, bool]:
    """Give what is remembered; nothing where there is no key, or the file is not what this installation wrote."""
    try:
        return _states(signed_notes.read(_note(around), load_keys(around.keys_folder)))
    except (ContextError, OSError):
        return {}


def keep(around: Surroundings, known: Proved, fresh: Proved) -> None:
    """Remember what was just proved, if that is new; where it cannot be written, the sources are read again later.

    The oldest make room, and a file counts in its last state only.
    """
    if fresh.items() <= known.items():
        return

    def joined(found: Any) -> list[list[Any]]:
        return _joined(_states(found), fresh)

    with suppress(ContextError, OSError):
        keys = load_keys(around.keys_folder)
        if keys is not None:
            signed_notes.change(_note(around), keys, around.disk, joined, wait_seconds=0)


def _joined(known: Mapping[FileState, bool], fresh: Mapping[FileState, bool]) -> list[list[Any]]:
    """Put what is new behind what is old, the same file and prefix only once."""
    latest: dict[tuple[object, ...], tuple[FileState, bool]] = {}
    for state, holds in (*known.items(), *fresh.items()):
        device, inode, _size, _modified, _changed, *prefix = state
        which = (device, inode, *prefix)
        latest.pop(which, None)
        latest[which] = (state, holds)
    return [[*state, holds] for state, holds in [*latest.values()][-MOST:]]


def _states(found: Any) -> dict[FileState, bool]:
    try:
        return {tuple(state): holds for *state, holds in found or ()}
    except (TypeError, ValueError):
        return {}


def _note(around: Surroundings) -> Note:
    return Note(os.path.join(around.own_folder, "lineage.json"), "proofs", 1000 * MOST)
