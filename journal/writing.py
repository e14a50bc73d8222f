"""Makes records durable, one file replaced as a whole, under the lock of the journal.

Holding that lock is a type: only who has a `HeldJournal` can write.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

from foundation.clock import Clock
from foundation.durable import Files, make_durable_folder, write_atomically
from foundation.errors import ContextError
from foundation.locks import Owner, held
from journal.keys import Keys
from journal.lifecycle import Record
from journal.places import (
    LEVELS,
    Journal,
    is_empty,
    lock_path,
    operation_ids,
    operations_folder,
    record_path,
    stray_files,
)
from journal.reading import SetAside, read
from journal.records import encode

WAIT_SECONDS = 0.3
"""How long a lock is waited for: long enough for its holder to have left its note."""

_TRIES = 100  # each lost to a process that left an empty journal just then


class HeldJournal(NamedTuple):
    """A journal whose lock this process holds, with what it takes to write but perhaps a key."""

    journal: Journal
    disk: Files
    clock: Clock

    @property
    def keys(self) -> Keys:
        """Give our key. Raises ValueError where none was made yet: nothing is written unsigned."""
        if self.journal.keys is None:
            raise ValueError("a journal is written with a key")
        return self.journal.keys

    def signing(self, keys: Keys) -> "HeldJournal":
        """Give the same with a key that was made only now."""
        return self._replace(journal=self.journal._replace(keys=keys))


@contextmanager
def locked(
    journal: Journal, *, disk: Files, clock: Clock, pid: int, busy: str, wait_seconds: float = WAIT_SECONDS
) -> Iterator[HeldJournal]:
    """Hold a journal while the block runs; the death of the process lets it go.

    What a crash left half written is cleared away first, and where the block records nothing in a journal that was
    empty, nothing of it is left. Raises BusyError, code `busy`, which knows the other process and since when.
    """
    if os.path.islink(journal.folder) or os.path.islink(operations_folder(journal.folder)):
        raise ContextError("in-the-way")  # it may lead to a folder that is not ours to write to
    with ExitStack() as stack:
        _take(stack, journal.folder, disk, Owner(pid, clock()), busy, wait_seconds)
        for path in stray_files(journal.folder):
            disk.unlink(path)
        try:
            yield HeldJournal(journal, disk, clock)
        finally:
            if is_empty(journal.folder):
                _leave(journal.folder, disk)


def write_first(held_journal: HeldJournal, record: Record) -> Record:
    """Make the first record of an operation durable, and the folders that it is in.

    Raises ContextError `operation-exists` where the id is taken, be it by a file that does not count.
    """
    folder = held_journal.journal.folder
    path = record_path(folder, record.operation_id)
    if record.operation_id in operation_ids(folder):
        raise ContextError("operation-exists")
    data = encode(record, held_journal.keys)
    make_durable_folder(held_journal.disk, operations_folder(folder), levels=LEVELS)
    write_atomically(held_journal.disk, path, data)
    return record._replace(digest=sha256(data).hexdigest())


def write_next(held_journal: HeldJournal, record: Record) -> Record:
    """Make the next record of an operation durable in the place of the one that it follows.

    Raises ContextError `journal-changed` where the file is gone or not that one any more; it is left as it is then.
    """
    if _digest(held_journal.journal, record.operation_id) != record.previous:
        raise ContextError("journal-changed")
    data = encode(record, held_journal.keys)
    write_atomically(held_journal.disk, record_path(held_journal.journal.folder, record.operation_id), data)
    return record._replace(digest=sha256(data).hexdigest())


def settle(held_journal: HeldJournal, record: Record) -> None:
    """Make durable what another process may have written of this operation and died before it was."""
    held_journal.disk.fsync_folder(os.path.dirname(record_path(held_journal.journal.folder, record.operation_id)))


def _digest(journal: Journal, operation_id: str) -> str | None:
    """Give the digest of the record that is there, whoever signed it; None where there is none that can be read."""
    try:
        found = read(journal, operation_id)
    except ContextError:
        return None
    known = found.claim if isinstance(found, SetAside) else found
    return known.digest if known else None


def _take(stack: ExitStack, folder: str, disk: Files, owner: Owner, busy: str, wait_seconds: float) -> None:
    for _ in range(_TRIES):
        disk.make_folder(folder)
        with suppress(FileNotFoundError):  # another process left the folder just then
            stack.enter_context(held(lock_path(folder), disk, wait_seconds=wait_seconds, busy=busy, owner=owner))
            return
    raise ContextError(busy)


def _leave(folder: str, disk: Files) -> None:
    """Remove a journal in which nothing was recorded; who waits for its lock notices, and makes a new one."""
    with suppress(OSError):
        disk.remove_folder(operations_folder(folder))
        disk.unlink(lock_path(folder))
        disk.remove_folder(folder)
