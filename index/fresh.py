"""Open the index for a question, and bring it up to date for the files that the question is about.

Whatever is wrong with the index never stops an answer: a damaged or foreign one is set aside for an empty new one,
one that another process holds is read as it is, and one that cannot be written is done without.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import apsw

from foundation.durable import Files
from foundation.errors import ContextError
from index import opening
from index.lagging import Lag, lag_of, lags
from sessions.locating import LogFile

_PATIENCE_MS = 300  # for a writer at work; the answer then says that the index is behind
_FEW = 20  # files up to which one look-up each is cheaper than reading all rows


class Fresh(NamedTuple):
    """An open index, or None where there can be none; the files it is behind for, and what to warn about."""

    db: apsw.Connection | None
    behind: tuple[str, ...]
    warnings: tuple[str, ...]


def open_index(folder: str, disk: Files) -> tuple[apsw.Connection | None, tuple[str, ...]]:
    """Open the index, or make one; None with a warning where that cannot be done."""
    warnings: tuple[str, ...] = ()
    for _ in range(3):
        try:
            try:
                db = opening.open_writer(folder)
                if db is not None:
                    return db, warnings
                opening.create(folder, disk)
            except opening.Stale:
                warnings = ("index-rebuilt",)
                start_over(folder, disk)
        except (apsw.Error, ContextError, OSError):
            break
    return _read_only(folder), ("index-unavailable",)


def bring_up_to_date(db: apsw.Connection, files: Sequence[LogFile], *, expired: Callable[[], bool]) -> Fresh:
    """Index what is missing of these files, in their order, until the time is up or another process is in the way."""
    missing = _lags(db, files)
    if not missing:
        return Fresh(db, (), ())
    from index.catching_up import catch_up

    warnings: tuple[str, ...] = ()
    db.set_busy_timeout(_PATIENCE_MS)
    try:
        catch_up(db, missing, expired=expired)
    except (apsw.BusyError, apsw.LockedError):
        pass
    except (apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError) as error:
        warnings = (opening.translated(error).code,)
    finally:
        db.set_busy_timeout(opening.BUSY_WAIT_MS)
    return Fresh(db, tuple(lag.file.path for lag in _lags(db, files)), warnings)


def _lags(db: apsw.Connection, files: Sequence[LogFile]) -> list[Lag]:
    if len(files) > _FEW:
        return lags(db, files)
    return [lag for file in files if (lag := lag_of(db, file))]


def start_over(folder: str, disk: Files) -> None:
    """Set an index that cannot be used aside for an empty new one, unless another process has done so."""
    with opening.exclusive(folder, disk):
        try:
            db = opening.open_reader(folder)  # another process may have done it meanwhile
        except opening.Stale:
            opening.replace_generation(folder, disk)
        else:
            if db is not None:
                db.close()


def _read_only(folder: str) -> apsw.Connection | None:
    try:
        return opening.open_reader(folder)
    except (apsw.Error, opening.Stale, OSError):
        return None
