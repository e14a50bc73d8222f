"""From the lines of summaries to names worth drawing, by filters in a fixed order; a summary itself never changes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memory.filters import Filters
from memory.model import Entity, Memory
from memory.names import canonical, key
from memory.shapes import SHAPES
from memory.visibility import Visibility

_SHORTEST = 2


class Summary(NamedTuple):
    """A summary that stands in a session; its text is what the audience may see."""

    session: str
    text: str


class Mention(NamedTuple):
    """A name that is drawn for a session; `entity` is empty where no fact is about it."""

    session: str
    name: str
    label: str
    entity: str = ""


def mentions(
    memory: Memory, summaries: Sequence[Summary], filters: Filters, visibility: Visibility, excluded: frozenset[str],
    shown: Mapping[str, Entity],
) -> tuple[list[Mention], tuple[str, ...]]:  # fmt: skip
    """Give what is drawn of the summaries' items, and what was wrong with the filters.

    `excluded` are folded names that plugins never want drawn, `shown` the entities that may be drawn by folded name.
    """
    never, warnings = any_of(filters.values["mentions.neverDraw"])
    gone = {
        name
        for entity in memory.entities.values()
        if entity.removed_at is not None
        for name in (key(text, filters.fold) for text in (entity.label, *entity.aliases))
    }
    found: list[Mention] = []
    plain: dict[str, set[str]] = {}
    for summary in summaries:
        if filters.is_ephemeral(summary.session) or visibility.hides(summary.session):
            continue
        for item in items(summary.text, filters):
            name = key(item, filters.fold)
            if _never(item, filters, never) or name in excluded or not name:
                continue
            entity = shown.get(name)
            if entity is not None:
                found.append(Mention(summary.session, name, entity.label, entity.id))
            elif name not in gone and not visibility.suppresses(item) and not visibility.suppresses(name):
                plain.setdefault(name, set()).add(summary.session)
                found.append(Mention(summary.session, name, canonical(item, filters.fold)))
    least = filters.values["mentions.minSessions"]
    drawn = [each for each in found if each.entity or len(plain[each.name]) >= least]
    return list(dict.fromkeys(_with_one_label(drawn))), warnings


def items(text: str, filters: Filters) -> Iterator[str]:
    """Yield the items of the labelled lines of a summary."""
    empty = {str(word).lower() for word in filters.values["summary.emptyItems"]}
    for line in text.splitlines():
        for label in filters.values["summary.sections"]:
            head, colon, rest = line.lstrip(" -*#").partition(":")
            if colon and head.strip(" *").lower() == label.lower():
                for item in (" ".join(part.split()) for part in rest.strip(" *").split(",")):
                    if len(item) >= _SHORTEST and item.lower() not in empty:
                        yield item


def _never(item: str, filters: Filters, never: Callable[[str], bool]) -> bool:
    if item in filters.values["mentions.exceptions"]:
        return False
    return never(item) or any(SHAPES[name](item) for name in filters.values["mentions.shapes"] if name in SHAPES)


def any_of(patterns: Sequence[str]) -> tuple[Callable[[str], bool], tuple[str, ...]]:
    """Give what tells whether any of the owner's patterns is in a text, and which are none; none can make it hang."""
    if not patterns:
        return lambda _: False, ()
    import re2

    compiled, bad = [], []
    quiet = re2.Options()
    quiet.log_errors = False
    for number, pattern in enumerate(patterns, 1):
        try:
            compiled.append(re2.compile(pattern, quiet))
        except re2.error:
            bad.append(f"pattern {number} of mentions.neverDraw is no regular expression")
    return lambda item: any(each.search(item) for each in compiled), tuple(bad)


def _with_one_label(found: Sequence[Mention]) -> Iterator[Mention]:
    """Call a name as it was called first."""
    labels: dict[str, str] = {}
    for each in found:
        yield each._replace(label=labels.setdefault(each.name, each.label))
