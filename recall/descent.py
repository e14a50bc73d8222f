"""Where a rebased session came from, as recall needs to know it: the shape of the port that a door hands in.

Links are proved elsewhere. Recall says which files may be a source at all, and asks the door which of them are.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

VERIFIED, MISSING, CHANGED = "verified", "source-missing", "source-changed"
"""How a generation stands."""


class Generation(NamedTuple):
    """A source of a session, up to a leaf, within its first `size` bytes; `file` is empty unless it is verified."""

    session_id: str
    leaf: str
    size: int
    file: str
    state: str


class Descent(NamedTuple):
    """What a proved link says: the entry through which a branch comes from its sources, and these, nearest first."""

    handoff: str
    generations: tuple[Generation, ...]


Locate = Callable[[str, str], Iterable[str]]
"""Gives the files that may be a source, by its session's id and the name that its file had, the likeliest first."""

Descend = Callable[[str, Locate], Descent | None]
"""Proves the link of a session file; None where it has none. Raises ContextError where the link does not hold."""


def no_descent(_file: str, _locate: Locate) -> None:
    """Know of no link: for a door without rebase."""
