"""Small files of ours that only this installation may write: JSON with a MAC by its key, each for one purpose.

Nobody else's file can speak in their place. They hold digests and file states, no text of any session.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from foundation.canonical import dumps
from foundation.durable import Files, read_plain, write_atomically
from foundation.locks import held
from journal.keys import Keys, judge, sign


class Note(NamedTuple):
    """Where such a file lies, what its MAC is for, and how many bytes it may have at most."""

    path: str
    purpose: str
    most: int


def read(note: Note, keys: Keys | None) -> Any:
    """Give what the file holds; None where there is none, or it is not what our key signed. Raises OSError."""
    try:
        found = json.loads(read_plain(note.path, note.most) or b"")
        content, key_id, mac = found["content"], found["keyId"], found["mac"]
        good = judge(keys, note.purpose, dumps(content).encode(), key_id, mac) == "good"
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return content if good else None


def change(note: Note, keys: Keys, disk: Files, changed: Callable[[Any], Any], *, wait_seconds: float) -> None:
    """Put `changed`, made from what the file holds, in its place, durably. Raises BusyError `note-busy`, OSError."""
    with held(f"{note.path}.lock", disk, wait_seconds=wait_seconds, busy="note-busy"):
        content = changed(read(note, keys))
        mac = sign(keys, note.purpose, dumps(content).encode())
        write_atomically(disk, note.path, dumps({"keyId": keys.key_id, "mac": mac, "content": content}).encode())
