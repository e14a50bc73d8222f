"""Finds out whether an entry is in a session file already: Pi's live leaf may be newer than what Pi has written."""

import os
from collections.abc import Iterable

from foundation.canonical import dumps
from sessions.reading import open_log

_CHUNK = 1 << 20
_MOST_ASKED = 64


def nearest_written(path: str, ids: Iterable[str]) -> str | None:
    """Give the first of these ids that is an entry's in the file, looking from its end; None where none is.

    By the bytes `"id":"…"`, in which no text of a message can stand: there the quotes are escaped.
    """
    for identity in list(ids)[:_MOST_ASKED]:
        if identity and _stands_in(path, identity):
            return identity
    return None


def _stands_in(path: str, identity: str) -> bool:
    name = dumps(identity).encode()
    wanted = (b'"id":' + name, b'"id": ' + name)
    overlap = len(wanted[1]) - 1
    with open_log(path) as log:
        end = os.fstat(log.fileno()).st_size
        while end > 0:
            start = max(0, end - _CHUNK)
            log.seek(start)
            piece = log.read(end - start + overlap)
            if any(each in piece for each in wanted):
                return True
            end = start
    return False
