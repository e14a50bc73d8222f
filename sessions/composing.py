"""A new session as bytes, in the form in which Pi itself writes one: header, then a chain of entries.

Each line equals what `JSON.stringify(JSON.parse(line))` gives, so that an old Pi that writes the file anew repeats it
byte for byte. Nothing here asks a clock or draws lots: ids are derived from a seed that the caller gives.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from foundation.canonical import Json
from foundation.clock import iso
from sessions.entries import CURRENT
from sessions.javascript import settled, stringify

_ID_DIGITS = 8
_UUID_GROUPS = (8, 4, 4, 4, 12)


class Written(NamedTuple):
    """A member of a record that is written already, in just the form that `JSON.stringify` would give it."""

    text: str


def line(value: Json) -> bytes:
    """Write one record with its newline; its own keys are words."""
    members = (f"{stringify(key)}:{_written(member)}" for key, member in value.items())
    return f"{{{','.join(members)}}}\n".encode()


def session_id(seed: bytes) -> str:
    """Derive the id of a session: a UUID of version 8, which is the one for ids made by rules of one's own."""
    digits = list(sha256(seed + b"/session").hexdigest()[: sum(_UUID_GROUPS)])
    digits[12], digits[16] = "8", "89ab"[int(digits[16], 16) % 4]  # version and variant
    text, groups = "".join(digits), []
    for size in _UUID_GROUPS:
        groups.append(text[:size])
        text = text[size:]
    return "-".join(groups)


def file_name(identity: str, created_at: int) -> str:
    """Name the file of a session as Pi does, `<stamp>_<id>.jsonl`; `created_at` in milliseconds."""
    stamp = iso(created_at).replace(":", "-").replace(".", "-")
    return f"{stamp}_{identity}.jsonl"


def session(identity: str, *, cwd: str, parent: str, created_at: int, seed: bytes, entries: Iterable[Json]) -> bytes:
    """Write a session whose entries follow one upon the other, all made at one instant.

    `parent` is the path of the session that it continues; `entries` come as type and content, without id, parent and
    timestamp, which are added behind the type as Pi orders them.
    """
    stamp = iso(created_at)
    header = {"type": "session", "version": CURRENT, "id": identity, "timestamp": stamp, "cwd": cwd}
    pieces, above = [line({**header, "parentSession": parent})], None
    for value, name in zip(entries, entry_ids(seed), strict=False):
        base = {"type": value["type"], "id": name, "parentId": above, "timestamp": stamp}
        pieces.append(line({**base, **value}))
        above = name
    return b"".join(pieces)


def entry_ids(seed: bytes) -> Iterator[str]:
    """Derive ids of eight hexadecimal digits like Pi's own, no two alike, without end."""
    given: set[str] = set()
    number = 0
    while True:
        found = sha256(seed + b"/entry/%d" % number).hexdigest()[:_ID_DIGITS]
        number += 1
        if found not in given:
            given.add(found)
            yield found


def _written(member: Any) -> str:
    return member.text if isinstance(member, Written) else stringify(settled(member))
