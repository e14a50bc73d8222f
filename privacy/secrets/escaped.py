r"""Reads what is written as an escape: `\u0022`, `\x22`, `&quot;`, `&#34;`, `%22`, and full-width letters.

JSON that a program wrote inside HTML, a URL or a script carries its quotes and signs so, and a key may have one of its
own characters written so. Each escape of a printable ASCII character stands for that one byte, so places in the text
that was read map back to the text itself.
"""

import functools
import re
from collections.abc import Iterator, Sequence

_TIMES = {"percent": rb"%(?:25)*", "entity": rb"&(?:amp;)*", "slash": rb"\\+(?:u00|x)"}  # each also escaped again
_QUOTE_OR_SIGN = rb"(?:22|27|3[aAdD])"
QUOTED = (
    b"(?:" + _TIMES["percent"] + _QUOTE_OR_SIGN + b"|" + _TIMES["slash"] + _QUOTE_OR_SIGN + b"|" + _TIMES["entity"]
    + b"(?:quot|apos|#(?:34|39|[xX]2[27]));)"
)  # fmt: skip
"""An escaped quote, colon or equals sign: an RE2 pattern that counts right behind a name."""

KEY_CHARACTERS = (
    rb"00(?:2[27dDeE]|3[0-9aAdD]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF])"
    rb"|[fF]{2}(?:1[0-9]|[24][1-9a-fA-F]|[35][0-9aA]|3[fF])"
)
"""The hexadecimal digits, behind a backslash and `u`, of what names, keys and quotes are made of; full width or not."""

FULL_WIDTH = rb"\xef(?:\xbc[\x90-\x99\xa1-\xba\xbf]|\xbd[\x81-\x9a])"
"""A full-width digit, letter or underscore in UTF-8."""

HINT = rb"[A-Za-z](?:[ \t]*[:=][ \t]*)?" + QUOTED + rb"|\\u" + KEY_CHARACTERS + b"|" + FULL_WIDTH
"""What a text holds that is worth decoding, as an RE2 pattern."""

_NAMED = {b"quot": b'"', b"apos": b"'", b"lt": b"<", b"gt": b">", b"amp": b"&"}
_HEX = rb"(?:[2346][0-9a-fA-F]|5[0-9abdefABDEF]|7[0-9a-eA-E])"  # printable, and no backslash
_PATTERN = (  # the look-behinds let the search skip to the first bytes
    rb"[%\\&\xef](?:(?<=%)(?:25){0,8}" + _HEX
    + rb"|(?<=\\)\\{0,7}(?:(?:u00|x)" + _HEX + rb"|u[fF]{2}(?:0[1-9a-fA-F]|1[0-9a-fA-F]|[2-5][0-9abdefABDEF]))"
    + rb"|(?<=&)(?:amp;){0,8}(?:quot|apos|lt|gt|amp|#0{0,4}[0-9]{2,3}|#[xX]0{0,4}" + _HEX + rb");"
    + rb"|(?<=\xef)(?:\xbc[\x81-\xbb\xbd-\xbf]|\xbd[\x80-\x9e]))"
)  # fmt: skip
_FIRST_FULL_WIDTH = 0xFF01 - 0x21


@functools.cache
def _pattern() -> re.Pattern[bytes]:
    return re.compile(_PATTERN)


def decoded(data: bytes) -> bytes:
    """Give the text with each escape as the one byte that it stands for."""
    return _pattern().sub(lambda found: _byte(found[0]), data)


@functools.lru_cache(1024)
def _byte(escape: bytes) -> bytes:
    """Give the byte of an escape; a number that is no printable ASCII character becomes a blank."""
    if escape.startswith(b"\xef"):
        return bytes([ord(escape.decode()) - _FIRST_FULL_WIDTH])
    if escape.startswith(b"&"):
        entity = escape[1:-1].rpartition(b";")[2]
        if entity in _NAMED:
            return _NAMED[entity]
        code = int(b"0" + entity[1:], 16) if entity[1:2] in b"xX" else int(entity[1:])
    else:
        code = int(escape[-2:], 16) + (0x20 if escape[-4:-2].lower() == b"ff" else 0)
    return bytes([code]) if 0x20 <= code < 0x7F and code != 0x5C else b" "  # noqa: PLR2004 - printable, no backslash


def places(data: bytes, at: Sequence[int]) -> Iterator[int]:
    """Give for places of the decoded text, in ascending order, where they are in the text itself."""
    ahead = 0
    escapes = _pattern().finditer(data)
    escape = next(escapes, None)
    for place in at:
        while escape is not None and escape.start() - ahead < place:
            ahead += escape.end() - escape.start() - 1
            escape = next(escapes, None)
        yield place + ahead
