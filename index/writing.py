"""Put the records of one session into the index, in file order, whatever the pieces they arrive in.

All that later records depend on is kept in the session's row, so that any sequence of updates gives the very rows
that one reading of the whole file would give. What is stored was redacted first.
"""

import os
from hashlib import sha256
from typing import BinaryIO, NamedTuple

import apsw

from foundation.canonical import Json, dumps, escape_surrogates
from foundation.errors import ContextError
from foundation.texts import RawText
from index.ancestors import rid_of
from index.changes import linked, sealed
from index.masks import Masks, no_masks
from index.schema import CLASS_CODE, ROLE_CODE, decoded, encoded, first_rid, id_key, last_rid, text_key
from index.sql import rows, run, value
from index.tokens import for_index
from privacy.markers import classify
from privacy.redaction import redact, redact_many
from sessions.decoding import Parse
from sessions.entries import CURRENT, Chain, Entry, entry, header
from sessions.locating import session_id
from sessions.reading import Record, records

_FLUSH_CHARS = 4_000_000


class Cursor(NamedTuple):
    """Where the indexing of a session stands."""

    sid: int
    done: int
    line: int
    records: int
    position: int
    last_id: str | None
    run: int | None
    version: int
    chain: bytes


class Added(NamedTuple):
    """What one piece of work added: bytes read, entries, the lines quarantined; `finished` at the file's end."""

    bytes_read: int = 0
    entries: int = 0
    quarantined: tuple[Record, ...] = ()
    finished: bool = True


def cursor(db: apsw.Connection, path: str) -> Cursor | None:
    """Read where a session stands; None where nothing of it was indexed yet."""
    sql = "select sid, done, line, records, position, last_id, run, version, chain from session where path = ?"
    row = next(rows(db, sql, (os.fsencode(path),)), None)
    return Cursor(*row)._replace(last_id=decoded(row[5])) if row else None


