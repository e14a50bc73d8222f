"""How the index stands: how far behind it is, what it could not read, whether it is sound."""

import contextlib
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from foundation.errors import ContextError
from index.catching_up import Quarantined
from index.changes import is_changed
from index.erasing import is_pending
from index.lagging import lags
from index.opening import Stale, current
from index.rules import RULES
from index.schema import SHIFT
from index.sql import rows, run, value
from index.tuning import in_bulk
from sessions.locating import LogFile
from sessions.reading import open_log

_DISAGREEING = f"""
select 1 from session where entries <> (
    select count(*) from entry where rid between (sid << {SHIFT}) + 1 and (sid + 1 << {SHIFT}) - 1)
union all
select 1 where (select count(*) from entry where digest is not null) <> (select count(*) from words_docsize)
limit 1
"""  # noqa: S608 - a number
"""Finds a row where the tables do not agree about how many entries there are."""


class State(NamedTuple):
    """Numbers about the index; `behind` in bytes of log, `size` in bytes on disk.

    `files_behind` of the files asked about are not indexed as they are now. `detectors_behind` says that the rules
    of what is indexed have changed since. `unfinished` says that a bulk build was cut short.
    """

    sessions: int
    entries: int
    files_behind: int
    behind: int
    quarantined: int
    detectors_behind: bool
    pending_erase: bool
    unfinished: bool
    size: int


def state(db: apsw.Connection, folder: str, files: Sequence[LogFile]) -> State:
    """Tell how the index stands for these files; reads no log."""
    missing = lags(db, files)
    sessions, entries = next(rows(db, "select count(*), coalesce(sum(entries), 0) from session"))
    return State(
        sessions=sessions,
        entries=entries,
        files_behind=len(missing),
        behind=sum(lag.missing for lag in missing),
        quarantined=value(db, "select count(*) from quarantine"),
        detectors_behind=not has_present_rules(db),
        pending_erase=is_pending(db),
        unfinished=in_bulk(db),
        size=_size(folder),
    )


def has_present_rules(db: apsw.Connection) -> bool:
    """Tell whether the words in the index were made by the rules that are in force now."""
    return bool(value(db, "select value from meta where key = 'rules'") == RULES)


def quarantine(db: apsw.Connection) -> list[Quarantined]:
    """List the quarantined lines."""
    found = rows(
        db, "select path, q.line, off, len, reason from quarantine q join session using (sid) order by path, off"
    )
    return [Quarantined(os.fsdecode(path), *rest) for path, *rest in found]


def problems(db: apsw.Connection) -> Iterable[tuple[str, str]]:
    """Check the index against every byte of the logs; yield `(file, code)`, the file empty for the index itself."""
    if db.pragma("integrity_check") != "ok":
        yield "", "index-damaged"
    try:
        run(db, "insert into words(words, rank) values('integrity-check', 0)")
    except (apsw.CorruptError, apsw.SQLError):
        yield "", "index-damaged"
    if value(db, _DISAGREEING):
        yield "", "index-damaged"
    for sid, path in list(rows(db, "select sid, path from session order by path")):
        try:
            with open_log(os.fsdecode(path)) as log:
                if is_changed(db, sid, log):
                    yield os.fsdecode(path), "source-changed"
        except ContextError as error:
            yield os.fsdecode(path), error.code


def _size(folder: str) -> int:
    try:
        generation = current(folder)
    except Stale:
        return 0
    size = 0
    for name in generation.files if generation else ():
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):  # not there, or no more
                size += os.path.getsize(os.path.join(folder, name + end))
    return size
