"""From the bytes of one line to the JSON objects on it, by Pi's rules where Pi can read the line.

Two parsers give the same values: `json` starts fast and is used for a few lines, msgspec is four times as fast
and is used for whole archives. Where msgspec refuses a line, `json` decides.
"""

import json
import re
from collections.abc import Callable
from typing import Any

Parse = Callable[[bytes], Any]
"""Turns the bytes of one JSON text into a value; raises ValueError or RecursionError where it is none."""

BOM = b"\xef\xbb\xbf"


def slow_parse(raw: bytes) -> Any:
    """Parse one JSON text with the standard library; undecodable bytes become U+FFFD, as in Pi."""
    return _DECODER.decode(raw.decode("utf-8", "replace"))


def fast_parser() -> Parse:
    """Give the parser for many lines; its import costs more than parsing a hundred of them."""
    import msgspec

    decode = msgspec.json.Decoder().decode

    def parse(raw: bytes) -> Any:
        try:
            return decode(raw)
        except (msgspec.MsgspecError, RecursionError):
            return slow_parse(raw)

    return parse


def objects(raw: bytes, parse: Parse = slow_parse) -> list[tuple[int, int, dict[str, Any]]]:
    """Give the JSON objects of one line as `(start, length, object)`, offsets in bytes within the line.

    A sound line is one object and spans the whole line. Objects glued together (`}{`), padding of NULs and a byte
    order mark are seen through; Pi itself skips such lines. Raises ValueError where any part of the line is no object.
    """
    try:
        value = parse(raw)
    except (ValueError, RecursionError):
        return _salvaged(raw)
    if isinstance(value, dict):
        return [(0, len(raw), value)]
    raise ValueError("not-an-object")


def is_padding(raw: bytes) -> bool:
    """Tell whether a line holds nothing but white space, NULs or a byte order mark."""
    return not raw.removeprefix(BOM).strip(b" \t\r\n\v\f\x00")


def _salvaged(raw: bytes) -> list[tuple[int, int, dict[str, Any]]]:
    text = raw.removeprefix(BOM).strip(b"\x00 \t\r")
    start = raw.find(text)
    try:
        value = slow_parse(text)
        if isinstance(value, dict):
            return [(0, len(raw), value)]
    except (ValueError, RecursionError):
        pass
    return _glued(text.decode("utf-8", "surrogateescape"), start)


def _glued(text: str, start: int) -> list[tuple[int, int, dict[str, Any]]]:
    """Split `{…}{…}` at the borders that the JSON grammar gives, never by looking for brackets."""
    found: list[tuple[int, int, dict[str, Any]]] = []
    at = 0
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError as error:
            raise ValueError("nested-too-deep") from error
        if not isinstance(value, dict) or len(found) == _MOST_GLUED:
            raise ValueError("not-an-object")
        piece = text[at:end].encode("utf-8", "surrogateescape")
        found.append((start, len(piece), slow_parse(piece)))
        gap = _GAP.match(text, end)
        at = gap.end() if gap else end
        start += len(piece) + at - end
    if not found:
        raise ValueError("no-json")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")  # Python's json takes NaN and Infinity, JavaScript's does not


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONGEST_INTEGER else float(digits)


_LONGEST_INTEGER = 4000  # Python refuses longer ones; JavaScript rounds them to Infinity
_MOST_GLUED = 1000  # more objects on one line are an attack or another format
_GAP = re.compile("[\x00 \t\r]*")
_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_int=_integer)
