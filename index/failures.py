"""What the failures of SQLite mean: damage, after which the index is made anew, or a code of ours for the user."""

import apsw

from foundation.errors import ContextError

DAMAGE = (
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.FormatError,
    apsw.SQLError,  # our own SQL is sound, so a table is missing or is not what it was
    apsw.ConstraintError,
    apsw.MismatchError,
    UnicodeDecodeError,
)
"""What SQLite raises where a file is not what we wrote."""


def translated(error: apsw.Error) -> ContextError:
    """Say what a failure of SQLite means for the user."""
    detail = getattr(error, "extendedresult", 0)
    if detail in _DETAILS:
        return ContextError(_DETAILS[detail])
    return ContextError(next((code for kind, code in _FAILURES if isinstance(error, kind)), "index-unavailable"))


_DETAILS = {
    apsw.SQLITE_IOERR_SHMSIZE: "disk-full",  # no room for the `-shm` file
    apsw.SQLITE_READONLY_DBMOVED: "index-busy",  # another process has made the index anew
}
_FAILURES: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.BusyError, "index-busy"),
    (apsw.LockedError, "index-busy"),
    (apsw.FullError, "disk-full"),
    (apsw.ReadOnlyError, "read-only"),
    (apsw.IOError, "io-error"),
)
