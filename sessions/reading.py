"""Stream a session log line by line: where each record lies, what it holds, and what is wrong with it.

One bad line never hides the rest. Bytes after the last newline are a line still being written, not damage.
Memory stays bounded by the longest line that is accepted, whatever the file.
"""

import os
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from foundation.errors import ContextError
from sessions.decoding import TOO_DEEP, Parse, is_blank, is_padding, salvaged, slow_parse

LONGEST_RECORD = 32 * 1024 * 1024
"""Bytes; a longer line is quarantined unread."""

_CHUNK = 1 << 20
_REASONS = ("not-an-object", TOO_DEEP)


class Record(NamedTuple):
    """One JSON object of a log, or one line that holds none.

    `line` counts physical lines from 1; `offset` and `length` are bytes, without the newline but with a carriage
    return; `value` is None where `problem` names a reason. `torn` marks the bytes after the last newline. `mended`
    says how a line that Pi skips was read all the same: `bom`, `padding` or `glued`; empty for sound lines. `end` is
    the offset of the next line, 0 where more records follow on the same one.
    """

    line: int
    offset: int
    length: int
    raw: bytes
    value: dict[str, Any] | None
    problem: str = ""
    torn: bool = False
    mended: str = ""
    end: int = 0


def open_log(path: str, *, buffering: int = _CHUNK) -> BinaryIO:
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
    return os.fdopen(handle, "rb", buffering=buffering)


def records(
    log: BinaryIO,
    *,
    offset: int = 0,
    line: int = 1,
    parse: Parse = slow_parse,
    longest: int = LONGEST_RECORD,
    padding: bool = False,
) -> Iterator[Record]:
    """Yield the records from a byte offset on, `line` being the number of the line that starts there.

    Blank and padded lines are passed over but counted; with `padding` those that hold NULs or a byte order mark are
    yielded with that problem. An unterminated tail comes last, marked `torn`. Lines longer than `longest` bytes are
    passed over unread, their `raw` is empty.
    """
    log.seek(offset)
    while raw := log.readline(longest + 2):
        torn, size = not raw.endswith(b"\n"), len(raw)
        if torn and size > longest:
            size, torn = _skip_line(log, size)
        body, end, too_large = raw if torn else raw[:-1], offset + size, size - 1 + torn > longest
        del raw
        if too_large:
            found = [Record(line, offset, size - 1 + torn, b"", None, "record-too-large", torn, "", end)]
        else:
            found = _of_line(body, line, offset, end, parse, torn, padding)
        del body
        while found:
            yield found.pop()  # nothing here holds on to a long record while its reader works on it
        offset, line = end, line + 1


def _of_line(body: bytes, line: int, offset: int, end: int, parse: Parse, torn: bool, padding: bool) -> list[Record]:  # noqa: FBT001
    """Read the records of one line, the last one first."""
    if body.startswith(b"{") or not is_padding(body):
        try:
            value = parse(body)
        except ValueError:
            return [*_of_damaged(Record(line, offset, len(body), body, None, "", torn, "", end))][::-1]
        if isinstance(value, dict):
            return [Record(line, offset, len(body), body, value, "", torn, "", end)]
        return [Record(line, offset, len(body), body, None, "not-an-object", torn, "", end)]
    if torn or (padding and body.strip()):
        return [Record(line, offset, len(body), body, None, "padding", torn, "", end)]
    return []


def _of_damaged(whole: Record) -> Iterator[Record]:
    """Yield what can be read of a line that is no JSON text, or the line with its problem."""
    try:
        mended, found = salvaged(whole.raw)
    except ValueError as error:
        if not is_blank(whole.raw):
            yield whole._replace(problem=str(error) if str(error) in _REASONS else "invalid-json")
        return
    for number, (start, length, value) in enumerate(found, 1):
        raw = whole.raw[start : start + length]
        end = whole.end if number == len(found) else 0
        yield whole._replace(offset=whole.offset + start, length=length, raw=raw, value=value, mended=mended, end=end)


def _skip_line(log: BinaryIO, size: int) -> tuple[int, bool]:
    """Read on to the end of an over-long line; give its size with the newline, and whether none came."""
    while True:
        more = log.readline(_CHUNK)
        size += len(more)
        if more.endswith(b"\n"):
            return size, False
        if not more:
            return size, True
