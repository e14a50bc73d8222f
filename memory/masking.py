"""Finds names that were taken away in any text: whole folded words, wherever case, accents' form and spaces differ.

Names of scripts without spaces are found anywhere. Names that were deleted for good are known by a keyed digest alone:
candidates of as many words are folded and digested. Nothing here knows why a name is to be masked.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from foundation.marks import REMOVED_MARK as MARK

MOST_WORDS = 6
"""Words of a deleted name that are looked for; a longer one is kept by its first so many."""

Span = tuple[int, int]
Digest = Callable[[str], str]

_WORD = re.compile(r"\w+")
_CHUNK = re.compile(r"\S+")


@cache
def _unspaced() -> re.Pattern[str]:
    """Match a character of a script without spaces; compiled when the first text that is not ASCII comes along."""
    return re.compile(
        "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
    )


class Hashed(NamedTuple):
    """What is known of a deleted name: its digest, and its number of words or, without spaces, of characters."""

    digest: str
    words: int
    characters: int


class Prepared(NamedTuple):
    """Names sorted by how they are looked for: by their first word, anywhere, within identifiers too; and digests."""

    by_word: dict[str, list[str]]
    anywhere: list[str]
    in_parts: list[str]
    hashed: list[Hashed]


def prepared(keys: Mapping[str, bool], hashed: Sequence[Hashed] = ()) -> Prepared:
    """Sort folded names, each with whether it counts within identifiers too."""
    by_word: dict[str, list[str]] = {}
    anywhere = []
    for name, in_parts in keys.items():
        word = _WORD.search(name)
        if word is None or in_parts or (not name.isascii() and _unspaced().search(name)):
            anywhere.append(name)
        else:
            by_word.setdefault(word[0], []).append(name)
    return Prepared(by_word, anywhere, [name for name, in_parts in keys.items() if in_parts], list(hashed))


def merged(those: Sequence[Prepared]) -> Prepared:
    """Give the names of several as those of one."""
    by_word: dict[str, list[str]] = {}
    for each in those:
        for word, names in each.by_word.items():
            by_word[word] = [*by_word.get(word, []), *names]
    return Prepared(
        by_word,
        [name for each in those for name in each.anywhere],
        [name for each in those for name in each.in_parts],
        [one for each in those for one in each.hashed],
    )


class Names:
    """The names that are to be masked. A text costs what it holds of their words, not what their number is."""

    def __init__(self, names: Prepared, digest: Digest | None = None) -> None:
        """Take prepared names, and what makes the digest of one that was deleted."""
        self.prepared = names
        self._by_word, self._anywhere = names.by_word, names.anywhere
        self._first = {word.encode("utf-8", "surrogatepass") for word in names.by_word}
        self._in_parts = frozenset(names.in_parts)
        self._hashed = {each.digest for each in names.hashed}
        self._counts = sorted({each.words for each in names.hashed if each.words})
        self._lengths = sorted({each.characters for each in names.hashed if each.characters})
        self._digest: Digest | None = lru_cache(1 << 16)(digest) if digest and names.hashed else None

    def spans(self, text: str) -> list[Span]:
        """Give where names stand in a text, in order and apart from each other."""
        folded, starts = _folded(text)
        found = [(starts[start], starts[end]) for start, end in self._in(folded)] if starts else list(self._in(folded))
        return _apart(found)

    def masked(self, text: str) -> tuple[str, int]:
        """Give a text with a mark in the place of each name, and how many there were."""
        spans = self.spans(text)
        if not spans:
            return text, 0
        pieces, at = [], 0
        for start, end in spans:
            pieces += [text[at:start], MARK]
            at = end
        return "".join([*pieces, text[at:]]), len(spans)

    def touches(self, text: str) -> bool:
        """Tell whether a name, or any word of one that is known, stands in a short text such as a term of a query."""
        folded, _ = _folded(text)
        if self._hashed or not self._known_words.isdisjoint(_WORD.findall(folded)):
            return True
        return any(part in folded or folded in part for part in self._anywhere)

    @cached_property
    def _known_words(self) -> set[str]:
        return set(_WORD.findall(" ".join(name for names in self._by_word.values() for name in names)))

    def _in(self, folded: str) -> Iterator[Span]:
        if self._by_word:
            for word in self._first & _words_in(folded):
                for name in self._by_word[word.decode("utf-8", "surrogatepass")]:
                    yield from (found.span() for found in _pattern(name).finditer(folded))
        for name in self._anywhere:
            if name in folded:
                yield from _everywhere(name, folded, in_parts=name in self._in_parts)
        if self._digest is not None:
            yield from self._of_digests(folded, self._digest)

    def _of_digests(self, folded: str, digest: Digest) -> Iterator[Span]:
        for spans in (_words(folded), _chunks(folded)):
            pieces = list(spans)
            for count in self._counts:
                for at in range(len(pieces) - count + 1):
                    start, end = pieces[at][0], pieces[at + count - 1][1]
                    if digest(_key(folded[start:end])) in self._hashed:
                        yield start, end
        for length in self._lengths:
            for at in range(len(folded) - length + 1):
                piece = folded[at : at + length]
                if _unspaced().search(piece) and digest(piece) in self._hashed:
                    yield at, at + length


def _words_in(folded: str) -> set[bytes]:
    """Give the words of a folded text, without their places: most texts need no more."""
    if folded.isascii():  # the usual case, at the price of a copy
        return set(folded.encode().translate(_SPACED).split())
    return {word.encode("utf-8", "surrogatepass") for word in _WORD.findall(folded)}


_SPACED = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(256))


def _words(folded: str) -> Iterator[Span]:
    return (found.span() for found in _WORD.finditer(folded))


def _chunks(folded: str) -> Iterator[Span]:
    """Give what stands between spaces, without the marks around it that are no part of a name."""
    for found in _CHUNK.finditer(folded):
        from memory.names import AFTER, BEFORE

        left = found[0].lstrip(BEFORE)
        yield found.end() - len(left), found.start() + len(found[0].rstrip(AFTER))


def measured(name: str) -> tuple[int, int]:
    """Give the number of words of a folded name, or 0 and its number of characters where its script has no spaces."""
    return (0, len(name)) if _unspaced().search(name) else (min(len(name.split()), MOST_WORDS), 0)


@lru_cache(4096)
def _pattern(name: str) -> re.Pattern[str]:
    """Match a folded name as whole words, whatever white space is between them."""
    return re.compile(r"(?<!\w)" + r"\s+".join(map(re.escape, name.split())) + r"(?!\w)")


def _everywhere(name: str, folded: str, *, in_parts: bool) -> Iterator[Span]:
    at = folded.find(name)
    while at >= 0:
        end = at + len(name)
        if not in_parts or _is_part(folded, at, end):
            yield at, end
        at = folded.find(name, at + 1)


def _is_part(folded: str, start: int, end: int) -> bool:
    """Tell whether a stretch may be a part of an identifier; case is gone here, so a part may end anywhere."""
    return start == 0 or not folded[start - 1].isalpha() or not folded[end : end + 1].isalpha() or end - start > _SURE


_SURE = 3  # letters: `sap` is no part of `disappear`, a longer name is taken for one


def _folded(text: str) -> tuple[str, list[int]]:
    """Fold a text as names are folded; with it, for each character of the fold, where it stands in the text.

    The list is empty where positions are the same.
    """
    if text.isascii():
        return text.lower(), []
    import unicodedata

    pieces: list[str] = []
    starts: list[int] = []
    for cluster in _clusters().finditer(text):
        piece = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", cluster[0]).casefold())
        pieces.append(piece)
        starts += [cluster.start()] * len(piece)
    starts.append(len(text))
    return "".join(pieces), starts


@cache
def _clusters() -> re.Pattern[str]:
    return re.compile(
        "[\x00-\x7f](?![\u0300-\u036f])|.[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff\u3099\u309a]*", re.DOTALL
    )


def _apart(spans: Sequence[Span]) -> list[Span]:
    """Join what overlaps."""
    kept: list[Span] = []
    for start, end in sorted(spans):
        if kept and start < kept[-1][1]:
            kept[-1] = (kept[-1][0], max(kept[-1][1], end))
        elif end > start:
            kept.append((start, end))
    return kept


def _key(text: str) -> str:
    from memory.names import key

    return key(text)
