"""Compare text as people do: without case and accents, character by character, so that positions stay the same."""

import re
import unicodedata

COMBINING = "[\u0300-\u036f]"
"""An accent that may follow a letter where a text is decomposed, as file names are on macOS."""

_COMBINING = re.compile(COMBINING)


class _Folds(dict[int, str]):
    """Maps a code point to the one character that stands for it, and remembers it."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        base = unicodedata.normalize("NFD", char)[0].casefold()
        folded = self[point] = base if len(base) == 1 else char
        return folded


_FOLDS = _Folds()


def fold(text: str) -> str:
    """Give the text folded; as long as the text itself."""
    return text.lower() if text.isascii() else text.translate(_FOLDS)


def without_combining(text: str) -> str:
    """Leave out the accents of decomposed letters."""
    return text if text.isascii() else _COMBINING.sub("", text)


def has_combining(text: str) -> bool:
    """Tell whether a text holds accents of decomposed letters."""
    return not text.isascii() and _COMBINING.search(text) is not None
