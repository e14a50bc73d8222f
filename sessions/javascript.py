"""What JavaScript makes of parsed JSON, where it differs from Python: numbers, order of keys, truth, equality, text.

Pi is written in JavaScript and looks at its logs without checking them first, so what it makes of a damaged or
hand-written entry follows from these rules. Nothing here recurses: a log may be nested as deep as it likes.
"""

import math
import re
from json.encoder import encode_basestring
from typing import Any

from foundation.canonical import escape_surrogates
from sessions.decoding import JS_WHITE

MISSING: Any = object()
"""Stands for `undefined`, the value of a key that is not there."""

_EXACT = 2**53
_LAST_INDEX = 2**32 - 2
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_DECIMAL = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_RADIX = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_POINT_LIMIT, _ZEROS_LIMIT = 21, -6  # where Number::toString turns to exponents
_DEEPEST_LIST = 50


def truthy(value: Any) -> bool:
    """Tell whether `if (value)` holds; empty objects and lists are true."""
    if value is MISSING or value is None or value is False:
        return False
    return isinstance(value, dict | list) or bool(value)


def same_key(value: Any) -> Any:
    """Give a hashable that is equal for values that are equal as keys of a Map; None for objects, equal to nothing.

    `1`, `true` and `"1"` are three keys, `0` and `-0` are one.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None or value is MISSING:
        return ("constant", None if value is None else str(value) if isinstance(value, bool) else "undefined")
    if isinstance(value, int | float):
        return ("number", _as_double(value))
    return None


def settled(value: Any) -> Any:
    """Give a copy as it comes out of JavaScript: numbers rounded to doubles, integers in front among the keys.

    The copy holds only what JSON can: what JavaScript rounds to infinity is None.
    """
    if not isinstance(value, dict | list):
        return _scalar(value)
    root: Any = type(value)()
    todo: list[tuple[Any, Any]] = [(value, root)]
    while todo:
        source, target = todo.pop()
        if isinstance(source, dict):
            for key in _ordered(source):
                target[key] = _entered(source[key], todo)
        else:
            target.extend(_entered(inner, todo) for inner in source)
    return root


def stringify(value: Any) -> str:
    """Write a settled value as `JSON.stringify` does, character for character."""
    pieces: list[str] = []
    todo: list[Any] = [(value,)]  # a tuple holds a value still to be written, a string is ready
    while todo:
        step = todo.pop()
        if isinstance(step, str):
            pieces.append(step)
            continue
        inner = step[0]
        if isinstance(inner, dict):
            parts: list[Any] = ["{"]
            for key, member in inner.items():
                parts += ["," if len(parts) > 1 else "", _quoted(key) + ":", (member,)]
            todo += reversed([*parts, "}"])
        elif isinstance(inner, list):
            parts = ["["]
            for member in inner:
                parts += ["," if len(parts) > 1 else "", (member,)]
            todo += reversed([*parts, "]"])
        else:
            pieces.append(_written(inner))
    return "".join(pieces)


def to_number(value: Any) -> float:
    """Give what `Number(value)` gives; NaN where it is no number."""
    if value is None or isinstance(value, bool | int | float):
        return _as_double(value or 0)
    text = to_string(value).strip(JS_WHITE)
    if not text:
        return 0.0
    if _RADIX.fullmatch(text):
        return _as_double(int(text, 0))
    return float(text) if _DECIMAL.fullmatch(text) else math.nan


def to_string(value: Any, *, depth: int = 0) -> str:
    """Give what `String(value)` gives for parsed JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        if depth > _DEEPEST_LIST:
            return ""
        return ",".join("" if inner is None else to_string(inner, depth=depth + 1) for inner in value)
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, int | float) and math.isinf(_as_double(value)):
        return "Infinity" if value > 0 else "-Infinity"
    return "undefined" if value is MISSING else _written(_scalar(value))


def _entered(value: Any, todo: list[tuple[Any, Any]]) -> Any:
    if not isinstance(value, dict | list):
        return _scalar(value)
    target: Any = type(value)()
    todo.append((value, target))
    return target


def _ordered(value: dict[str, Any]) -> list[str]:
    indexes = sorted(int(key) for key in value if _INDEX.fullmatch(key) and int(key) <= _LAST_INDEX)
    if not indexes:
        return list(value)
    front = [str(index) for index in indexes]
    return front + [key for key in value if key not in set(front)]


def _scalar(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, int) and -_EXACT <= value <= _EXACT:
        return value
    double = _as_double(value)
    if math.isinf(double) or math.isnan(double):
        return None
    digits, point = _digits(double)
    if len(digits) <= point <= _POINT_LIMIT:
        whole = int(digits) * 10 ** (point - len(digits))
        return -whole if double < 0 else whole
    return double or 0


def _as_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _digits(double: float) -> tuple[str, int]:
    """Give the shortest digits that name a double, and where its decimal point stands behind the first of them."""
    mantissa, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + ("" if fraction == "0" else fraction)
    bare = digits.lstrip("0")
    point = len(whole) - (len(digits) - len(bare)) + int(exponent or 0)
    return bare.rstrip("0") or "0", point


def _written(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    digits, point = _digits(value)
    sign = "-" if value < 0 else ""
    if 0 < point <= _POINT_LIMIT:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _ZEROS_LIMIT < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def _quoted(text: str) -> str:
    return escape_surrogates(encode_basestring(text))
