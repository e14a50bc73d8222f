r"""Writes the RE2 pattern that finds prefixes of keys, also where a line break stands between two of their characters.

The prefixes share their beginnings as in a dictionary's thumb index, which keeps the pattern small and quick to
compile.
"""

import functools
import re

from privacy.secrets.runs import BREAK

_GAP = rb"[\\\r\n \t]*"
_GAP_BYTES = b"\\\r\n \t"
_Node = dict[int, "_Node"]
_END = -1


def literal(text: bytes) -> bytes:
    """Write an RE2 pattern for a literal."""
    return b"".join(bytes([code]) if chr(code).isalnum() or code in b"_-/" else b"\\" + bytes([code]) for code in text)


def broken(prefixes: list[bytes]) -> bytes:
    """Write a pattern for any of the prefixes, the longest that is there, with or without line breaks inside."""
    root: _Node = {}
    for prefix in sorted(prefixes):
        node = root
        for code in prefix:
            node = node.setdefault(code, {})
        node[_END] = {}
    return _written(root, first=True)


def _written(node: _Node, *, first: bool = False) -> bytes:
    branches = [
        (b"" if first else _GAP) + literal(bytes([code])) + _written(child)
        for code, child in sorted(node.items())
        if code != _END
    ]
    if not branches:
        return b""
    one = branches[0] if len(branches) == 1 else b"(?:" + b"|".join(branches) + b")"
    return b"(?:" + one + b")?" if _END in node else one


def joined(text: bytes) -> bytes:
    """Take all out of a match that the pattern allows between the characters of a prefix."""
    return text.translate(None, _GAP_BYTES)


def unbroken(text: bytes) -> bytes:
    """Take only real line breaks out of a match, so that `s k-` is no prefix."""
    return _breaks().sub(b"", text) if b"\n" in text or b"\\" in text else text


@functools.cache
def _breaks() -> re.Pattern[bytes]:
    return re.compile(BREAK)
