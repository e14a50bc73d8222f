"""When two names are the same: by their folded form and by nothing else, no similarity.

The fold is versioned, for what the ledger keeps of a deleted name is a digest of the folded form.
"""

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

FOLD_VERSION = 1

SUFFIXES = frozenset({"ltd", "limited", "inc", "llc", "plc", "pvt", "private"})
"""Words that end the names of companies and tell nothing apart."""

_QUOTES = "\"'`´“”„‘’‚«»‹›「」『』《》〈〉【】()[]{}<>"
BEFORE, AFTER = _QUOTES + ",;:!?", _QUOTES + ".,;:!?"  # a name may begin with a dot, and end with a plus
_NO_ALIASES: Mapping[str, str] = MappingProxyType({})


class Fold(NamedTuple):
    """How names are folded: other names by their lower-cased form, and the suffixes that do not count."""

    aliases: Mapping[str, str] = _NO_ALIASES
    suffixes: frozenset[str] = SUFFIXES


def canonical(name: str, fold: Fold = Fold()) -> str:  # noqa: B008 - frozen
    """Give the name that stands for this one: composed, whitespace collapsed, aliases followed, suffixes dropped."""
    text = " ".join(unicodedata.normalize("NFKC", name).split())
    text = fold.aliases.get(text.lower(), text)
    words = text.split(" ")
    while len(words) > 1 and words[-1].strip(".,").lower() in fold.suffixes:
        words.pop()
    return " ".join(words).lstrip(BEFORE).rstrip(AFTER).strip() or text


def key(name: str, fold: Fold = Fold()) -> str:  # noqa: B008 - frozen
    """Give the folded form by which names are compared; empty where a name is nothing but space."""
    return unicodedata.normalize("NFKC", canonical(name, fold).casefold())
