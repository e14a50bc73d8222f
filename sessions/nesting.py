"""Parse JSON that is nested deeper than Python's own parsers can follow, without recursion.

Pi reads such lines, and a line that we lost would cut its whole branch off from its past. Slow, some steps of
Python for each token, so it is used only where the others have given up.
"""

import json
import re
from typing import Any

DEEPEST = 5000
"""Levels; deeper values are refused, as JavaScript cannot write them either."""

_WHITE = re.compile(r"[ \t\n\r]*")


def parse(text: str, scalars: json.JSONDecoder) -> Any:
    """Parse one JSON text, scalars by `scalars`. Raises ValueError if it is none, RecursionError beyond `DEEPEST`."""
    root, at = _begin(text, _skip(text, 0), scalars)
    unfinished = [root] if isinstance(root, dict | list) else []
    fresh = True  # whether the innermost container has no member yet
    while unfinished:
        inner = unfinished[-1]
        at = _skip(text, at)
        if text[at : at + 1] == ("}" if isinstance(inner, dict) else "]"):
            unfinished.pop()
            at, fresh = at + 1, False
            continue
        if not fresh:
            at = _expect(",", text, at)
        if isinstance(inner, dict):
            if text[at : at + 1] != '"':
                raise ValueError("no name")
            name, at = scalars.raw_decode(text, at)
            at = _expect(":", text, _skip(text, at))
            value, at = _begin(text, at, scalars)
            inner[name] = value
        else:
            value, at = _begin(text, at, scalars)
            inner.append(value)
        fresh = isinstance(value, dict | list)
        if fresh:
            if len(unfinished) == DEEPEST:
                raise RecursionError
            unfinished.append(value)
    if _skip(text, at) != len(text):
        raise ValueError("more than one value")
    return root


def _begin(text: str, at: int, scalars: json.JSONDecoder) -> tuple[Any, int]:
    """Read a scalar whole; of an object or list only the opening bracket."""
    first = text[at : at + 1]
    if first == "{":
        return {}, at + 1
    if first == "[":
        return [], at + 1
    return scalars.raw_decode(text, at)


def _expect(sign: str, text: str, at: int) -> int:
    if text[at : at + 1] != sign:
        raise ValueError(f"no {sign}")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    blank = _WHITE.match(text, at)
    return blank.end() if blank else at
