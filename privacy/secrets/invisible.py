r"""Takes out what the eye does not see, so that a key with a colour or a zero-width space in it stays one key.

Terminal control sequences, control characters, zero-width and direction characters, soft hyphens, variation selectors;
real ones and their escapes in text (`\u200b`, `\x1b[0m`). Places in the cleaned text are mapped back.
"""

import functools
import re
from bisect import bisect_right
from typing import NamedTuple

_ESCAPE_SEQUENCE = rb"(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)|[@-Z\\^_()])?"
_REAL = (
    rb"\x1b" + _ESCAPE_SEQUENCE + rb"|\xc2\x9b[0-?]{0,64}[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
    rb"|\xc2\xad|\xcd\x8f|\xd8\x9c|\xe1\xa0[\x8b-\x8e]|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xb8[\x80-\x8f]"
    rb"|\xef\xbb\xbf|\xf3\xa0[\x80-\x87][\x80-\xbf]"
)
_WRITTEN = (
    rb"\\+(?:u001[bB]|x1[bB]|033|e)\[[0-9;]{0,64}[A-Za-z]"
    rb"|\\+u(?:200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE][fF][fF]|00[aA][dD]|000[0-8bB]|007[fF])"
)
_CONTROLS = (b"\x1b", b"\x00", b"\x08", b"\x7f", b"\x07", b"\x0e", b"\x0f", b"\x01", b"\x02", b"\x03")
_BEYOND_ASCII = (
    b"\xe2\x80",
    b"\xe2\x81",
    b"\xef\xbb\xbf",
    b"\xc2\xad",
    b"\xef\xb8",
    b"\xc2\x9b",
    b"\xe1\xa0",
    b"\xcd\x8f",
    b"\xf3\xa0",
)
_WRITTEN_STARTS = (b"\\u", b"\\x1", b"\\033", b"\\e[")


class Cleaned(NamedTuple):
    """A text without its invisible parts, with the places where each kept piece starts, here and there."""

    data: bytes
    starts: list[int]
    origins: list[int]

    def place(self, at: int) -> int:
        """Give where the byte at `at` of the cleaned text stands in the original."""
        piece = bisect_right(self.starts, at) - 1
        return self.origins[piece] + at - self.starts[piece]


@functools.cache
def _pattern() -> re.Pattern[bytes]:
    return re.compile(_REAL + b"|" + _WRITTEN)


def cleaned(data: bytes, *, ascii_only: bool) -> Cleaned | None:
    """Give the text without invisible parts, or None where it has none."""
    if not _may_have(data, ascii_only=ascii_only):
        return None
    pieces: list[bytes] = []
    starts: list[int] = []
    origins: list[int] = []
    kept = last = 0
    for found in _pattern().finditer(data):
        if found.start() > last:
            pieces.append(data[last : found.start()])
            starts.append(kept)
            origins.append(last)
            kept += found.start() - last
        last = found.end()
    if last == 0:
        return None
    pieces.append(data[last:])
    starts.append(kept)
    origins.append(last)
    return Cleaned(b"".join(pieces), starts, origins)


def _may_have(data: bytes, *, ascii_only: bool) -> bool:
    """Look for the first bytes only: this runs over every text, and the search for one byte is the fastest there is."""
    return (
        any(mark in data for mark in _CONTROLS)
        or (not ascii_only and any(mark in data for mark in _BEYOND_ASCII))
        or (b"\\" in data and any(mark in data for mark in _WRITTEN_STARTS))
    )
