r"""Where a word may begin and end, in plain and in escaped text.

In `\nghp_…` the `n` before the key belongs to an escape, and in `\u001b[32mghp_…` the `m` ends a colour.
"""

import functools
import re

_LOOK_BACK = 16
_ENDS_ESCAPE = rb"(?:\\[nrtbfv0]|\\+u[0-9a-fA-F]{4}|\\+x[0-9a-fA-F]{2}|\[[0-9;]{0,8}[A-Za-z]|%[0-9A-Fa-f]{2})\Z"


@functools.cache
def _ends_escape() -> re.Pattern[bytes]:
    return re.compile(_ENDS_ESCAPE)


def is_word(data: bytes, at: int) -> bool:
    """Tell whether a letter, digit, underscore or a byte beyond ASCII stands at `at`."""
    char = data[at : at + 1]
    return char.isalnum() or char == b"_" or char >= b"\x80"


def opens(data: bytes, at: int, *, joiners: bytes = b"-.") -> bool:
    """Tell whether a word may begin at `at`: no word character, and none of the `joiners`, stands before it."""
    if at == 0 or not (is_word(data, at - 1) or data[at - 1] in joiners):
        return True
    if data[at - 1] in joiners and (at == 1 or data[at - 2 : at - 1].isspace() or data[at - 3 : at - 1] == b"\\n"):
        return True  # the sign of a diff or of a list
    return _ends_escape().search(data[max(0, at - _LOOK_BACK) : at]) is not None


def line_starts(data: bytes, at: int) -> bool:
    r"""Tell whether a line starts at `at`: behind a newline, its escape `\n`, or at the start of the text."""
    return at == 0 or data[at - 1 : at] == b"\n" or data[at - 2 : at] == b"\\n"


def line_ends(data: bytes, at: int) -> bool:
    r"""Tell whether the line ends at `at`, apart from blanks: a newline, its escape `\n`, or the end of the text."""
    while data[at : at + 1] in (b" ", b"\t"):
        at += 1
    if at >= len(data) or data[at : at + 1] in (b"\n", b"\r"):
        return True
    escape = data[at : at + 8].lstrip(b"\\")
    return data[at : at + 1] == b"\\" and escape[:1] in (b"n", b"r")
