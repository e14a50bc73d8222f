"""What the tests of secrets share: the contexts that a secret is met in, and the check that none of it is left."""

import json
from collections.abc import Callable

import pytest

_LEAK = 6


def _in_diff(sign: str) -> Callable[[str], str]:
    return lambda text: " before\n" + "".join(f"{sign}{line}\n" for line in text.split("\n")) + " after\n"


_CONTEXTS: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "lines": lambda text: f"first line\n{text}\nlast line\n",
    "crlf": lambda text: "first line\r\n" + text.replace("\n", "\r\n") + "\r\nlast line\r\n",
    "json": lambda text: json.dumps({"type": "text", "text": text, "n": 1}, ensure_ascii=False),
    "tool output": lambda text: json.dumps({"content": json.dumps({"stdout": f"$ cat x\n{text}\n$ ", "code": 0})}),
    "plus": _in_diff("+"),
    "minus": _in_diff("-"),
    "colour": lambda text: f"\x1b[1;32m{text}\x1b[0m done\n",
    "markdown": lambda text: f"Look:\n\n```\n{text}\n```\n\nThat is all.\n",
    "beyond ascii": lambda text: f"schön “größer” 数据库 🚀\n{text}\nфин\n",
}


@pytest.fixture
def contexts() -> dict[str, Callable[[str], str]]:
    """Put a text where secrets are met: files, JSON, tool output, diffs, coloured terminals."""
    return _CONTEXTS


@pytest.fixture
def leak() -> Callable[..., str]:
    """Give the first six characters in a row of a secret that are still in a text, or "".

    Markers do not count, nor does what stands around the secret anyway.
    """
    return _leak


def _leak(secret: str, text: str, around: str = "") -> str:
    lines = [line for line in secret.split("\n") if "-----" not in line]
    pieces = [line[at : at + _LEAK] for line in lines for at in range(len(line) - _LEAK + 1)]
    shown = "\n".join(part.partition("]")[2] if at else part for at, part in enumerate(text.split("[redacted:")))
    return next((piece for piece in pieces if piece in shown and piece not in around), "")
