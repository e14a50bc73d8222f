"""Reads a journal without changing anything; what does not count is named by a code and left as it is."""

import os
from typing import NamedTuple

from foundation.durable import read_plain
from foundation.errors import ContextError
from journal.lifecycle import Record
from journal.places import Journal, operation_ids, record_path
from journal.records import LARGEST, Refused, decode


class SetAside(NamedTuple):
    """A file in the journal that does not count; `claim` and `signer` are given where the owner could adopt it."""

    operation_id: str
    code: str
    claim: Record | None = None
    signer: str = ""


def read(journal: Journal, operation_id: str) -> Record | SetAside:
    """Read the record of an operation. Raises ContextError `operation-unknown`, OSError where it may not be read."""
    data = _bytes(record_path(journal.folder, operation_id))
    if data is None:
        return SetAside(operation_id, "journal-damaged")
    found = decode(data, operation_id, journal.course, journal.keys)
    return SetAside(operation_id, *found) if isinstance(found, Refused) else found


def find(journal: Journal, operation_id: str) -> Record:
    """Read the record of an operation that counts; raise ContextError with the code of one that does not."""
    found = read(journal, operation_id)
    if isinstance(found, SetAside):
        raise ContextError(found.code)
    return found


def listed(journal: Journal) -> list[Record | SetAside]:
    """Read all records, those that count by their age, oldest first, and after them the others by their id."""
    found = [read(journal, operation_id) for operation_id in operation_ids(journal.folder)]
    records = sorted(
        (one for one in found if isinstance(one, Record)), key=lambda one: (one.created_at, one.operation_id)
    )
    return [*records, *(one for one in found if isinstance(one, SetAside))]


def _bytes(path: str) -> bytes | None:
    """Read a record's file whole; None where it is no plain file or too large. A link is followed nowhere."""
    try:
        return None if os.path.islink(path) else read_plain(path, LARGEST)
    except FileNotFoundError as error:
        raise ContextError("operation-unknown") from error
