"""From terms to FTS5: user text only ever travels inside quoted strings, never as syntax.

Each function gives an FTS5 expression, or an empty string where the text holds nothing that the tokenizer keeps.
"""

from collections.abc import Iterable

from index.tokens import WORD, spaced, split_word

_MOST_WORDS = 32


def has_words(text: str) -> bool:
    """Tell whether a text holds a letter or digit, so that it can be looked up at all."""
    return WORD.search(text) is not None


def phrase(text: str, *, prefix: bool = False) -> str:
    """Match the words of a text in their order; with `prefix` the last one may go on."""
    if not has_words(text):
        return ""
    return _quoted(spaced(text)) + (" *" if prefix else "")


def word(text: str) -> str:
    """Match a word as a whole, or as a part of identifiers that contain it."""
    whole = phrase(text)
    parts = split_word(text)
    return f"({whole} OR {phrase(parts)})" if whole and parts != text else whole


def single(text: str) -> str:
    """Match a word that is one token, and nothing where it is more: there the index may see it where it is not."""
    return phrase(text) if text.isascii() and WORD.fullmatch(text) and split_word(text) == text else ""


def words_of(text: str) -> list[str]:
    """Match the words of a text, each by an expression; of a very long text only the first few count."""
    words = dict.fromkeys(found[0] for found in WORD.finditer(text))
    return [phrase(word) for word in list(words)[:_MOST_WORDS]]


def all_of(expressions: Iterable[str]) -> str:
    """Match what every one of these matches."""
    return _joined(expressions, " AND ")


def any_of(expressions: Iterable[str]) -> str:
    """Match what at least one of these matches."""
    return _joined(expressions, " OR ")


def without(expression: str, unwanted: str) -> str:
    """Match what the first matches and the second does not."""
    return f"({expression} NOT {unwanted})" if expression and unwanted else expression


def phrases_in(expression: str) -> int:
    """Count the phrases of an expression that was made here: each is one quoted string."""
    return expression.count('"') // 2


def _joined(expressions: Iterable[str], operator: str) -> str:
    kept = [expression for expression in expressions if expression]
    return f"({operator.join(kept)})" if len(kept) > 1 else "".join(kept)


def _quoted(text: str) -> str:
    """Quote a text for FTS5; quotes and NULs only part words, so a space can stand for them."""
    return '"' + text.replace('"', " ").replace("\x00", " ").encode("utf-8", "replace").decode() + '"'
