"""The shape of a tree follows from its parent links, in linear time, whatever circles they hold."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from sessions.ancestry import NONE, shape, unrelated

LINKS = st.integers(0, 12).flatmap(lambda n: st.lists(st.integers(NONE, n - 1), min_size=n, max_size=n))


def above(parents: "list[int] | array[int]", at: int) -> list[int]:
    walked: list[int] = []
    while at != NONE and at not in walked:
        walked.append(at)
        at = parents[at]
    return walked


@given(LINKS)
def test_every_circle_is_found_and_cut_once_at_its_first_entry(links: list[int]) -> None:
    """After cutting, each entry leads to a root; nothing outside circles has changed."""
    found = shape(array("i", links))
    on_circle = [at for at in range(len(links)) if links[at] != NONE and at in above(links, links[at])]
    circles = {min(above(links, at)) for at in on_circle}
    assert found.loops == sorted(circles)
    assert [NONE if at in circles else link for at, link in enumerate(links)] == list(found.parents)
    assert found.roots == [at for at, parent in enumerate(found.parents) if parent == NONE]
    assert all(found.parents[above(found.parents, at)[-1]] == NONE for at in range(len(links)))


@given(LINKS, st.data())
def test_ancestors_are_told_from_strangers(links: list[int], data: st.DataObject) -> None:
    """The quick walk and the numbering agree with the definition, also for pairs asked for many times."""
    parents = shape(array("i", links)).parents
    if not links:
        assert unrelated(parents, []) == []
        return
    places = st.integers(0, len(links) - 1)
    pairs = data.draw(st.lists(st.tuples(st.integers(NONE, len(links) - 1), places), max_size=40))
    expected = [place for place, (up, down) in enumerate(pairs) if up not in above(parents, down)]
    assert unrelated(parents, pairs) == expected


def test_a_long_chain_with_many_distant_questions_stays_linear() -> None:
    """Asking of every entry of a long branch for its root would take minutes if each walked the whole way."""
    count = 60_000
    parents = shape(array("i", [NONE, *range(count - 1)])).parents
    assert unrelated(parents, [(0, at) for at in range(count)]) == []
    assert unrelated(parents, [(at + 1, at) for at in range(count - 1)]) == list(range(count - 1))


def test_one_circle_of_everything_is_cut_in_linear_time() -> None:
    """A file that is a single circle is no more work than another."""
    count = 60_000
    found = shape(array("i", [*range(1, count), 0]))
    assert (found.loops, found.roots) == ([0], [0])
