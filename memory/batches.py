"""`memory.jsonl`: one line is one change, with the digest of what it says; only ever appended to, or replaced whole.

A last line without its end was torn by a crash and never happened. Anything else that does not fit is damage, and
then nobody may go on as if nothing had been removed: `ledger-unreadable`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from foundation.canonical import Json, dumps
from foundation.errors import ContextError
from memory.model import Before, Change, Entity, Memory, NameDigest, Removal, Statement

VERSION = 1

_KINDS: Mapping[str, type[Any]] = {"entities": Entity, "statements": Statement, "removals": Removal}
_NESTED: Mapping[str, type[Any]] = {"cascade": Before, "digests": NameDigest}
_TEXTS = ("aliases", "evidence", "keys")


class Batch(NamedTuple):
    """One change: when it was made, in milliseconds since 1970, and what it makes of memory."""

    at: int
    change: Change


def encode(batch: Batch) -> bytes:
    """Write a change as one line, its end included."""
    said: Json = {"v": VERSION, "at": batch.at}
    for name, kind in _KINDS.items():
        records = getattr(batch.change, name)
        said |= {name: [_plain(record, kind) for record in records]} if records else {}
    if batch.change.restored:
        said["restored"] = list(batch.change.restored)
    return dumps({**said, "sha256": _digest(said)}).encode() + b"\n"


def decode(data: bytes) -> list[Batch]:
    """Read all changes of a file. Raises ContextError `ledger-unreadable`."""
    return [_batch(line) for line in data[: end_of(data)].split(b"\n")[:-1]]


def end_of(data: bytes) -> int:
    """Give where the last whole line ends; what follows was torn."""
    return data.rfind(b"\n") + 1


def replayed(data: bytes) -> Memory:
    """Give the memory that a file stands for. Raises ContextError `ledger-unreadable`."""
    entities: dict[str, Entity] = {}
    statements: dict[str, Statement] = {}
    removals: dict[str, Removal] = {}
    for _, change in decode(data):  # as `with_change` does, into one table for all
        entities |= {each.id: each for each in change.entities}
        statements |= {each.id: each for each in change.statements}
        for identity in change.restored:
            removals.pop(identity, None)
        removals |= {each.id: each for each in change.removals}
    whole = data[: end_of(data)]
    return Memory(entities, statements, removals, sha256(whole).hexdigest() if whole else "")


def rewritten(batches: Iterable[Batch]) -> bytes:
    """Write changes anew; one that says nothing any more is left out."""
    return b"".join(encode(batch) for batch in batches if any(batch.change))


def _batch(line: bytes) -> Batch:
    try:
        said = json.loads(line.decode())
        if said.pop("sha256") != _digest(said) or said.pop("v") != VERSION:
            raise ValueError("another line than was written")
        at, restored = said.pop("at"), said.pop("restored", [])
        found = {name: tuple(_records(said.pop(name, []), kind)) for name, kind in _KINDS.items()}
        if said or not _is_count(at) or not all(isinstance(each, str) for each in restored):
            raise ValueError("a field that nobody knows")
        return Batch(at, Change(**found, restored=tuple(restored)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ContextError("ledger-unreadable") from error


def _records(said: Any, kind: type[Any]) -> Iterator[Any]:
    for fields in said:
        known = {name: _value(name, value) for name, value in fields.items()}
        record = kind(**known)
        if not all(isinstance(getattr(record, name), str) for name in _ALWAYS_TEXT if hasattr(record, name)):
            raise ValueError("a text is none")
        yield record


_ALWAYS_TEXT = ("id", "kind", "label", "subject", "predicate", "object", "value", "status", "target", "merged_into")


def _value(name: str, value: Any) -> Any:
    if name in _NESTED:
        return tuple(_NESTED[name](**fields) for fields in value)
    if name in _TEXTS:
        if not all(isinstance(text, str) for text in value):
            raise ValueError("a text is none")
        return tuple(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    raise ValueError("a value of no kind that is written here")


def _plain(record: Any, kind: type[Any]) -> Json:
    """Give the fields of a record that say something."""
    defaults = kind._field_defaults
    fields = {name: value for name, value in record._asdict().items() if defaults.get(name, _NOTHING) != value}
    for name in _NESTED.keys() & fields.keys():
        fields[name] = [each._asdict() for each in fields[name]]
    return fields


_NOTHING = object()


def _digest(said: Json) -> str:
    return sha256(dumps(said).encode()).hexdigest()


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
