"""Pass over lines that cannot match: what a raw line must hold if the text in it is to hold a term.

A plain search over folded bytes decides nearly every line. Where the text of an entry is not in its line as it stands
(JSON escapes, arguments of tools written as `name: value`, parts joined by newlines) it is taken out and searched.
"""

import re
from collections.abc import Iterable, Iterator

from foundation.canonical import as_logged
from index.tokens import WORD, split_word
from recall.folding import fold, without_combining
from recall.query import Term
from sessions.decoding import object_of
from sessions.text import searchable

_NAME_ENDS, _NAME_GOES_ON = re.compile(r"([\w-]*):(?= |$)"), re.compile(r"\.(\w+)")
_IMAGE_NOTE = re.compile(r"[\[\]]|[km]?b\b")
_REDACTED = "[redacted:"
_ESCAPED = re.compile(rb"\\[u/]")  # a character that Pi itself writes as it is


class Needles:
    """Texts as bytes to look for in raw lines."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._needles = [_Needle(text) for text in texts]
        self._bytes = [needle.bytes for needle in self._needles]
        self._signs = [sign for needle in self._needles for sign in needle.apart]

    def may_be_in(self, raw: bytes) -> bool:
        """Tell whether the text of a line may hold one of them."""
        line = lowered(raw)
        for needle in self._bytes:
            if needle in line:
                return True
        if not self._may_deceive(line):
            return False
        line = lowered(plain(raw))
        if any(needle in line for needle in self._bytes):
            return True
        apart = [needle for needle in self._needles if needle.is_apart(line)]
        text = without_combining(fold(_text(raw))) if apart else ""
        return any(needle.text in text or needle.spans_redaction for needle in apart)

    def rules_out(self, block: bytes) -> bool:
        """Tell whether no line of a block may hold any of them, as far as its lines are ASCII."""
        line = block.lower()
        return not any(needle in line for needle in self._bytes) and not self._may_deceive(line)

    def _may_deceive(self, line: bytes) -> bool:
        """Tell whether the text of a line may hold what the line does not."""
        return _ESCAPED.search(line) is not None or any(sign in line for sign in self._signs)


def least(term: Term) -> list[str]:
    """Give what a text must hold one of to match a term: all of it, or the first part of any of its words."""
    words = WORD.findall(term.text)
    return [term.text] if term.required or not words else [split_word(word).split()[0] for word in words]


class _Needle:
    """One term, folded: its text, its bytes within JSON, and what a line holds whose text joins it from parts."""

    def __init__(self, text: str) -> None:
        self.text = without_combining(fold(text))
        self.bytes = _in_json(self.text)
        self.apart = list(_signs_of_joints(self.text))
        self.spans_redaction = _REDACTED in self.text  # which only the visible text holds

    def is_apart(self, line: bytes) -> bool:
        """Tell whether the text of a line may hold the term although the line does not."""
        return any(sign in line for sign in self.apart)


def lowered(raw: bytes) -> bytes:
    """Fold a JSON line, so that plain byte searches find folded terms."""
    if raw.isascii():
        return raw.lower()
    return without_combining(fold(raw.decode("utf-8", "replace"))).encode("utf-8", "replace")


def plain(raw: bytes) -> bytes:
    """Write a line without those escapes of JSON that Pi itself would not write."""
    if not _ESCAPED.search(raw):
        return raw
    value = object_of(raw)
    return raw if value is None else as_logged(value).encode("utf-8", "replace")


def _signs_of_joints(text: str) -> Iterator[bytes]:
    """Give, for each place where a term may span what a line holds apart, bytes that such a line holds."""
    for found in _NAME_ENDS.finditer(text):
        yield _in_json(found[1]) + b'":'
    for found in _NAME_GOES_ON.finditer(text):
        yield b'"' + _in_json(found[1])
    if "\n" in text:
        yield b'"type"'
    if "$" in text:
        yield b'"bashexecution"'
    if _IMAGE_NOTE.search(text):
        yield b'"image"'
    if _REDACTED in text:
        yield b"{"


def _in_json(text: str) -> bytes:
    return as_logged(text)[1:-1].encode("utf-8", "replace")


def _text(raw: bytes) -> str:
    value = object_of(raw)
    return "" if value is None else searchable(value)
