"""What the tokenizer is fed, in the index and in a query alike, so that both sides agree.

FTS5's `unicode61` splits at everything that is no letter or digit and folds case and accents. Two things it
cannot do are done here before: identifiers in camel case are repeated as their parts (`getRetryBudget` also as
`get Retry Budget`), and in scripts without spaces each character becomes a word (`数据库` as `数 据 库`).
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

TOKENIZER = "unicode61 remove_diacritics 2"
TOKENS_VERSION = "1"
"""Raised when a rule here changes: the index is then made anew."""

WORD = re.compile(r"[^\W_]+")
"""A run of letters and digits, in whatever script."""

_ASCII = 128  # bytes from here on belong to other letters
_LONGEST_WORD = 64  # longer runs of letters are encoded data, not identifiers
_CACHED_WORDS = 50_000
_PIECE = 1 << 20  # bytes

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af\u1100-\u11ff\u3130-\u318f"  # Hangul
    "\uff66-\uffdc"  # half-width Kana and Hangul
    "\U00020000-\U0003ffff"  # Han beyond the first plane
)
"""Characters of scripts that are written without spaces, as the inside of a character class."""

_SHAPES = bytes(
    ord("a")
    if byte >= _ASCII or chr(byte).islower() or chr(byte).isdigit()
    else ord("A")
    if chr(byte).isupper()
    else ord(" ")
    for byte in range(256)
)

_parts_of: dict[bytes, bytes] = {}


def for_index(raw: bytes) -> bytes:
    """Prepare text, in UTF-8, for the tokenizer: spaces in unspaced scripts, and the parts of camel-case words."""
    parts = camel_parts(raw)
    if not raw.isascii():
        raw = b"".join(spaced(piece.decode()).encode() for piece in _pieces(raw))
    return b"%b\n%b" % (raw, parts) if parts else raw


def camel_parts(raw: bytes) -> bytes:
    """Write the parts of the camel-case words of a text, each distinct word once: `get Retry Budget`.

    Works on a map of letter shapes in which the capitals at the start of words are made small: those that are left
    stand inside words, and a search for one byte finds them. A regular expression over the whole text would cost as
    much as the index itself.
    """
    words: dict[bytes, None] = {}
    for piece in _pieces(raw):
        shapes = piece.translate(_SHAPES).replace(b" A", b" a")
        find, last_blank = shapes.find, shapes.rfind
        at = find(b"A", 1)
        while at >= 0:
            start, end = last_blank(b" ", 0, at) + 1, find(b" ", at)
            if end < 0:
                end = len(shapes)
            if end - start <= _LONGEST_WORD:
                words[piece[start:end]] = None
            at = find(b"A", end)
    return b"\n".join(filter(None, map(_split, words))) if words else b""


def _pieces(raw: bytes) -> Iterable[bytes]:
    """Cut a long text at blanks, so that a text of many megabytes is not held several times over."""
    return (raw,) if len(raw) <= _PIECE else _cut(raw)


def _cut(raw: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(raw):
        end = raw.find(b" ", start + _PIECE)
        end = len(raw) if end < 0 else end
        yield raw[start:end]
        start = end


def spaced(text: str) -> str:
    """Set the characters of unspaced scripts apart, so that a part of a run is found as a phrase."""
    return text if text.isascii() else unspaced_runs().sub(_apart, text)


@cache
def unspaced_runs() -> re.Pattern[str]:
    """Match the runs of unspaced scripts; compiled when the first text that is not ASCII comes along."""
    return re.compile(f"[{_UNSPACED}]+")


def _apart(run: re.Match[str]) -> str:
    return f" {' '.join(run[0])} "


def _split(word: bytes) -> bytes:
    """Split one word that holds a capital; empty where it has no parts. Remembered, for identifiers repeat."""
    found = _parts_of.get(word)
    if found is None:
        if len(_parts_of) >= _CACHED_WORDS:
            _parts_of.clear()
        parts = split_word(word.decode("utf-8", "replace")).encode()
        found = _parts_of[word] = b"" if parts == word else parts
    return found


def split_word(word: str) -> str:
    """Split one camel-case word at its humps: `parseHTTPHeader2` gives `parse HTTP Header2`."""
    return " ".join(re.sub(r"(?<=[^A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][^A-Z])", " ", word).split())
