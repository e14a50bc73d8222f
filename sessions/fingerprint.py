"""The size and SHA-256 of the first bytes of a log: what a source was when it was rebased.

Logs only grow, so a prefix that still has its digest is the same history, whatever was appended behind it.
"""

from hashlib import sha256
from typing import BinaryIO, NamedTuple

_CHUNK = 1 << 20


class Fingerprint(NamedTuple):
    """The first `size` bytes of a file, and their SHA-256 in hexadecimal digits."""

    size: int
    sha256: str


def prefix(log: BinaryIO, size: int) -> Fingerprint | None:
    """Take the fingerprint of the first `size` bytes, a megabyte at a time; None where the file is shorter."""
    log.seek(0)
    digest, left = sha256(), size
    while left:
        piece = log.read(min(_CHUNK, left))
        if not piece:
            return None
        digest.update(piece)
        left -= len(piece)
    return Fingerprint(size, digest.hexdigest())
