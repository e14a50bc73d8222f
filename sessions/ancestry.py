"""The shape of a session's tree, from parent links alone: roots, loops, and who descends from whom.

Works on positions in arrays of four bytes, because a session may have a hundred thousand entries, and in time that
grows with their number, whatever the links say.
"""

from array import array
from typing import NamedTuple

NONE = -1


class Shape(NamedTuple):
    """The tree of entries 0…n-1.

    `parents` holds positions or `NONE`, loops cut open; `roots` are those without a parent, in file order; `loops`
    one position for each parent cycle, the first in the file, which is also where it was cut.
    """

    parents: "array[int]"
    roots: list[int]
    loops: list[int]


def shape(links: "array[int]") -> Shape:
    """Take the parents' positions, `NONE` where there is none; an entry that is its own parent is a loop."""
    links = links[:]
    loops = [at for at, parent in enumerate(links) if parent == at]
    for at in loops:
        links[at] = NONE
    loops += _cut_loops(links)
    return Shape(links, [at for at, parent in enumerate(links) if parent == NONE], sorted(loops))


def unrelated(parents: "array[int]", pairs: list[tuple[int, int]]) -> list[int]:
    """Give the places of those pairs whose first entry is neither the second nor one of its ancestors.

    Walks up from each second, which is short as a rule; where that grows long, all entries are numbered depth first.
    """
    patience = 2 * len(parents)
    found = []
    for place, (above, below) in enumerate(pairs):
        at = below
        while at not in (above, NONE) and patience > 0:
            at = parents[at]
            patience -= 1
        if patience <= 0:
            first, last = _spans(parents)
            return [at for at, (up, down) in enumerate(pairs) if up == NONE or not first[up] <= first[down] <= last[up]]
        if at == NONE:
            found.append(place)
    return found


def _spans(parents: "array[int]") -> "tuple[array[int], array[int]]":
    """Give each entry a number, depth first.

    Given `first, last`, the entry `b` is `a` or descends from it where `first[a] <= first[b] <= last[a]`.
    """
    child, sibling = (array("i", [NONE]) * len(parents) for _ in range(2))
    for at in range(len(parents) - 1, -1, -1):
        if (parent := parents[at]) != NONE:
            sibling[at], child[parent] = child[parent], at
    first, last = (array("i", [NONE]) * len(parents) for _ in range(2))
    count = 0
    for root in range(len(parents)):
        if parents[root] != NONE:
            continue
        at = root
        while at != NONE:
            if first[at] == NONE:
                first[at] = count
                count += 1
                if child[at] != NONE:
                    at = child[at]
                    continue
            last[at] = count - 1
            at = sibling[at] if sibling[at] != NONE else parents[at]
    return first, last


def _cut_loops(links: "array[int]") -> list[int]:
    """Open each cycle at its first entry in the file; give those."""
    if all(parent < at for at, parent in enumerate(links)):
        return []  # the usual file: every parent stands before its child
    seen = array("i", [NONE]) * len(links)
    found = []
    for start in range(len(links)):
        at = start
        while at != NONE and seen[at] == NONE:
            seen[at] = start
            at = links[at]
        if at == NONE or seen[at] != start:
            continue
        first = turn = at
        while (turn := links[turn]) != at:
            first = min(first, turn)
        found.append(first)
        links[first] = NONE
    return found
