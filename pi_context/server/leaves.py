"""Finds out whether an entry is in a session file already: Pi's live leaf may be newer than what Pi has written."""

import os
from collections.abc import Sequence

from foundation.canonical import dumps
from sessions.reading import open_log

_CHUNK = 1 << 20
_MOST_ASKED = 64


def nearest_written(path: str, ids: Sequence[str]) -> str | None:
    """Give the first of these ids, a leaf and its ancestors, that is an entry's in the file; None where none is.

    Goes by the bytes `"id":"…"`, in which no text of a message can stand: there the quotes are escaped. An entry is
    written after its parent, so that the file is read from its end only until any of them is met.
    """
    wanted = [(identity, _written(identity)) for identity in ids[:_MOST_ASKED] if identity]
    overlap = max((len(form) for _, forms in wanted for form in forms), default=0)
    with open_log(path) as log:
        end = os.fstat(log.fileno()).st_size
        while wanted and end > 0:
            start = max(0, end - _CHUNK)
            log.seek(start)
            piece = log.read(end - start + overlap)
            for identity, forms in wanted:
                if any(form in piece for form in forms):
                    return identity
            end = start
    return None


def _written(identity: str) -> tuple[bytes, bytes]:
    name = dumps(identity).encode()
    return b'"id":' + name, b'"id": ' + name
