"""Carry a removal out: the new file is staged, takes the place of the old one in one step, and what follows is done.

One operation of the journal, with the engine that a rebase has. Its record holds digests and counts, no name. Until the
file is replaced it can be closed as if it had never begun; from then on it only goes forward.
"""

import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import NamedTuple

from foundation.durable import Files, make_durable_folder, write_atomically
from foundation.errors import ContextError
from journal import operations
from journal.lifecycle import Course, Fact, Record
from journal.operations import HopelessError, Outcome, Work
from journal.writing import HeldJournal
from memory.batches import Batch, encode, end_of
from memory.ledger import BEGUN, FILE

PREPARED, STAGED, COMMITTED, APPLIED = "Prepared", "Staged", "Committed", "Applied"

COURSE = Course("memory", (PREPARED, STAGED, COMMITTED, APPLIED), COMMITTED)
"""What a removal, a restoring or a deleting goes through."""

_STAGED_FILE = "memory.jsonl.staged"
_STRAY = (_STAGED_FILE, _STAGED_FILE + ".new", FILE + ".new", BEGUN + ".new")
_LEVELS = 3  # the project's folder, that of all projects, and our own


class Site(NamedTuple):
    """Where memory is changed: its folder, the disk, and what follows once memory says so, which may be repeated.

    `project` lets go of what was worked out from the file before, and keeps it anew.
    """

    folder: str
    disk: Files
    follow: Callable[[Record], None]
    project: Callable[[], None]


def appended(before: bytes, batch: Batch) -> bytes:
    """Give the file with one more change; what a crash tore at its end is left behind."""
    return before[: end_of(before)] + encode(batch)


def write(site: Site, data: bytes) -> None:
    """Replace the file, durably, and note first that there is one; the caller holds the lock."""
    _begin(site)
    write_atomically(site.disk, os.path.join(site.folder, FILE), data)


def _begin(site: Site) -> None:
    """Make the folder, and note that there is a memory; until then there must be a file, if an empty one."""
    make_durable_folder(site.disk, site.folder, levels=_LEVELS)
    begun = os.path.join(site.folder, BEGUN)
    if not os.path.lexists(begun):
        if not os.path.lexists(os.path.join(site.folder, FILE)):
            write_atomically(site.disk, os.path.join(site.folder, FILE), b"")
        write_atomically(site.disk, begun, b"")


def carry_out(
    journal: HeldJournal, site: Site, operation_id: str, *, op: str, plan_id: str, before: bytes, after: bytes
) -> Outcome:
    """Change memory from one file to another; an outcome with an error can be recovered."""
    facts: Mapping[str, Fact] = {
        "op": op, "planId": plan_id, "beforeSha256": _digest(before), "beforeSize": len(before),
        "afterSha256": _digest(after), "afterSize": len(after),
    }  # fmt: skip
    return operations.run(journal, operation_id, _work(site, after), versions={"memory": "1"}, facts=facts)


def recover(journal: HeldJournal, site: Site, operation_id: str) -> Outcome:
    """Bring an operation to its end: as before, or done."""
    return operations.recover(journal, operation_id, _work(site, None))


def _work(site: Site, after: bytes | None) -> Work:
    def stage(record: Record) -> Mapping[str, Fact]:
        if after is not None:
            _begin(site)
            write_atomically(site.disk, _staged(site), after)
        elif _state(_staged(site), "after", record) != "same":
            raise HopelessError("operation-closed")
        return {}

    def commit(record: Record) -> Mapping[str, Fact]:
        target = os.path.join(site.folder, FILE)
        if _state(target, "after", record) == "same" and not os.path.lexists(_staged(site)):
            site.disk.fsync_folder(site.folder)  # the crash came between the two
            return {}
        if _state(target, "before", record) != "same" or _state(_staged(site), "after", record) != "same":
            raise HopelessError("operation-closed")
        site.disk.replace(_staged(site), target)
        site.disk.fsync_folder(site.folder)
        return {}

    def apply(record: Record) -> Mapping[str, Fact]:
        site.project()  # first: what was kept before may hold a name that is deleted now
        site.follow(record)
        return {}

    def undo(_record: Record) -> None:
        for name in _STRAY:
            site.disk.unlink(os.path.join(site.folder, name))
        site.disk.fsync_folder(site.folder)

    return Work(((STAGED, stage), (COMMITTED, commit), (APPLIED, apply)), undo)


def _staged(site: Site) -> str:
    return os.path.join(site.folder, _STAGED_FILE)


def _state(path: str, which: str, record: Record) -> str:
    """Tell whether a file is the one that was recorded."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        raise ContextError("ledger-unreadable") from error
    return "same" if _digest(data) == record.facts.get(f"{which}Sha256") else "other"


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
