"""What of summaries is drawn: no junk, and no good name is lost; and what a node says of itself."""

import re

import pytest
from junk import SENDERS, labelled
from remembering import facts

from foundation.errors import ContextError
from memory.filters import DEFAULTS, Filters, read
from memory.mapping import Map, drawn
from memory.model import Change, Memory, Removal, with_change
from memory.names import key
from memory.picturing import page
from memory.seeing import sight_of
from memory.sight import visibility
from memory.sources import Summary, any_of, items
from memory.visibility import Visibility

NOW = 1_795_161_700_000
NOTHING, USUAL = Memory(), Filters(DEFAULTS)


def no_key(_key_id: str, _name: str) -> str:
    """Sign nothing."""
    return ""


def summaries() -> list[Summary]:
    """Give the labelled ones."""
    return [Summary(session, text) for session, texts in labelled().summaries.items() for text in texts]


def labels(found: Map, kind: str = "name") -> set[str]:
    """Give the labels of a kind of node."""
    return {node.label for node in found.nodes if node.kind == kind}


def draw(memory: Memory = NOTHING, filters: Filters = USUAL, excluded: frozenset[str] = frozenset()) -> Map:
    """Draw the map of the labelled sessions."""
    seen = visibility([sight_of(memory, no_key, now=NOW, fold=USUAL.fold)], no_key)
    return drawn(memory, summaries(), filters, seen, at=NOW, excluded=excluded)


def test_no_junk_is_drawn_and_no_good_name_is_lost() -> None:
    """By the defaults alone, over sixty sessions and nearly three hundred items in several scripts."""
    given = labelled()
    assert len(given.summaries) == 61
    assert 260 < given.count < 320
    shown = labels(draw())
    assert given.junk & shown == set()
    assert given.good - shown == set()
    assert shown - given.good == set(SENDERS)
    assert not any(session.startswith("test-") for session in labels(draw(), "session"))


def test_plugins_name_what_is_never_drawn() -> None:
    """Promotional senders go; an entity of that name stays, without the mention."""
    names = frozenset(key(name) for name in SENDERS)
    assert labels(draw(excluded=names)) == labelled().good
    memory, _ = facts(("owner", "buys from", SENDERS[0]))
    found = draw(memory, excluded=names)
    assert labels(found, "entity") == {SENDERS[0]}
    assert not [edge for edge in found.edges if edge.kind == "mention" and edge.target.startswith("ent_")]


def test_an_entity_needs_no_second_session() -> None:
    """What a fact is about is linked from every summary that lists it, whatever its form."""
    memory, _ = facts(("owner", "read", "Passing Remark A"))
    found = draw(memory)
    (entity,) = [node for node in found.nodes if node.kind == "entity"]
    assert entity.ref == ("entity", entity.id)
    assert len([edge for edge in found.edges if edge.kind == "mention" and edge.target == entity.id]) == 1


def test_a_removed_name_is_off_the_map_and_a_confirmed_fact_brings_it_back_marked() -> None:
    """A proposed one does not; the node says that it was removed before."""
    removal = Removal("rm_1", "name", "walgreens", "Walgreens", NOW, keys=("walgreens",))
    gone = with_change(Memory(), Change(removals=(removal,)))
    assert "Walgreens" not in labels(draw(gone))
    for confirm in (False, True):
        memory, _ = facts(("owner", "shops at", "Walgreens"), confirm=confirm)
        found = draw(with_change(memory, Change(removals=(removal,))))
        entities = [node for node in found.nodes if node.kind == "entity"]
        assert [(node.label, node.previously_removed) for node in entities] == (
            [("Walgreens", True)] if confirm else []
        )


def test_a_closed_ledger_hides_every_session() -> None:
    """Nothing of any session is drawn."""
    found = drawn(Memory(), summaries(), Filters(DEFAULTS), Visibility(closed=True), at=NOW)
    assert labels(found) == set()


@pytest.mark.parametrize(("text", "found"), [
    ("Referenced: A B, C D", ["A B", "C D"]), ("- **Referenced:** A B", ["A B"]), ("## referenced: x, Yy ", ["Yy"]),
    ("References: A B", []), ("Referenced A B", []), ("Referenced: none, n/a, -", []), ("Referenced:\nA B", []),
])  # fmt: skip
def test_items_of_a_labelled_line(text: str, found: list[str]) -> None:
    """Parts between commas, in whatever dress the line comes."""
    assert list(items(text, Filters(DEFAULTS))) == found


@pytest.mark.parametrize(("text", "said"), [
    ("mentions:\n  minSession: 3\n", "Line 2"), ("nonsense: 1", "Line 1"), ("- a", "no mapping"), ("a: [", "no YAML"),
    ("mentions:\n  minSessions: 3\nfold: 4", "no mapping"), ("!!python/object:os.system x", "no mapping"),
])  # fmt: skip
def test_a_file_that_cannot_be_meant_is_refused_with_its_line(text: str, said: str) -> None:
    """What is misspelt would filter nothing."""
    with pytest.raises(ContextError, match=re.escape(said)):
        read(text)


def test_a_wrong_value_falls_back_to_the_default() -> None:
    """With a warning that names key and line."""
    found = read("mentions:\n  minSessions: many\n  neverDraw: ['^Zz', '(']\nsessions:\n  ephemeralPrefixes: [tmp]\n")
    assert found.values["mentions.minSessions"] == 2
    assert found.is_ephemeral("TMP-1")
    assert "line 2" in found.warnings[0]
    never, bad = any_of(found.values["mentions.neverDraw"])
    assert (never("Zzz"), never("Aaa"), len(bad)) == (True, False, 1)


def test_the_page_is_safe_and_whole() -> None:
    """Hostile names are text; nothing is loaded; each node has its command; the same map gives the same page."""
    evil = "</script><img src=x onerror=alert(1)>\"'&"
    memory, _ = facts(("owner", "fears", evil), ("owner", "likes", "Tea"))
    removal = Removal("rm_1", "name", "x", evil, NOW, keys=("x",))
    made = page(draw(memory), [removal], project="p<i>")
    assert made == page(draw(memory), [removal], project="p<i>")
    assert "<img" not in made
    assert made.count("</script>") == 1
    assert "p&lt;i&gt;" in made
    assert not re.search(r"<(?:img|link|script|iframe|image|a)\s|url\(|@import", made)
    assert "default-src &#x27;none&#x27;" in made or "default-src 'none'" in made
    assert "memory remove entity ent_" in made
    assert "memory restore rm_1" in made
