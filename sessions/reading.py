"""Stream a session log line by line: where each record lies, what it holds, and what is wrong with it.

One bad line never hides the rest. Bytes after the last newline are a line still being written, not damage.
Memory stays bounded by the longest line that is accepted, whatever the file.
"""

import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from foundation.errors import ContextError
from sessions.decoding import Parse, is_padding, objects, slow_parse

LONGEST_RECORD = 32 * 1024 * 1024
"""Bytes; a longer line is quarantined unread."""

_CHUNK = 1 << 20


class Record(NamedTuple):
    """One JSON object of a log, or one line that holds none.

    `line` counts physical lines from 1; `offset` and `length` are bytes, without the newline but with a carriage
    return; `value` is None where `problem` names a reason. `torn` marks the bytes after the last newline.
    """

    line: int
    offset: int
    length: int
    raw: bytes
    value: dict[str, Any] | None
    problem: str = ""
    torn: bool = False


def open_log(path: str) -> BinaryIO:
    """Open a session log for reading; a folder, device or pipe is refused without ever waiting on it.

    Raises ContextError with `file-missing`, `not-a-file` or `file-unreadable`.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ContextError("file-missing") from error
    except IsADirectoryError as error:
        raise ContextError("not-a-file") from error
    except (OSError, ValueError) as error:
        raise ContextError("file-unreadable") from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ContextError("not-a-file")
    return os.fdopen(handle, "rb", buffering=_CHUNK)


def records(log: BinaryIO, *, offset: int = 0, line: int = 1, parse: Parse = slow_parse) -> Iterator[Record]:
    """Yield the records from a byte offset on, `line` being the number of the line that starts there.

    Blank and padded lines are passed over but counted. An unterminated tail comes last, marked `torn`.
    """
    log.seek(offset)
    while True:
        raw = log.readline(LONGEST_RECORD + 2)
        if not raw:
            return
        if raw.endswith(b"\n"):
            size, body, torn = len(raw), raw[:-1], False
        elif len(raw) <= LONGEST_RECORD:
            size, body, torn = len(raw), raw, True
        else:
            size, torn = _skip_line(log, len(raw))
            yield Record(line, offset, size - (not torn), b"", None, "record-too-large", torn)
            offset, line = offset + size, line + 1
            continue
        if len(body) > LONGEST_RECORD:
            yield Record(line, offset, len(body), b"", None, "record-too-large", torn)
        else:
            yield from _of_line(body, line=line, offset=offset, torn=torn, parse=parse)
        offset, line = offset + size, line + 1


def _of_line(body: bytes, *, line: int, offset: int, torn: bool, parse: Parse) -> Iterator[Record]:
    if is_padding(body):
        if torn:
            yield Record(line, offset, len(body), body, None, "padding", torn)
        return
    try:
        found = objects(body, parse)
    except ValueError as error:
        reason = str(error) if str(error) in ("not-an-object", "nested-too-deep") else "invalid-json"
        yield Record(line, offset, len(body), body, None, reason, torn)
        return
    for start, length, value in found:
        raw = body if length == len(body) else body[start : start + length]
        yield Record(line, offset + start, length, raw, value, "", torn)


def _skip_line(log: BinaryIO, size: int) -> tuple[int, bool]:
    """Read on to the end of an over-long line; give its size with the newline, and whether none came."""
    while True:
        more = log.readline(_CHUNK)
        size += len(more)
        if more.endswith(b"\n"):
            return size, False
        if not more:
            return size, True
