"""One way to write JSON, to measure text and to name bytes.

Answers, hashes and budgets must agree on the very same characters, so nobody else calls `json.dumps`.
"""

import json
import re
from typing import Any

Json = dict[str, Any]
"""A JSON object."""

UNITS_PER_TOKEN = 4
"""UTF-16 units for which one token is counted."""


def dumps(value: Any) -> str:
    """Write compact JSON: no spaces, non-ASCII raw, only control characters and lone surrogates escaped."""
    return escape_controls(as_logged(value))


def as_logged(value: Any) -> str:
    """Write compact JSON as Pi does into its logs: DEL and the second block of control characters stay as they are."""
    return escape_surrogates(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def pretty(value: Any) -> str:
    """Write JSON for people to edit: two spaces, one final newline."""
    return escape_controls(escape_surrogates(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))) + "\n"


def escape_controls(text: str) -> str:
    """Escape what JSON leaves alone: DEL and the second block of control characters, which a terminal obeys too."""
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub("[\x7f-\x9f]", _escape, text)


def escape_surrogates(text: str) -> str:
    r"""Replace each lone surrogate by its `\udXXX` escape, so that the text can be encoded as UTF-8."""
    if text.isascii():
        return text
    return re.sub("[\ud800-\udfff]", _escape, text)


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def utf16_units(text: str) -> int:
    """Count UTF-16 code units, the length that JavaScript gives a string."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def tokens(text: str) -> int:
    """Estimate tokens by the rule `chars-v1`: UTF-16 units divided by four, rounded up."""
    return -(-utf16_units(text) // UNITS_PER_TOKEN)
