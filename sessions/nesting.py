"""Parse JSON that is nested deeper than Python's own parsers can follow, without recursion.

Pi reads such lines, and a line that we lost would cut its whole branch off from its past. Slow, one step of
Python per token, so it is used only where the others have given up.
"""

import re
from collections.abc import Callable
from json.decoder import scanstring
from typing import Any

DEEPEST = 5000
"""Levels; deeper values are refused, as JavaScript cannot write them either."""

TOO_DEEP = "nested-too-deep"

_WHITE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}

Container = dict[str, Any] | list[Any]


def parse(text: str, *, integer: Callable[[str], int | float] = int) -> Any:
    """Parse one JSON text by JavaScript's grammar; raises ValueError, with `TOO_DEEP` beyond `DEEPEST` levels."""
    open_ones: list[Container] = []
    value, at = _value(text, _skip(text, 0), integer)
    root = value
    if isinstance(value, dict | list):
        open_ones.append(value)
    fresh = True  # whether the innermost container has no member yet
    while open_ones:
        inner = open_ones[-1]
        at = _skip(text, at)
        closing = "}" if isinstance(inner, dict) else "]"
        if text[at : at + 1] == closing:
            open_ones.pop()
            at, fresh = at + 1, False
            continue
        if not fresh:
            if text[at : at + 1] != ",":
                raise ValueError("no comma")
            at = _skip(text, at + 1)
        if isinstance(inner, dict):
            name, at = _name(text, at)
            value, at = _value(text, at, integer)
            inner[name] = value
        else:
            value, at = _value(text, at, integer)
            inner.append(value)
        fresh = isinstance(value, dict | list)
        if fresh:
            if len(open_ones) == DEEPEST:
                raise ValueError(TOO_DEEP)
            open_ones.append(value)
    if _skip(text, at) != len(text):
        raise ValueError("more than one value")
    return root


def _name(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        raise ValueError("no name")
    name, at = scanstring(text, at + 1, True)  # noqa: FBT003 - positional in the standard library: strict
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise ValueError("no colon")
    return name, _skip(text, at + 1)


def _value(text: str, at: int, integer: Callable[[str], int | float]) -> tuple[Any, int]:
    """Read a scalar whole; of an object or array only the opening bracket."""
    first = text[at : at + 1]
    match first:
        case "{":
            return {}, at + 1
        case "[":
            return [], at + 1
        case '"':
            return scanstring(text, at + 1, True)  # noqa: FBT003 - positional in the standard library: strict
        case "t" | "f" | "n":
            word, value = _WORDS[first]
            if text.startswith(word, at):
                return value, at + len(word)
    number = _NUMBER.match(text, at)
    if number is None:
        raise ValueError("no value")
    whole, fraction, exponent = number.groups(default="")
    return (float(number[0]) if fraction or exponent else integer(whole)), number.end()


def _skip(text: str, at: int) -> int:
    blank = _WHITE.match(text, at)
    return blank.end() if blank else at
