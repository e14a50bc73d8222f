r"""Takes out what the eye does not see, so that a key with a colour or a zero-width space in it stays one key.

Terminal control sequences, control characters, zero-width and direction characters, soft hyphens, variation selectors;
real ones and their escapes in text (`\u200b`, `\x1b[0m`). Places in the cleaned text are mapped back on demand, so a
text that is full of them costs no table.
"""

import functools
import re
from collections.abc import Iterator

_CONTROLS = rb"\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f"
_ESC = rb"(?:u001[bB]|x1[bB]|033|e)"
_HEX4 = (
    rb"200[b-fB-F]|202[a-eA-E]|206[0-9a-fA-F]|[fF][eE][fF][fF]|[fF][eE]0[0-9a-fA-F]|00[aA][dD]"
    rb"|000[0-8bB]|007[fF]|[dD][bB]40\\{1,8}u[dD][cC][0-9a-fA-F]{2}"
)
_PARTS = (  # what may follow each first byte; the look-behinds let the search skip to the first bytes
    rb"(?<=[" + _CONTROLS + rb"])",
    rb"(?<=\x1b)(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)|[@-Z\\^_()])?",
    rb"(?<=\xc2)(?:\xad|\x9b[0-?]{0,64}[@-~])",
    rb"(?<=\xcd)\x8f",
    rb"(?<=\xd8)\x9c",
    rb"(?<=\xe1)\xa0[\x8b-\x8e]",
    rb"(?<=\xe2)(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])",
    rb"(?<=\xef)(?:\xb8[\x80-\x8f]|\xbb\xbf)",
    rb"(?<=\xf3)\xa0[\x80-\x87][\x80-\xbf]",
    rb"(?<=\\)\\{0,7}(?:" + _ESC + rb"(?:\[[0-9;]{0,64}[A-Za-z]"
    rb"|\][^\\\n]{0,2048}\\{1,8}(?:u0007|x07|" + _ESC + rb"\\{1,8}))|u(?:" + _HEX4 + rb"))",
)
_PATTERN = b"[" + _CONTROLS + rb"\x1b\xc2\xcd\xd8\xe1\xe2\xef\xf3\\](?:" + b"|".join(_PARTS) + b")"
INVISIBLE = (  # what each of the above starts with, as an RE2 pattern
    b"[" + _CONTROLS + rb"\x1b]|\xc2[\x9b\xad]|\xcd\x8f|\xd8\x9c|\xe1\xa0[\x8b-\x8e]"
    rb"|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xf3\xa0[\x80-\x87]"
    rb"|\\u(?:001[bB]|" + _HEX4 + rb")|\\(?:x1[bB]|033|e)\["
)
INVISIBLE_STARTS = (
    *(bytes([code]) for code in range(0x20) if code not in b"\t\n\r"),
    *(b"\x7f", b"\xc2", b"\xcd", b"\xd8", b"\xe1", b"\xe2", b"\xef", b"\xf3", b"\\u", b"\\x", b"\\0", b"\\e"),
)
"""Matches of `INVISIBLE` start with one of these, and no other trigger does."""


@functools.cache
def _pattern() -> re.Pattern[bytes]:
    return re.compile(_PATTERN)


def cleaned(data: bytes) -> bytes:
    """Give the text without its invisible parts."""
    return _pattern().sub(b"", data)


def places(data: bytes, at: list[int]) -> Iterator[int]:
    """Give for places of the cleaned text, in ascending order, where they are in the text itself."""
    kept = last = 0
    wanted = iter(at)
    place = next(wanted, None)
    for found in _pattern().finditer(data):
        size = found.start() - last
        while place is not None and place < kept + size:
            yield last + place - kept
            place = next(wanted, None)
        if place is None:
            return
        kept, last = kept + size, found.end()
    while place is not None:
        yield last + place - kept
        place = next(wanted, None)
