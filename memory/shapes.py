"""Shapes of what is no name, however often it is listed: ids, addresses, paths, files, numbers, prose. Any script."""

import re
from collections.abc import Callable, Mapping

_ID = re.compile(r"(?<!\w)(?=[0-9a-f-]*\d)[0-9a-f][0-9a-f-]{5,}(?!\w)", re.IGNORECASE)
_LABEL = re.compile(r"^[^:]{1,40}:\s")
_EMAIL = re.compile(r"\S@\S+\.\S")
_FILE = re.compile(r"^\S+\.[^\W_]{1,5}$")
_NUMBER = re.compile(r"^[\d:.,/\s+-]+$")
_SNAKE = re.compile(r"^[^\W_]+(?:_[^\W_]+)+$")
_MOST_WORDS = 8
_FILE_WORDS = 1


def _lower(item: str) -> bool:
    """Tell whether it has letters with case, and none is a capital."""
    return item != item.upper() and item == item.lower()


SHAPES: Mapping[str, Callable[[str], bool]] = {
    "id": lambda item: _ID.search(item) is not None,
    "label": lambda item: _LABEL.search(item) is not None,
    "email": lambda item: _EMAIL.search(item) is not None,
    "path": lambda item: "/" in item or "\\" in item,
    "file": lambda item: _FILE.search(item) is not None,
    "number": lambda item: _NUMBER.search(item) is not None,
    "identifier": lambda item: _SNAKE.search(item) is not None and _lower(item),
    "lower": _lower,
    "prose": lambda item: len(item.split()) > _MOST_WORDS,
}
"""Each shape by its name, as what tells it."""
