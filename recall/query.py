"""The query language: words, `"exact phrase"`, `` `identifier` ``, `NOT word`, `OR`, `prefix*`; all else is text.

A term is literal when it is quoted or holds a character other than letters, digits and `_`: `chat-send`, `.env`,
`C++`. An apostrophe inside a word and closing `.,;:!?` do not count. Quoted and backticked terms are required.
"""

import re
import unicodedata
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from recall.folding import fold

LONGEST = 2000
"""UTF-16 units."""

_MOST_TERMS = 32
_END = r"(?=[.,;:!?]*(?:\s|$))"
_PIECE = rf'"([^"]*)"{_END}|`([^`]*)`{_END}|(\S+)'
_CLOSING = ".,;:!?"
_APOSTROPHES = "'\u2019"


class Term(NamedTuple):
    """One thing to look for; `kind` is word, prefix or literal."""

    text: str
    kind: str
    required: bool = False
    exact_case: bool = False


class Query(NamedTuple):
    """What is wanted: of each group one term at least, nothing that is excluded. `shortened` if terms were dropped."""

    groups: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...]
    shortened: bool = False

    @property
    def terms(self) -> tuple[Term, ...]:
        """All wanted terms."""
        return tuple(term for group in self.groups for term in group)

    def as_words(self) -> "Query":
        """Give the same query with its literal terms as mere words, each of them wanted."""
        groups: list[list[Term]] = []
        for group in self.groups:
            words = [word for term in group for word in _words_of(term)]
            groups += [words] if len(group) > 1 else [[word] for word in words]
        return _bounded(groups, list(self.excluded))._replace(shortened=self.shortened)


def without(query: Query, hides: Callable[[str], bool]) -> Query:
    """Put, in the place of each term that must not be found, a word that nobody ever said."""

    def seen(term: Term) -> Term:
        if not hides(term.text):
            return term
        word = "x" + sha256(b"never said " + term.text.encode("utf-8", "surrogatepass")).hexdigest()
        return term._replace(text=word)

    return query._replace(
        groups=tuple(tuple(map(seen, group)) for group in query.groups), excluded=tuple(map(seen, query.excluded))
    )


def parse(text: str) -> Query:
    """Read a query; any text is one."""
    groups: list[list[Term]] = []
    excluded: list[Term] = []
    joins = negates = False
    pieces = _pieces(text)
    for number, (bare, quoted, backticked) in enumerate(pieces):
        last = number == len(pieces) - 1
        if bare == "OR" and groups and not last and not joins:
            joins = True
            continue
        if bare == "NOT" and not last:
            negates = True
            continue
        term = _term(bare, quoted, backticked)
        if term is not None:
            if negates:
                excluded.append(term)
            elif joins:
                groups[-1].append(term)
            else:
                groups.append([term])
        joins = negates = False
    return _bounded(groups, excluded)


def has_signs(text: str) -> bool:
    """Tell whether a text holds a sign that stands for something by itself, as an emoji does, and no ASCII."""
    return any(char > "\x7f" and unicodedata.category(char)[0] == "S" for char in text)


def _pieces(text: str) -> list[tuple[str, str, str]]:
    """Cut a query into bare, quoted and backticked pieces, each in its place of three; the others are empty."""
    if '"' in text or "`" in text:
        return [(match[3] or "", match[1] or "", match[2] or "") for match in re.finditer(_PIECE, text)]
    return [(word, "", "") for word in text.split()]


def _term(bare: str, quoted: str, backticked: str) -> Term | None:
    if quoted.strip():
        return Term(quoted, "literal", required=True, exact_case=True)
    if backticked.strip():
        return Term(backticked.strip(), "literal", required=True)
    if len(bare) > 1 and bare.endswith("*") and _is_word(bare[:-1]):
        return Term(bare[:-1], "prefix")
    bare = bare.rstrip(_CLOSING) or ""
    if not bare:
        return None
    return Term(bare, "word" if _is_word(bare) else "literal")


def _is_word(text: str) -> bool:
    """Tell whether a text is letters, digits, marks and `_`, apostrophes only inside."""
    inner = text[1:-1].translate({ord(mark): "a" for mark in _APOSTROPHES}) if len(text) > 2 else text[1:-1]  # noqa: PLR2004 - there is an inside
    return all(
        char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M" for char in f"{text[0]}{inner}{text[-1]}"
    )


def _bounded(groups: list[list[Term]], excluded: list[Term]) -> Query:
    """Drop repeats, and of a very long query all but its literal and its longest terms."""
    seen: set[tuple[str, str, bool]] = set()
    kept = [[term for term in group if _is_new(term, seen)] for group in groups]
    kept = [group for group in kept if group]
    ranked = sorted(range(len(kept)), key=lambda at: (kept[at][0].kind != "literal", -len(kept[at][0].text), at))
    chosen = sorted(ranked[:_MOST_TERMS])
    return Query(
        tuple(tuple(kept[at][:_MOST_TERMS]) for at in chosen), tuple(excluded[:_MOST_TERMS]), len(ranked) > len(chosen)
    )


def _words_of(term: Term) -> list[Term]:
    return [Term(word, "word") for word in re.findall(r"\w+", term.text)] if term.kind == "literal" else [term]


def _is_new(term: Term, seen: set[tuple[str, str, bool]]) -> bool:
    key = (term.text if term.exact_case else fold(term.text), term.kind, term.exact_case)
    if key in seen:
        return False
    seen.add(key)
    return True
