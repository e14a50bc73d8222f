"""Decide whether a text that the audience sees matches a query, how well, and where.

The index only proposes: redaction, masking and the class of an entry may have changed since, and words are not
literals. So every hit is judged here again, on decoded and visible text.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from foundation.marks import REMOVED_MARK as MARK
from foundation.texts import VisibleText
from index.tokens import WORD, split_word, unspaced_runs
from recall.folding import COMBINING, fold, has_combining, without_combining
from recall.query import Query, Term

LITERAL, ALL_WORDS, SOME = 0, 1, 2
"""Tiers of a match, the best first."""

REASONS = ("literal", "all-words", "word", "part")

Span = tuple[int, int]

_REDACTION = re.compile(r"\[redacted:[^\]\s]*\]")
_MOST_SPANS = 100  # per term: more tell nothing new about density or the best passage


class Verdict(NamedTuple):
    """How a text matches: its tier, the reasons of `REASONS`, and for each wanted term where it stands."""

    tier: int
    reasons: tuple[str, ...]
    spans: tuple[tuple[Span, ...], ...]


class _Found(NamedTuple):
    """Where a term stands: `whole` with all of its words, `exact` as the literal it is, `as_word` not as a part."""

    spans: tuple[Span, ...]
    whole: bool
    exact: bool = False
    as_word: bool = False


class _Text(NamedTuple):
    plain: str
    folded: str
    combining: bool


def judge(query: Query, text: VisibleText, *, anywhere: bool = False, in_redactions: bool = True) -> Verdict | None:
    """Judge a text; None where it does not match.

    With `anywhere` a word counts inside of others too; without `in_redactions` nothing in a `[redacted:…]` counts.
    """
    plain = text if in_redactions else _REDACTION.sub(_blank, text)
    if MARK in plain:  # a removed name is not found by the mark that stands for it
        plain = plain.replace(MARK, " " * len(MARK))
    both = _Text(plain, fold(plain), has_combining(plain))
    if any(_spans(term, both, anywhere=False).whole for term in query.excluded):
        return None
    spans, literal, as_word, all_groups = [], False, False, True
    for group in query.groups:
        in_group = False
        for term in group:
            found = _spans(term, both, anywhere=anywhere)
            literal, as_word, in_group = literal or found.exact, as_word or found.as_word, in_group or found.whole
            spans.append(found.spans)
        if not in_group and any(term.required for term in group):
            return None
        all_groups = all_groups and in_group
    if not any(spans):
        return None
    tier = LITERAL if literal else ALL_WORDS if all_groups else SOME
    named = (literal, all_groups, as_word, not literal and not as_word)
    return Verdict(tier, tuple(reason for reason, holds in zip(REASONS, named, strict=True) if holds), tuple(spans))


def _spans(term: Term, text: _Text, *, anywhere: bool) -> _Found:
    """Find a term, a literal that does not stand there by its words."""
    if term.kind == "literal":
        spans = _exactly(term.text, text.plain) if term.exact_case else _exactly(fold(term.text), text.folded)
        if spans or term.required:
            return _Found(spans, whole=bool(spans), exact=bool(spans))
        return _by_words(term.text, text, anywhere=anywhere)
    spans, as_word = _as_word(term.text, text, open_ended=term.kind == "prefix", anywhere=anywhere)
    return _Found(spans, whole=bool(spans), as_word=as_word)


def _blank(redaction: re.Match[str]) -> str:
    return " " * len(redaction[0])


def _exactly(needle: str, text: str) -> tuple[Span, ...]:
    found: list[Span] = []
    at = text.find(needle)
    while at >= 0 and len(found) < _MOST_SPANS:
        found.append((at, at + len(needle)))
        at = text.find(needle, at + len(needle))
    return tuple(found)


def _by_words(literal: str, text: _Text, *, anywhere: bool) -> _Found:
    """Find the words of a literal, apart from each other or only some of them."""
    words = [_as_word(match[0], text, open_ended=False, anywhere=anywhere) for match in WORD.finditer(literal)]
    spans = tuple(sorted(span for found, _ in words for span in found))
    whole = bool(words) and all(found for found, _ in words)
    return _Found(spans, whole, as_word=all(as_word for found, as_word in words if found))


def _as_word(word: str, text: _Text, *, open_ended: bool, anywhere: bool) -> tuple[tuple[Span, ...], bool]:
    """Find a word as a whole or as a part of identifiers; whole words only, where there are some."""
    whole, parts = [], []
    for match in _pattern(word, text.combining).finditer(text.folded):
        start, end = match.span()
        left = _edge(text.plain, start)
        right = 2 if open_ended else _edge(text.plain, end)
        if left == right == 2 or (open_ended and left == 2):  # noqa: PLR2004 - see _edge
            whole.append((start, end))
        elif (left and right) or anywhere:
            parts.append((start, end))
        if len(whole) == _MOST_SPANS:
            break
    return (tuple(whole), True) if whole else (tuple(parts[:_MOST_SPANS]), False)


@lru_cache(256)
def _pattern(word: str, combining: object) -> re.Pattern[str]:
    """Match a word in folded text; the parts of a compound may also stand apart: `retry_budget`, `retry budget`.

    In a text with `combining` accents each letter may be followed by those of a decomposed one.
    """
    word = without_combining(word)
    parts = [fold(part) for piece in WORD.findall(word) for part in split_word(piece).split()]
    parts = parts if len(parts) > 1 else [fold(word)]
    spelled = [
        "".join(re.escape(char) + COMBINING + "*" for char in part) if combining else re.escape(part) for part in parts
    ]
    return re.compile(r"[\W_]{0,2}".join(spelled))


def _edge(text: str, at: int) -> int:
    """Tell what lies between two characters: 2 the edge of a word, 1 the edge of a part, 0 the inside of a part."""
    if at in (0, len(text)):
        return 2
    before, after = text[at - 1], text[at]
    if not (before.isalnum() and after.isalnum()):
        return 1 if "_" in (before, after) else 2
    if not (before.isascii() and after.isascii()) and unspaced_runs().search(before + after):
        return 2
    if after.isupper() and not before.isupper():
        return 1
    follows = text[at + 1 : at + 2]
    return 1 if before.isupper() and after.isupper() and follows.islower() else 0
