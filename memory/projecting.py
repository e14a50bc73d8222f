"""What decides on what may be seen, kept beside `memory.jsonl`, so that an answer need not replay all of it.

It is made again from the file at any time, and counts only for the very file that it was made of. It holds names as
the file does, and is rewritten before a deletion counts as done.
"""

import json
import os

from foundation.canonical import dumps
from foundation.durable import Files, read_plain, write_atomically
from memory.ledger import FILE, LARGEST
from memory.masking import Hashed, Prepared
from memory.sight import Sight

PROJECTION = "visible.json"

_VERSION = 1
_NONE = Prepared({}, [], [], [])


def keep(disk: Files, folder: str, sight: Sight, *, now: int) -> None:
    """Keep what was worked out for the file as it is now; the caller holds the lock."""
    said = {"v": _VERSION, "of": stamp(folder), "at": now, "sight": sight._replace(names=_NONE), "names": sight.names}
    write_atomically(disk, os.path.join(folder, PROJECTION), dumps(said).encode())


def drop(disk: Files, folder: str) -> None:
    """Let go of what was kept."""
    disk.unlink(os.path.join(folder, PROJECTION))
    disk.unlink(os.path.join(folder, PROJECTION + ".new"))
    disk.fsync_folder(folder)


def kept(folder: str, *, now: int) -> Sight | None:
    """Give what was kept, where it still holds for the file and the time; None where everything is to be replayed."""
    try:
        said = json.loads(read_plain(os.path.join(folder, PROJECTION), LARGEST) or b"")
        if said["v"] != _VERSION or said["of"] != stamp(folder) or now < said["at"]:
            return None
        sessions, deleted, _, key_id, until, digest = said["sight"]
        by_word, anywhere, in_parts, hashed = said["names"]
        names = Prepared(by_word, anywhere, in_parts, [Hashed(*each) for each in hashed])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if until is not None and now >= until:
        return None
    return Sight(tuple(sessions), tuple(deleted), names, key_id, until, digest)


def stamp(folder: str) -> list[int]:
    """Give what tells one state of a memory's file from another. Raises OSError."""
    found = os.stat(os.path.join(folder, FILE))
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
