"""From the bytes of one line to the JSON objects on it, by Pi's rules where Pi can read the line.

Two parsers give the same values: `json` starts fast and is used for a few lines, msgspec is four times as fast
and is used for whole archives. Where msgspec refuses a line, `json` decides.
"""

import json
import re
from collections.abc import Callable
from typing import Any

Parse = Callable[[bytes], Any]
"""Turns the bytes of one JSON text into a value; raises ValueError where it is none."""

Placed = tuple[int, int, dict[str, Any]]
"""An object on a line: start and length in bytes within the line, and its value."""

TOO_DEEP = "nested-too-deep"
"""The reason for refusing a value of more levels than JavaScript itself could write."""

BOM = b"\xef\xbb\xbf"

JS_WHITE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's `trim` takes away; Python's `strip` differs in four characters."""


def slow_parse(raw: bytes) -> Any:
    """Parse one JSON text with the standard library; undecodable bytes become U+FFFD, as in Pi."""
    text = raw.decode("utf-8", "replace")
    try:
        return _DECODER.decode(text)
    except RecursionError:
        from sessions import nesting  # late: hardly any log needs it

        try:
            return nesting.parse(text, _DECODER)
        except RecursionError as error:
            raise ValueError(TOO_DEEP) from error


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


def parser_for(size: int) -> Parse:
    """Give the parser that suits a file of so many bytes."""
    return fast_parser() if size >= _MANY_BYTES else slow_parse


def is_padding(raw: bytes) -> bool:
    """Tell whether a line holds nothing but white space, NULs or a byte order mark."""
    return not raw.removeprefix(BOM).strip(b" \t\r\n\v\f\x00")


def salvaged(raw: bytes) -> tuple[str, list[Placed]]:
    """Read the objects of a line that is no JSON text; Pi itself skips such lines. Say what was wrong with it.

    `bom` is a byte order mark before one object, `padding` NULs around it: it then spans the whole line. `glued` are
    several objects `}{`. Raises ValueError with the reason where any part of the line is something else.
    """
    bare = raw.removeprefix(BOM)
    text = bare.strip(_AROUND)
    try:
        value = slow_parse(text)
    except ValueError as error:
        if str(error) == TOO_DEEP:
            raise
    else:
        if not isinstance(value, dict):
            raise ValueError("not-an-object")  # noqa: TRY004 - a finding about the log, not about our types
        return "bom" if len(bare) < len(raw) else "padding", [(0, len(raw), value)]
    return "glued", _glued(text.decode("utf-8", "surrogateescape"), len(raw) - len(bare.lstrip(_AROUND)))


def object_of(raw: bytes) -> dict[str, Any] | None:
    """Read the bytes of one object again, with what `salvaged` found around it; None where they are none any more."""
    try:
        value = slow_parse(raw.removeprefix(BOM).strip(_AROUND))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def is_blank(raw: bytes) -> bool:
    """Tell whether a line holds only what JavaScript calls white space, or NULs, so that nothing of it is lost."""
    return not raw.decode("utf-8", "replace").strip(JS_WHITE + "\x00")


def _glued(text: str, start: int) -> list[Placed]:
    """Split `{…}{…}` at the borders that the JSON grammar gives, never by looking for brackets."""
    found: list[Placed] = []
    at = 0
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError as error:
            raise ValueError(TOO_DEEP) from error
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


_MANY_BYTES = 1 << 20  # from here on the fast parser pays for its import
_LONGEST_INTEGER = 4000  # Python refuses longer ones; JavaScript rounds them to Infinity
_MOST_GLUED = 1000  # more objects on one line are an attack or another format
_AROUND = b"\x00 \t\r"
_GAP = re.compile("[\x00 \t\r]*")
_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_int=_integer)
