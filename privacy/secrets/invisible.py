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
    rb"\\{1,8}(?:u001[bB]|x1[bB]|033|e)\[[0-9;]{0,64}[A-Za-z]"
    rb"|\\{1,8}u(?:200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE][fF][fF]|00[aA][dD]|000[0-8bB]|007[fF])"
)
INVISIBLE = (  # what each of the above starts with, as an RE2 pattern
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x9b\xad]|\xcd\x8f|\xd8\x9c|\xe1\xa0[\x8b-\x8e]"
    rb"|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xf3\xa0[\x80-\x87]"
    rb"|\\u(?:001[bB]|200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE][fF][fF]|00[aA][dD]|000[0-8bB]|007[fF])"
    rb"|\\(?:x1[bB]|033|e)\["
)
INVISIBLE_STARTS = tuple(
    [bytes([code]) for code in (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F)]
    + [b"\xc2", b"\xcd", b"\xd8", b"\xe1", b"\xe2", b"\xef", b"\xf3", b"\\u", b"\\x", b"\\0", b"\\e"]
)


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


def cleaned(data: bytes) -> Cleaned:
    """Give the text without its invisible parts."""
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
    pieces.append(data[last:])
    starts.append(kept)
    origins.append(last)
    return Cleaned(b"".join(pieces), starts, origins)
