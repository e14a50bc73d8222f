r"""Takes out what the eye does not see, so that a key with a colour or a zero-width space in it stays one key.

Terminal control sequences, control characters, zero-width and direction characters, soft hyphens, variation selectors,
blank fillers of Hangul and Braille; real ones and their escapes in text (`\u200b`, `\x1b[0m`). Places in the cleaned
text are mapped back on demand, so a text that is full of them costs no table.
"""

import functools
import re
from collections.abc import Iterator

from privacy.secrets.escaped import FULL_WIDTH, KEY_CHARACTERS

_CONTROLS = rb"\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f"
_ESC = rb"(?:u001[bB]|x1[bB]|033|e)"
_HEX4 = (
    rb"0(?:0(?:0[0-8bB]|7[fF]|[aA][dD])|34[fF]|61[cC])|1(?:15[fF]|160|7[bB][45]|80[b-fB-F])"
    rb"|2(?:0(?:0[b-fB-F]|2[a-eA-E]|6[0-9a-fA-F])|800)|3164"
    rb"|[fF](?:[eE](?:[fF][fF]|0[0-9a-fA-F])|[fF](?:[aA]0|[fF][0-9a-cA-C]))|[dD][bB]40\\{1,8}u[dD][cC][0-9a-fA-F]{2}"
)
_PARTS = (  # what may follow each first byte; the look-behinds let the search skip to the first bytes
    rb"(?<=[" + _CONTROLS + rb"])",
    rb"(?<=\x1b)(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)|[@-Z\\^_()])?",
    rb"(?<=\xc2)(?:\xad|\x9b[0-?]{0,64}[@-~])",
    rb"(?<=\xcd)\x8f",
    rb"(?<=\xd8)\x9c",
    rb"(?<=\xe1)(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])",
    rb"(?<=\xe2)(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf]|\xa0\x80)",
    rb"(?<=\xe3)\x85\xa4",
    rb"(?<=\xef)(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xbc])",
    rb"(?<=\xf0)(?:\x9b\xb2[\xa0-\xa3]|\x9d\x85[\xb3-\xba])",
    rb"(?<=\xf3)\xa0[\x80-\x87][\x80-\xbf]",
    rb"(?<=\\)\\{0,7}(?:" + _ESC + rb"(?:\[[0-9;]{0,64}[A-Za-z]"
    rb"|\][^\\\n]{0,2048}\\{1,8}(?:u0007|x07|" + _ESC + rb"\\{1,8}))|u(?:" + _HEX4 + rb"))",
)
_PATTERN = b"[" + _CONTROLS + rb"\x1b\xc2\xcd\xd8\xe1\xe2\xe3\xef\xf0\xf3\\](?:" + b"|".join(_PARTS) + b")"
INVISIBLE = (  # what each of the above starts with, and what is written otherwise, as an RE2 pattern
    b"[" + _CONTROLS + rb"\x1b]|\xc2[\x9b\xad]|\xcd\x8f|\xd8\x9c|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0[\x8b-\x8f])"
    rb"|\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf]|\xa0\x80)|\xe3\x85\xa4"
    rb"|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xbc])"
    rb"|\xf0(?:\x9b\xb2[\xa0-\xa3]|\x9d\x85[\xb3-\xba])|\xf3\xa0[\x80-\x87]"
    rb"|\\u(?:001[bB]|" + _HEX4 + rb"|" + KEY_CHARACTERS + rb")|\\(?:x1[bB]|033|e)\[|" + FULL_WIDTH
)
INVISIBLE_STARTS = (
    *(bytes([code]) for code in range(0x20) if code not in b"\t\n\r"),
    *(
        b"\x7f",
        b"\xc2",
        b"\xcd",
        b"\xd8",
        b"\xe1",
        b"\xe2",
        b"\xe3",
        b"\xef",
        b"\xf0",
        b"\xf3",
        b"\\u",
        b"\\x",
        b"\\0",
        b"\\e",
    ),
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
