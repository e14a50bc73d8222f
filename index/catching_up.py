"""Bring the index up to date with the session files: what changed, in which order, and within which time.

A file whose stat result is the one on record costs nothing more. A grown file is read from where the last reading
ended. Everything else (cut, replaced, migrated, edited in place) is noticed by what the file looks like around that
place, and the session is read anew.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import apsw

from foundation.allocator import prepare_for_bulk
from foundation.errors import ContextError
from index.changes import CHANGED, LIKELY, compare
from index.lagging import Lag, unproved
from index.masks import Masks, no_masks
from index.sql import run, transaction
from index.stamps import stamp
from index.tuning import BULK_BYTES, end_bulk, finish_bulk, merge_a_step, start_bulk
from index.writing import Added, SessionWriter, cursor, forget
from sessions.decoding import Parse, fast_parser, slow_parse
from sessions.reading import open_log

_COMMIT_BYTES = 32_000_000
_PIECE_BYTES = 4_000_000
_SLOW_PARSER_BYTES = 1_000_000  # importing the fast parser costs as much as parsing this much with the slow one


class Quarantined(NamedTuple):
    """A line that could not be read as an entry: where, and why."""

    file: str
    line: int
    offset: int
    length: int
    reason: str


class Counters(NamedTuple):
    """What an update saw and did.

    Where it ran out of time `behind` bytes remain, of the files `left`; `skipped` are files that failed, with codes.
    """

    files_seen: int = 0
    files_read: int = 0
    bytes_read: int = 0
    entries_added: int = 0
    quarantined: tuple[Quarantined, ...] = ()
    behind: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    left: tuple[str, ...] = ()


Progress = Callable[[int, int], None]
"""Hears bytes done and bytes in all."""

Expired = Callable[[], bool]
"""Tells whether the time is up."""


def silent(done: int, total: int) -> None:
    """Hear nothing."""


def catch_up(
    db: apsw.Connection,
    work: Sequence[Lag],
    *,
    expired: Expired | None = None,
    progress: Progress = silent,
    thorough: bool = False,
    masks: Masks = no_masks,
) -> Counters:
    """Index what is missing, in the order given, until it is done or the time is up.

    Committed piece by piece: a killed process loses at most the last piece, and the next call goes on there.
    `thorough` reads the indexed part again of every file that grew, now or since the last time, so that an edit far
    from its end is noticed.
    """
    patient = expired is None  # a writer that gets on is waited for, however long: both have work to do
    expired = expired or _never
    if thorough:
        named = {lag.file.path for lag in work}
        work = [*work, *(lag for lag in unproved(db) if lag.file.path not in named)]
    total = sum(lag.missing for lag in work)
    if total > BULK_BYTES:
        with transaction(db, patient=patient):
            start_bulk(db)
    update = _Update(db, expired, progress, total, thorough=thorough, masks=masks)
    queue = list(reversed(work))
    try:
        while queue and not expired():
            with transaction(db, patient=patient):
                update.one_commit(queue, enough=update.counters.bytes_read + _COMMIT_BYTES)
                merge_a_step(db)
    finally:
        update.close()
    if not queue:
        finish_bulk(db, at_once=patient)
    done = update.counters
    left = tuple(lag.file.path for lag in reversed(queue))
    return done._replace(files_seen=len(work), behind=max(total - done.bytes_read, 1) if left else 0, left=left)


def fill(db: apsw.Connection, work: Sequence[Lag], *, progress: Progress, masks: Masks = no_masks) -> Counters:
    """Index all files into a new generation, within the caller's one transaction."""
    update = _Update(db, _never, progress, sum(lag.missing for lag in work), thorough=False, masks=masks)
    start_bulk(db)
    try:
        update.one_commit(list(reversed(work)), enough=sys.maxsize)
    finally:
        update.close()
    end_bulk(db)
    return update.counters._replace(files_seen=len(work))


def _never() -> bool:
    return False


class _Update:
    """One run over the files: what it has counted, and the session it stands in."""

    def __init__(
        self, db: apsw.Connection, expired: Expired, progress: Progress, total: int, *, thorough: bool, masks: Masks
    ) -> None:
        self.db, self.expired, self.progress, self.masks = db, expired, progress, masks
        self.parse: Parse = slow_parse
        if total > _SLOW_PARSER_BYTES:
            self.parse = fast_parser()
            prepare_for_bulk()
        self.total, self.thorough = total, thorough
        self.counters = Counters()
        self.writer: SessionWriter | None = None
        self.proved = True

    def one_commit(self, queue: list[Lag], *, enough: int) -> None:
        """Work off the queue until `enough` bytes were read in all."""
        while queue and self.counters.bytes_read < enough and not self.expired():
            try:
                if not self._file(queue[-1].file.path, enough):
                    return
            except ContextError as error:
                skipped = (queue[-1].file.path, error.code)
                self.counters = self.counters._replace(skipped=(*self.counters.skipped, skipped))
            queue.pop()
            self.close()

    def close(self) -> None:
        """Let go of the session that it stands in."""
        if self.writer:
            self.writer.log.close()
            self.writer = None

    def _file(self, path: str, enough: int) -> bool:
        """Index one file; False where time or the commit's size ended it before its end."""
        writer = self._writer(path)
        seen = stamp(os.fstat(writer.log.fileno()))
        while True:
            added = writer.take(self.parse, at_most=_PIECE_BYTES)
            self._count(added, path)
            if added.finished:
                row = (*seen, self.proved, writer.at.sid)
                sql = "update session set inode = ?, size = ?, mtime = ?, ctime = ?, proved = ? where sid = ?"
                run(self.db, sql, row)
                self.counters = self.counters._replace(files_read=self.counters.files_read + 1)
                return True
            if self.expired() or self.counters.bytes_read >= enough:
                return False

    def _writer(self, path: str) -> SessionWriter:
        """Go on with the session that the last commit ended in, unless another process went on with it."""
        at = cursor(self.db, path)
        if self.writer:
            if self.writer.at == at:
                return self.writer
            self.close()
        log = open_log(path)
        try:
            found = compare(self.db, path, log, thorough=self.thorough) if at else None
            if at and found == CHANGED:
                forget(self.db, at.sid)
            self.proved = found != LIKELY
            self.writer = SessionWriter(self.db, path, log, self.masks)
        except BaseException:
            log.close()
            raise
        return self.writer

    def _count(self, added: Added, path: str) -> None:
        bad = tuple(Quarantined(path, bad.line, bad.offset, bad.length, bad.problem) for bad in added.quarantined)
        seen = self.counters
        self.counters = seen._replace(
            bytes_read=seen.bytes_read + added.bytes_read,
            entries_added=seen.entries_added + added.entries,
            quarantined=seen.quarantined + bad,
        )
        self.progress(self.counters.bytes_read, self.total)
