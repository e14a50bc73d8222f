"""Where a journal lies, and what can be told without reading it."""

import os
import re
from typing import NamedTuple

from foundation.durable import PROBES
from foundation.errors import ContextError
from journal.keys import Keys
from journal.lifecycle import Course

OPERATIONS, LOCK, RECORD, FRESH = "operations", "lock", ".json", ".json.new"
LEVELS = 2
"""The folder of operations and the journal's own: both are made on first use."""

_OPERATION_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")


class Journal(NamedTuple):
    """A journal to read: its folder (canonical, as one folder must not have two locks), its kind of operation, our key.

    `keys` is None where this installation has none yet; then every record is set aside.
    """

    folder: str
    course: Course
    keys: Keys | None


def operations_folder(folder: str) -> str:
    """Give the folder of the records."""
    return os.path.join(folder, OPERATIONS)


def lock_path(folder: str) -> str:
    """Give the lock file of a journal."""
    return os.path.join(folder, LOCK)


def record_path(folder: str, operation_id: str) -> str:
    """Give the file of an operation. Raises ContextError `operation-unknown` for what can be no id."""
    if not _OPERATION_ID.fullmatch(operation_id):
        raise ContextError("operation-unknown")
    return os.path.join(folder, OPERATIONS, operation_id + RECORD)


def operation_ids(folder: str) -> list[str]:
    """List the operations that have a record, sound or not; empty where there is no journal."""
    names = (name.removesuffix(RECORD) for name in _names(folder) if name.endswith(RECORD))
    return sorted(name for name in names if _OPERATION_ID.fullmatch(name))


def stray_files(folder: str) -> list[str]:
    """List the files that a crash in the middle of a write left; only who holds the lock knows that they are such."""
    records = [os.path.join(folder, OPERATIONS, name) for name in _names(folder) if name.endswith(FRESH)]
    return records + [path for name in PROBES if os.path.lexists(path := os.path.join(folder, name))]


def is_empty(folder: str) -> bool:
    """Tell whether nothing was ever recorded here."""
    return not _names(folder)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(operations_folder(folder))
    except FileNotFoundError:
        return []
