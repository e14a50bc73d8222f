"""A whole session at a glance: one small row for each entry, the tree they form, and all that is wrong with the file.

Serves looking and checking, not searching: text is never kept. A row costs some 400 bytes, so the largest sessions
fit. What Pi skips but recall can read (glued records, NULs, a byte order mark) is here; `context` is Pi's own view.
"""

import os
from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

from foundation.errors import ContextError
from sessions import ancestry
from sessions.decoding import JS_WHITE, parser_for
from sessions.entries import CHAINED, CURRENT, Chain, Header, header, role_of, timestamp_of
from sessions.reading import Record, open_log, records

MOST_FINDINGS = 1000
"""How many findings of one kind are listed; all are counted."""

_MOST_CANDIDATES = 5
_MEANT = ("label", "session_info", "compaction")


class Node(NamedTuple):
    """One entry: `line` counts from 1, `offset` and `length` in bytes, `timestamp` in milliseconds or None.

    `role` is one of `entries.ROLES` or empty.
    """

    id: str
    parent: str | None
    type: str
    role: str
    timestamp: int | None
    line: int
    offset: int
    length: int


class Finding(NamedTuple):
    """Something wrong, or out of the ordinary, at a place in the file; `detail` is a reason or the id of an entry.

    Kinds: `quarantined`, `repeat`, `conflicting-id`, `orphan`, `cycle`, `missing-header`, `late-header`,
    `extra-header`, `glued`, `padding`, `bom`, `torn-tail`, `older-version`, `kept-entry-off-path`, `no-id`,
    `no-timestamp`.
    """

    kind: str
    line: int
    offset: int
    length: int
    detail: str = ""


class Outline(NamedTuple):
    """A session as a tree.

    `entries` are in file order, byte-identical repeats once; in `by_id` the later of two with one id wins. `leaf` is
    the id of the last entry in the file, or the one asked for; None where there is no entry. `roots` have no parent
    in the file, `tips` no child. `labels` go by entry id; `name` is empty where none is set. `counts` has the number
    of findings by kind, `findings` the first of each.
    """

    path: str
    size: int
    header: Header | None
    entries: list[Node]
    by_id: dict[str, Node]
    leaf: str | None
    roots: tuple[str, ...]
    tips: tuple[str, ...]
    labels: dict[str, str]
    name: str
    findings: tuple[Finding, ...]
    counts: dict[str, int]

    def path_to(self, leaf: str | None) -> list[Node]:
        """Give the entries from the root to a leaf; a missing parent or a cycle ends the walk."""
        walked: dict[str, Node] = {}
        while leaf is not None and leaf not in walked and (node := self.by_id.get(leaf)):
            walked[leaf] = node
            leaf = node.parent
        return list(walked.values())[::-1]

    def children(self) -> dict[str, list[Node]]:
        """Give the children of every entry that has some, in file order; cycles are cut open at a root."""
        roots = set(self.roots)
        found: dict[str, list[Node]] = {}
        for node in self.by_id.values():
            if node.parent is not None and node.id not in roots:
                found.setdefault(node.parent, []).append(node)
        return found


def outline(path: str, *, leaf: str | None = None) -> Outline:
    """Read a session log into an outline; a `leaf` may be given by the start of its id.

    Raises ContextError where the file cannot be read (`file-…`, `not-a-file`), `entry-not-found`, `entry-ambiguous`.
    """
    with open_log(path) as log:
        size = os.fstat(log.fileno()).st_size
        scan = _Scan(path)
        try:
            for record in records(log, parse=parser_for(size), padding=True):
                scan.take(record)
        finally:
            scan.close()
    return scan.outline(size, leaf)


def find_id(ids: Iterable[str], wanted: str) -> str:
    """Give the id that is `wanted` or, where there is none, the one that starts so.

    Raises ContextError with `entry-not-found` or `entry-ambiguous`.
    """
    starting = {identity for identity in ids if identity.startswith(wanted)} if wanted else set()
    if wanted in starting:
        return wanted
    if len(starting) > 1:
        some = ", ".join(sorted(starting)[:_MOST_CANDIDATES])
        raise ContextError("entry-ambiguous", f"{len(starting)} entries have an id that starts so, such as {some}.")
    if not starting:
        raise ContextError("entry-not-found")
    return starting.pop()


