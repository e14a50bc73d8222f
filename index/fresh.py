"""Open the index for a question, and bring it up to date for the files that the question is about.

Whatever is wrong with the index never stops an answer: a damaged or foreign one is set aside for an empty new one,
one that another process holds is read as it is, and one that cannot be written is done without.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import apsw

from foundation.durable import Files
from foundation.errors import ContextError
from index import opening
from index.failures import DAMAGE, translated
from index.lagging import lags
from index.masks import Masks, no_masks
from index.sql import waiting
from sessions.locating import LogFile

_Answer = TypeVar("_Answer")

_PATIENCE_MS = 300  # for a writer at work; the answer then says that the index is behind
_TRIES = 4


class Fresh(NamedTuple):
    """The files that the index is still behind for, and what else to warn about."""

    behind: tuple[str, ...]
    warnings: tuple[str, ...]


def with_index(folder: str, disk: Files, ask: Callable[[apsw.Connection | None, tuple[str, ...]], _Answer]) -> _Answer:
    """Ask with the index open and what there is to warn about; without an index where none can be had.

    One that proves to be damaged while it is asked is set aside for an empty new one, and asked again.
    """
    rebuilt: tuple[str, ...] = ()
    for _ in range(_TRIES):
        db, warnings = open_index(folder, disk)
        if db is None:
            return ask(None, (*rebuilt, *warnings))
        name = os.path.basename(db.filename)
        try:
            return ask(db, (*rebuilt, *warnings))
        except DAMAGE:
            if opening.is_replaced(folder, name):
                continue
        except apsw.Error as error:
            if opening.is_replaced(folder, name):
                continue
            return ask(None, (*rebuilt, translated(error).code))
        finally:
            db.close()
        try:
            start_over(folder, disk, damaged=name)
        except (apsw.Error, ContextError, OSError):
            break
        rebuilt = ("index-rebuilt",)
    return ask(None, (*rebuilt, "index-unavailable"))


_PLACE = ("in-the-way", "lock-unavailable")
"""Codes of a folder in which there can be no index; who only searches hears that there is none."""


def open_index(folder: str, disk: Files) -> tuple[apsw.Connection | None, tuple[str, ...]]:
    """Open the index, or make one; None with a warning where that cannot be done."""
    warnings: tuple[str, ...] = ()
    problem = "index-unavailable"
    for _ in range(3):
        try:
            try:
                return opening.open_or_create(folder, disk, wait_ms=_PATIENCE_MS), warnings
            except opening.Stale:
                start_over(folder, disk)
                warnings = ("index-rebuilt",)
        except ContextError as error:
            if error.code not in _PLACE:
                problem = error.code
            break
        except apsw.Error as error:
            problem = translated(error).code
            break
        except OSError:
            break
    return _read_only(folder), (problem,)


def bring_up_to_date(
    db: apsw.Connection, files: Sequence[LogFile], *, expired: Callable[[], bool], masks: Masks = no_masks
) -> Fresh:
    """Index what is missing of these files, in their order, until the time is up or another process is in the way."""
    missing = lags(db, files)
    if not missing:
        return Fresh((), ())
    from index.catching_up import catch_up

    warnings: tuple[str, ...] = ()
    try:
        with waiting(db, _PATIENCE_MS):
            done = catch_up(db, missing, expired=expired, masks=masks)
    except (apsw.BusyError, apsw.LockedError):
        pass
    except (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError) as error:
        if opening.is_replaced(*os.path.split(db.filename)):
            raise
        warnings = (translated(error).code,)
    else:  # told by what was left, not by a second look: a live log grows under our eyes
        return Fresh(done.left, ("source-unavailable",) if done.skipped else ())
    return Fresh(tuple(lag.file.path for lag in lags(db, files)), warnings)


def let_doubt(db: apsw.Connection, paths: Iterable[str]) -> bool:
    """Let the next catching up read these files anew; False where another process is in the way or it may not be."""
    from index.changes import doubt

    try:
        with waiting(db, _PATIENCE_MS):
            doubt(db, paths)
    except (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError):
        return False
    return True


def start_over(folder: str, disk: Files, *, damaged: str = "") -> None:
    """Set an index that cannot be used aside for an empty new one, unless another process has done so.

    `damaged` names the file of an index that opens all the same. Raises ContextError with `index-busy`.
    """
    with opening.exclusive(folder, disk, wait_ms=_PATIENCE_MS):
        try:
            present = opening.current(folder)
            db = opening.open_reader(folder) if present and damaged not in present.files else None
        except opening.Stale:
            present = db = None
        if db is not None:
            db.close()
        elif present is None or damaged in present.files:
            opening.replace_generation(folder, disk)


def _read_only(folder: str) -> apsw.Connection | None:
    try:
        return opening.open_reader(folder)
    except (apsw.Error, opening.Stale, OSError):
        return None