class SessionWriter:
    """Appends one session's records to the index; the caller holds the transaction around each `take`."""

    def __init__(self, db: apsw.Connection, path: str, log: BinaryIO, masks: Masks = no_masks) -> None:
        self.db, self.log, self.masks = db, log, masks
        at = cursor(db, path)
        self.knows_all = at is None  # whether `seen` holds every record of the session
        self.at = at = at or _insert_session(db, path)
        self.chain = Chain(version=at.version or CURRENT, position=at.position, last=at.last_id)
        self.rid, self.run = first_rid(at.sid) + at.records, at.run
        self.mask = masks(value(db, "select cwd from session where sid = ?", (at.sid,)))
        self.seal = at.chain
        self.last_key: int | None = value(db, "select eid from entry where rid = ?", (self.rid,))
        self.last_id = ""
        self.seen: dict[int, int] = {}  # id_key -> rid
        self.active = self.newest = 0
        self.toolsets: dict[tuple[str, ...], int] = {}
        self.queued: list[tuple[object, ...]] = []
        self.texts: list[RawText] = []  # one for each that is queued
        self.chars = 0

    def take(self, parse: Parse, *, at_most: int) -> Added:
        """Index whole lines from the cursor on, about `at_most` bytes of them, and move the cursor.

        Raises ContextError with `file-unreadable` where the disk fails; what was read before that is taken in.
        """
        start = done = self.at.done
        line, entries, bad, finished = self.at.line, 0, [], True
        last = last_rid(self.at.sid)
        broken: OSError | None = None
        try:
            for record in records(self.log, offset=done, line=line, parse=parse):
                if record.torn:
                    break
                digest = sha256(record.raw).digest()
                if record.value is None or self.rid >= last:
                    bad.append(record if record.problem else record._replace(problem="too-many-records"))
                    self.seal = linked(self.seal, record.offset, digest)
                elif self._put(record, record.value, digest):
                    entries += 1
                else:
                    self.seal = linked(self.seal, record.offset, digest)
                if record.end:
                    done, line = record.end, record.line + 1
                finished = done - start < at_most
                if self.chars >= _FLUSH_CHARS or not finished:
                    del record  # a long one takes memory enough while its words are written
                    self._flush()
                if not finished:
                    break
        except OSError as error:  # of the log: SQLite's are no OSErrors
            broken = error
        self._flush()
        self._quarantine(bad)
        self._move(done, line, entries)
        if broken:
            raise ContextError("file-unreadable") from broken
        return Added(done - start, entries, tuple(bad), finished)

    def _put(self, record: Record, value: Json, digest: bytes) -> bool:
        """Take in one record; tell whether it became an entry of its own."""
        if value.get("type") == "session":
            self._header(value)
            return False
        found = entry(value, *self.chain.follow(value))
        key = id_key(found.id)
        earlier = self.seen.get(key)
        if earlier is None and not self.knows_all:
            earlier = rid_of(self.db, self.at.sid, key)
        if earlier is not None:
            if self._is_repeat(earlier, digest):
                return False
            self._split_run_after(earlier, key)
        parent = None
        if found.parent:
            parent = self.last_key if found.parent == self.last_id else id_key(found.parent)
        self.rid += 1
        if self.run is None or parent is None or parent != self.last_key or parent == key:
            self.run = self.rid
            run(self.db, "insert into run values(?, ?)", (self.rid, parent))
        self.last_id, self.last_key = found.id, key
        self.seen[key] = self.rid
        marked = classify(found.text) if found.marked and found.text else None
        self.queued.append((
            self.rid, key, self.run, found.timestamp, record.offset, record.length, digest,
            ROLE_CODE[found.role], CLASS_CODE[marked], self._toolset(found.tools) if found.tools else 0,
        ))  # fmt: skip
        self.texts.append(found.text)
        self.chars += len(found.text)
        if found.type in ("context_edit", "session_info"):
            self._put_change(found)
        if found.timestamp and found.timestamp > self.newest:
            self.newest = found.timestamp
        if found.timestamp and found.role in ("user", "assistant") and found.timestamp > self.active:
            self.active = found.timestamp
        return True

    def _put_change(self, found: Entry) -> None:
        if found.edit:
            row = (self.rid, id_key(found.edit.target), found.edit.omits)
            run(self.db, "insert into edit values(?, ?, ?)", row)
        if found.name is not None:
            name = escape_surrogates(self._masked(redact(RawText(found.name)).text))
            run(self.db, "update session set name = ? where sid = ?", (name, self.at.sid))

    def _header(self, value: Json) -> None:
        """Take the first header for the session's own; later ones are no entries and change nothing."""
        self.chain.skip()
        found = header(value)
        if found is None or self.at.version:
            return
        version = max(found.version, 1)  # 0 stands for a file without a header; anything below 2 is read alike
        self.chain.version = version
        self.at = self.at._replace(version=version)
        words = tuple(map(escape_surrogates, (found.id, found.cwd, found.parent_session)))
        self.mask = self.masks(words[1])
        run(
            self.db,
            "update session set id = ?, cwd = ?, parent = ?, version = ?, started = ? where sid = ?",
            (*words, version, found.timestamp, self.at.sid),
        )

    def _is_repeat(self, earlier: int, digest: bytes) -> bool:
        """Tell whether a record is a byte-identical repeat of an earlier one, and count it then."""
        self._flush()
        if value(self.db, "select sha from entry where rid = ?", (earlier,)) != digest:
            return False
        run(self.db, "update session set repeats = repeats + 1 where sid = ?", (self.at.sid,))
        return True

    def _split_run_after(self, earlier: int, key: int) -> None:
        """Let the children of a record follow a later one with the same id, as they do in Pi.

        A run says "child of the record before it". Where that record's id now means another, the run ends there,
        and a new one begins whose parent is looked up by id.
        """
        old, child = value(self.db, "select run from entry where rid = ?", (earlier,)), earlier + 1
        if value(self.db, "select run from entry where rid = ?", (child,)) != old:
            return
        run(self.db, "insert into run values(?, ?)", (child, key))
        rest = (child, old, child, last_rid(self.at.sid))
        run(self.db, "update entry set run = ? where run = ? and rid between ? and ?", rest)
        if self.run == old:
            self.run = child

    def _toolset(self, names: tuple[str, ...]) -> int:
        """Give the number of a set of tool names; there are few, so each row holds just that number."""
        if names not in self.toolsets:
            text = dumps([redact(RawText(name)).text for name in names])
            run(self.db, "insert or ignore into toolset(names) values(?)", (text,))
            self.toolsets[names] = value(self.db, "select id from toolset where names = ?", (text,))
        return self.toolsets[names]

    def _flush(self) -> None:
        """Write what is queued, each text with its secrets taken out first: many at once, which is faster."""
        texts = redact_many(self.texts)
        raws = [self._masked(text).encode("utf-8", "replace") for text in texts]  # a lone surrogate is no word
        self.texts, self.chars = [], 0
        entries = [(*row, text_key(raw) if raw else None) for row, raw in zip(self.queued, raws, strict=True)]
        words = [(row[0], for_index(raw)) for row, raw in zip(self.queued, raws, strict=True) if raw]
        self.queued = []
        del raws
        self.db.executemany("insert into entry values(?,?,?,?,?,?,?,?,?,?,?)", entries)
        # Not cached: a cached statement would hold on to its last text, which can be long.
        self.db.executemany("insert into words(rowid, text) values(?, ?)", words, can_cache=False)

    def _masked(self, text: str) -> str:
        return text if self.mask is None else self.mask(text)

    def _quarantine(self, bad: list[Record]) -> None:
        rows = [(self.at.sid, record.line, record.offset, record.length, record.problem) for record in bad]
        self.db.executemany("insert or replace into quarantine values(?,?,?,?,?)", rows)

    def _move(self, done: int, line: int, entries: int) -> None:
        """Move the cursor, and remember what the file looks like up to there."""
        seal = sealed(self.log.fileno(), done, self.seal)
        count, last_id = self.rid - first_rid(self.at.sid), self.chain.last
        self.at = self.at._replace(
            done=done, line=line, records=count, position=self.chain.position, last_id=last_id, run=self.run,
            chain=seal.chain,
        )  # fmt: skip
        run(
            self.db,
            "update session set done = ?, line = ?, records = ?, position = ?, last_id = ?, run = ?, head = ?,"
            " chain = ?, tail = ?, entries = entries + ?, active = max(coalesce(active, 0), ?), newest = max(newest, ?)"
            " where sid = ?",
            (done, line, count, self.chain.position, encoded(last_id), self.run, *seal, entries,
             self.active, self.newest, self.at.sid),
        )  # fmt: skip


def forget(db: apsw.Connection, sid: int) -> None:
    """Take a session out; its words leave the file for good only with `erasing.erase`."""
    span = (first_rid(sid), last_rid(sid))
    for table, key in (("words", "rowid"), ("entry", "rid"), ("run", "lo"), ("edit", "rid")):
        run(db, f"delete from {table} where {key} between ? and ?", span)  # noqa: S608 - our own names
    run(db, "delete from quarantine where sid = ?", (sid,))
    run(db, "delete from session where sid = ?", (sid,))
    run(db, "insert into meta values('erase', 1) on conflict(key) do update set value = value + 1")


def _insert_session(db: apsw.Connection, path: str) -> Cursor:
    run(
        db,
        "insert into session(path, done, line, records, position, head, chain, tail, proved, id, version, cwd,"
        " parent, name, newest, entries, repeats) values(?, 0, 1, 0, 0, x'', x'', x'', 1, ?, 0, '', '', '', 0, 0, 0)",
        (os.fsencode(path), escape_surrogates(session_id(path, None))),
    )
    found = cursor(db, path)
    assert found is not None
    return found
