r"""Writes the RE2 pattern that finds prefixes of keys, also where a line break stands between two of their characters.

The prefixes share their beginnings as in a dictionary's thumb index, which keeps the pattern small and quick to
compile.
"""

import functools
import re

from privacy.secrets.runs import BREAK

_GAP = rb"(?:[\n-\r\\][\t-\x20\\nrt]*)?"  # wider than a break, since that keeps the pattern small; `unbroken` is exact
_Node = dict[int, "_Node"]
_END = -1


def literal(text: bytes) -> bytes:
    """Write an RE2 pattern for a literal."""
    return b"".join(bytes([code]) if chr(code).isalnum() or code in b"_-/" else b"\\" + bytes([code]) for code in text)


def broken(prefixes: list[bytes]) -> bytes:
    """Write a pattern for any of the prefixes, the longest that is there, with or without line breaks inside."""
    return _written(_tree(prefixes), b"", _GAP)


def index(prefixes: list[bytes]) -> bytes:
    """Write a pattern for any of the prefixes, the longest that is there."""
    return _written(_tree(prefixes), b"", b"")


def _tree(prefixes: list[bytes]) -> _Node:
    root: _Node = {}
    for prefix in sorted(prefixes):
        node = root
        for code in prefix:
            node = node.setdefault(code, {})
        node[_END] = {}
    return root


def _written(node: _Node, before: bytes, gap: bytes) -> bytes:
    branches = [
        before + literal(bytes([code])) + _written(child, gap, gap)
        for code, child in sorted(node.items())
        if code != _END
    ]
    if not branches:
        return b""
    one = branches[0] if len(branches) == 1 else b"(?:" + b"|".join(branches) + b")"
    return b"(?:" + one + b")?" if _END in node else one


def guarded(prefix: bytes, characters: bytes, count: int, then: bytes) -> bytes:
    """Write a pattern for a prefix, so many characters of a class, and a mark; line breaks may stand anywhere."""
    behind = b"(?:" + _GAP + b"[" + characters + b"]){%d}" % count
    return broken([prefix]) + behind + (_GAP + literal(then) if then else b"")


def width_of(prefix: bytes, matched: bytes) -> int:
    """Give how many bytes of a match are the prefix, breaks inside it included."""
    return next(at for at in range(len(prefix), len(matched) + 1) if unbroken(matched[:at]) == prefix)


def unbroken(text: bytes) -> bytes:
    """Take the line breaks out of what such a pattern matched."""
    return _breaks().sub(b"", text) if b"\n" in text or b"\\" in text else text


@functools.cache
def _breaks() -> re.Pattern[bytes]:
    return re.compile(BREAK)
