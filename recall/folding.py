"""Compare text as people do: without case and accents, character by character, so that positions stay the same."""

import unicodedata


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
