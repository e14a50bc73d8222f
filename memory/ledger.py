"""Where memory lies on the disk, and how it is read: whole, or not at all.

A project's memory is in a folder that is named by the canonical working folder. A note beside the file tells that there
was one, so that a file that went missing is not taken for an empty memory.
"""

import os
from hashlib import sha256

from foundation.durable import read_plain
from foundation.errors import ContextError
from memory.model import Memory

LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is still read."""

PROJECTS, FILE, BEGUN = "projects", "memory.jsonl", "begun"


def folder_for(own_folder: str, project: str) -> str:
    """Give the folder of a project's memory, below our own; `project` is its canonical working folder."""
    name = sha256(project.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return os.path.join(own_folder, PROJECTS, name)


def folders(own_folder: str) -> list[str]:
    """List the folders of all projects that have a memory."""
    top = os.path.join(own_folder, PROJECTS)
    try:
        return sorted(os.path.join(top, name) for name in os.listdir(top))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ContextError("ledger-unreadable") from error


def read(folder: str) -> bytes:
    """Give the file of a memory as it is; empty where there never was one. Raises ContextError `ledger-unreadable`."""
    try:
        data = read_plain(os.path.join(folder, FILE), LARGEST)
    except FileNotFoundError:
        if os.path.lexists(os.path.join(folder, BEGUN)):
            raise ContextError("ledger-unreadable") from None
        return b""
    except OSError as error:
        raise ContextError("ledger-unreadable") from error
    if data is None:
        raise ContextError("ledger-unreadable")
    return data


def load(folder: str) -> Memory:
    """Give the memory in a folder; an empty one where there never was any. Raises ContextError `ledger-unreadable`."""
    from memory.batches import replayed

    return replayed(read(folder))