class _Scan:
    """Takes the records of one file in turn."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.header: Header | None = None
        self.entries: list[Node] = []
        self.by_id: dict[str, Node] = {}
        self.leaf: str | None = None
        self.labels: dict[str, str] = {}
        self.name = ""
        self.findings: list[Finding] = []
        self.counts: dict[str, int] = {}
        self.kept: list[tuple[str, Any]] = []
        self._chain = Chain()
        self._words: dict[str, str] = {}
        self._again: Any = None
        self._mended_line = 0
        self._last: str | None = None

    def take(self, record: Record) -> None:
        value = record.value
        if value is None or record.torn or record.mended:
            self._note_damage(record)
        if value is None:
            return
        kind = value.get("type")
        if kind == "session":
            self._take_header(record, value)
        else:
            self._take_entry(record, value, kind if isinstance(kind, str) else "")

    def _note_damage(self, record: Record) -> None:
        if record.torn:
            self._note("torn-tail", record, record.problem)
        elif record.problem:
            kind = "padding" if record.problem == "padding" else "quarantined"
            self._note(kind, record, "" if kind == "padding" else record.problem)
        if record.mended and record.line != self._mended_line:
            self._note(record.mended, record)
            self._mended_line = record.line

    def _take_header(self, record: Record, value: dict[str, Any]) -> None:
        found = header(value)
        if self.header is None and found is not None:
            self.header = found
            if self.entries:
                self._note("late-header", record)
            if found.version < CURRENT:
                self._note("older-version", record, str(found.version))
            self._chain.version = found.version
        else:
            self._note("extra-header", record)
        self._chain.skip()

    def _take_entry(self, record: Record, value: dict[str, Any], kind: str) -> None:
        identity, parent = self._chain.follow(value)
        self.leaf = identity
        before = self.by_id.get(identity)
        if before is not None:
            if self._repeats(before, record):
                self._note("repeat", record, identity)
                return
            self._note("conflicting-id", record, identity)
        stamp = timestamp_of(value)
        if parent == self._last:
            parent = self._last  # one string object for all that name it
        self._last = identity
        kind = self._words.setdefault(kind, kind)
        node = Node(identity, parent, kind, role_of(value), stamp, record.line, record.offset, record.length)
        self.entries.append(node)
        self.by_id[identity] = node
        if stamp is None:
            self._note("no-timestamp", record, identity)
        if identity != value.get("id") and self._chain.version >= CHAINED:
            self._note("no-id", record, identity)
        if kind in _MEANT:
            self._take_meaning(node, value)

    def _take_meaning(self, node: Node, value: dict[str, Any]) -> None:
        if node.type == "label":
            target, label = value.get("targetId"), value.get("label")
            if isinstance(target, str):
                self.labels.pop(target, None)
                if isinstance(label, str) and label:
                    self.labels[target] = label
        elif node.type == "session_info":
            name = value.get("name")
            self.name = name.strip(JS_WHITE) if isinstance(name, str) else ""
        elif node.type == "compaction" and self._chain.version >= CHAINED:
            self.kept.append((node.id, value.get("firstKeptEntryId")))

    def _repeats(self, before: Node, record: Record) -> bool:
        if before.length != record.length:
            return False
        self._again = self._again or open_log(self.path)
        self._again.seek(before.offset)
        return bool(self._again.read(before.length) == record.raw)

    def close(self) -> None:
        if self._again:
            self._again.close()

    def outline(self, size: int, leaf: str | None) -> Outline:
        nodes = list(self.by_id.values())
        position = dict(zip(self.by_id, range(len(nodes)), strict=True))
        none = ancestry.NONE
        links = array("i", (none if node.parent is None else position.get(node.parent, none) for node in nodes))
        tree = ancestry.shape(links)
        if self.header is None:
            self._note("missing-header", Record(1, 0, 0, b"", None))
        for at in tree.roots:
            if (parent := nodes[at].parent) is not None and parent not in position:
                self._note("orphan", nodes[at], nodes[at].id)
        for at in tree.loops:
            self._note("cycle", nodes[at], nodes[at].id)
        pairs = [(position.get(kept, none) if isinstance(kept, str) else none, position[at]) for at, kept in self.kept]
        for place in ancestry.unrelated(tree.parents, pairs):
            node = nodes[pairs[place][1]]
            self._note("kept-entry-off-path", node, node.id)
        parents = bytearray(len(nodes) + 1)  # the last byte takes those that have none
        for at in links:
            parents[at] = 1
        return Outline(
            path=self.path,
            size=size,
            header=self.header,
            entries=self.entries,
            by_id=self.by_id,
            leaf=self.leaf if leaf is None else find_id(self.by_id, leaf),
            roots=tuple(nodes[at].id for at in tree.roots),
            tips=tuple(node.id for node, is_parent in zip(nodes, parents, strict=False) if not is_parent),
            labels={target: label for target, label in self.labels.items() if target in self.by_id},
            name=self.name,
            findings=tuple(sorted(self.findings, key=lambda finding: finding.offset)),
            counts=self.counts,
        )

    def _note(self, kind: str, place: Record | Node, detail: str = "") -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= MOST_FINDINGS:
            self.findings.append(Finding(kind, place.line, place.offset, place.length, detail))
