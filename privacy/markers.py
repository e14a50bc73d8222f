r"""Inline markers: which class a text demands for itself.

`[context:CLASS]…[/context:CLASS]`, or `ds4` in place of `context`, in any letter case. A backslash before the
bracket makes it plain text. Spans may nest. Whatever does not close in order demands the strictest class: somebody
wanted something hidden, and we cannot tell what. The work is linear in the text.
"""

import functools
import re

from foundation.settings import CLASSES, LOCAL_ONLY
from privacy.classes import highest

_MARKER = r"\[(/?)(context|ds4):[ \t]*(normal|internal|sensitive|local[-_ ]?only)[ \t]*\]"


@functools.cache
def _marker() -> re.Pattern[str]:
    return re.compile(_MARKER, re.IGNORECASE | re.ASCII)  # ASCII: no letter of another script folds into these names


def classify(text: str) -> str | None:
    """Give the highest class that markers in the text demand; None where there is no marker.

    Any marker without its partner, or one that closes across another, demands `local-only`.
    """
    if "[" not in text or ":" not in text:
        return None
    demanded: list[str] = []
    spans: list[tuple[str, str]] = []
    for found in _marker().finditer(text):
        if _escaped(text, found.start()):
            continue
        family, cls = found[2].lower(), _canonical(found[3])
        if not found[1]:
            spans.append((family, cls))
            demanded.append(cls)
        elif not spans or spans.pop() != (family, cls):
            return LOCAL_ONLY
    if spans:
        return LOCAL_ONLY
    return highest(*demanded) if demanded else None


def _escaped(text: str, bracket: int) -> bool:
    """Tell whether an odd number of backslashes stands before the bracket."""
    first = bracket
    while first and text[first - 1] == "\\":
        first -= 1
    return (bracket - first) % 2 == 1


def _canonical(written: str) -> str:
    name = written.lower()
    return name if name in CLASSES else LOCAL_ONLY
