"""The sessions that the owner keeps out of every search but their own: a small file of ids, beside the index.

It is the owner's decision, so it does not live in the index, which may be thrown away.
"""

import os

from foundation.canonical import pretty
from foundation.durable import Files, write_atomically
from foundation.errors import ContextError
from sessions import pi_files

_FILE, _LOCK = "exclusions.json", "exclusions.lock"
_WAIT_SECONDS = 5.0


def excluded_sessions(own_folder: str) -> frozenset[str]:
    """Read the excluded ids. Raises ContextError where the file is damaged: a decision must not be lost silently."""
    found = pi_files.read_json(os.path.join(own_folder, _FILE))
    if found is pi_files.MISSING:
        return frozenset()
    ids = found.get("sessions") if isinstance(found, dict) else None
    if not isinstance(ids, list) or not all(isinstance(identity, str) for identity in ids):
        raise ContextError("settings-damaged", f"{os.path.join(own_folder, _FILE)} is not what was saved there.")
    return frozenset(ids)


def change(own_folder: str, disk: Files, *, add: str = "", remove: str = "") -> bool:
    """Add or remove one id; tell whether that changed anything."""
    from foundation.locks import held

    disk.make_folder(own_folder)
    with held(os.path.join(own_folder, _LOCK), disk, wait_seconds=_WAIT_SECONDS, busy="settings-busy"):
        before = excluded_sessions(own_folder)
        after = (before | ({add} if add else set())) - {remove}
        if after != before:
            content = pretty({"sessions": sorted(after)})
            write_atomically(disk, os.path.join(own_folder, _FILE), content.encode("utf-8"))
        return after != before
