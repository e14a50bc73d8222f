"""Tell whether a session log still begins with the bytes that were indexed, at the price that the question is worth.

A file that only grew is held against its first and its last indexed blocks, which costs the same whatever its size.
For certainty every indexed record is read again: by `index update`, by `index check`, and for a file that changed
otherwise.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from typing import BinaryIO, NamedTuple

import apsw

from index.schema import first_rid, last_rid
from index.sql import rows, run, transaction
from index.stamps import stamp
from sessions.decoding import parser_for
from sessions.reading import open_log, records

CHANGED, LIKELY, PROVED = 0, 1, 2

_BLOCK = 4096


class Seal(NamedTuple):
    """What the indexed part of a file looks like.

    `head` is the digest of its first block, `tail` that of its last whole block and what follows, and `chain` that of
    its records that are no entries, each `linked` to the one before: entries have their own digests in their rows.
    """

    head: bytes = b""
    chain: bytes = b""
    tail: bytes = b""


def linked(chain: bytes, offset: int, digest: bytes) -> bytes:
    """Add the place and the digest of the next record to the digest of all records before it."""
    return sha256(b"%b%b%d" % (chain, digest, offset)).digest()


def sealed(handle: int, done: int, chain: bytes) -> Seal:
    """Seal the first `done` bytes of a file, whose records that are no entries have this chain."""
    return Seal(_head(handle, done), chain, _tail(handle, done))


def compare(db: apsw.Connection, path: str, log: BinaryIO, *, thorough: bool) -> int:
    """Say whether a file still begins with what was indexed of it: CHANGED, LIKELY or PROVED.

    With `thorough` no file is trusted, also if it only grew.
    """
    sql = "select sid, done, inode, size, head, chain, tail from session where path = ?"
    sid, done, inode, size, *known = next(rows(db, sql, (os.fsencode(path),)))
    handle = log.fileno()
    stat = os.fstat(handle)
    seal = Seal(*known)
    if stat.st_size < done or (_head(handle, done), _tail(handle, done)) != (seal.head, seal.tail):
        return CHANGED
    grew = inode is None or (inode == stamp(stat)[0] and stat.st_size > size)
    if grew and not thorough:
        return LIKELY
    return PROVED if _is_whole(db, sid, log, done, seal.chain) else CHANGED


def is_another_file(db: apsw.Connection, path: str) -> bool:
    """Tell whether what was indexed of a file is no beginning of it any more, by its first and last indexed blocks.

    Raises ContextError where the file cannot be opened.
    """
    with open_log(path) as log:
        return compare(db, path, log, thorough=False) == CHANGED


def is_changed(db: apsw.Connection, sid: int, log: BinaryIO) -> bool:
    """Hold every indexed record of a session against its file."""
    done, chain = next(rows(db, "select done, chain from session where sid = ?", (sid,)))
    return os.fstat(log.fileno()).st_size < done or not _is_whole(db, sid, log, done, chain)


def doubt(db: apsw.Connection, paths: Iterable[str]) -> None:
    """Let the next catching up read these files anew: what is on record of them has proved to be wrong."""
    with transaction(db):
        for path in paths:
            run(db, "update session set head = x'', size = -1 where path = ?", (os.fsencode(path),))


def _head(handle: int, done: int) -> bytes:
    return sha256(os.pread(handle, min(done, _BLOCK), 0)).digest()


def _tail(handle: int, done: int) -> bytes:
    start = max(done // _BLOCK - 1, 0) * _BLOCK
    return sha256(os.pread(handle, done - start, start)).digest()


def _is_whole(db: apsw.Connection, sid: int, log: BinaryIO, done: int, chain: bytes) -> bool:
    """Tell whether the first `done` bytes of a file hold the records on record, at their places, and no others."""
    span = (first_rid(sid), last_rid(sid))
    entries = rows(db, "select off, sha from entry where rid between ? and ? order by rid", span)
    expected, others = next(entries, None), b""
    for record in records(log, parse=parser_for(done)):
        if record.torn or record.offset >= done:
            break
        digest = sha256(record.raw).digest()
        if expected == (record.offset, digest):
            expected = next(entries, None)
        else:
            others = linked(others, record.offset, digest)
    return expected is None and others == chain
