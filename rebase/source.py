"""The session that is to be rebased, open and sound: its branch, what of it goes to a model, and its tool exchanges.

Holds the gates that the file itself decides, in their order; each refusal names its code. Reads the file once for all
of them, and of the messages only those that an edit replaced.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from foundation.errors import ContextError
from rebase.exchanges import Exchanges, Spoken, judge
from sessions.context import Reader, View, messages_of, view_of
from sessions.decoding import fast_parser
from sessions.entries import Header
from sessions.loading import BROKEN, Step
from sessions.reading import open_log
from sessions.skimming import Flaw, Skimmed, said_by, skim
from sessions.tree import find_id

_CODES = {
    "no-header": "not-a-session",
    "version": "unsupported-source-version",
    "torn-tail": "source-torn-tail",
    "conflicting-id": "source-id-conflict",
}
_MOST_TRIES = 100


class Source(NamedTuple):
    """An open log and a branch of it.

    `path` holds positions in `skimmed.loaded.steps` from the root to the leaf; `view` is what of the branch goes to a
    model.
    """

    file: str
    reader: Reader
    skimmed: Skimmed
    path: list[int]
    view: View

    @property
    def header(self) -> Header:
        """Give the header."""
        return self.skimmed.loaded.header

    @property
    def leaf_id(self) -> str:
        """Give the id of the leaf."""
        return self.step(self.path[-1]).id or ""

    @property
    def steps(self) -> list[Step]:
        """Give the steps of the branch."""
        everything = self.skimmed.loaded.steps
        return [everything[place] for place in self.path]

    def step(self, place: int) -> Step:
        """Give the step at a position."""
        return self.skimmed.loaded.steps[place]

    def place(self, step: Step) -> int:
        """Give the position of a step."""
        return self.skimmed.places[step.id or ""]


@contextmanager
def opened(file: str, *, leaf: str | None, size: int | None = None) -> Iterator[Source]:
    """Open a session at a leaf, by default its last entry; `size` takes only so many bytes of it.

    Raises ContextError with the code of the first gate that does not hold, and what `open_log` raises.
    """
    with open_log(file) as log:
        skimmed = skim(log, os.fstat(log.fileno()).st_size if size is None else size)
        check_sound(skimmed.flaw)
        if not skimmed.loaded.header.cwd:
            raise ContextError("source-without-folder")
        yield _source(file, log, skimmed, _leaf(skimmed, leaf))


def check_sound(flaw: Flaw | None) -> None:
    """Refuse a log in which something is not sound."""
    if flaw is None:
        return
    code = _CODES.get(flaw.kind, "source-damaged")
    where = "" if code in ("not-a-session", "unsupported-source-version") else f" It is line {flaw.line}."
    meaning = ContextError(code).message
    raise ContextError(code, meaning + where)


def path_to(skimmed: Skimmed, leaf: int) -> list[int]:
    """Walk from a leaf to its root; raises `entry-cycle`, `entry-broken` and `source-path-incomplete`."""
    steps, places = skimmed.loaded.steps, skimmed.places
    path: list[int] = []
    place = leaf
    for _ in steps:
        path.append(place)
        _, _, parent, kind, _, _ = steps[place]
        if kind == BROKEN:
            raise ContextError("entry-broken")
        if parent is None:
            return path[::-1]
        if parent not in places:
            raise ContextError("source-path-incomplete")
        place = places[parent]
    raise ContextError("entry-cycle")  # more steps than there are entries


def exchanges(source: Source) -> Exchanges:
    """Judge the tool exchanges of exactly what goes to a model."""
    return judge(_spoken(source))


def exchanges_of_branch(source: Source) -> Exchanges:
    """Judge the tool exchanges of the whole branch, as the log has it."""
    said = source.skimmed.said
    return judge([(place, said[place]) for place in source.path if place in said])


def is_whole_branch(source: Source) -> bool:
    """Tell whether all of the branch goes to a model as it is."""
    return len(source.view.steps) == len(source.path) and not source.view.edits


def last_whole_leaf(source: Source) -> str | None:
    """Give the id of the last entry of the branch at which no exchange is cut; None where none was found near."""
    path = source.path
    for _ in range(_MOST_TRIES):
        path = path[:-1]
        if not path:
            return None
        tried = _at(source, path)
        judged = exchanges(tried)
        if not judged.issues:
            return tried.leaf_id if _says_something(tried) else None
        path = _before_the_cut(tried, judged)
    return None


def _before_the_cut(tried: Source, judged: Exchanges) -> list[int]:
    """Shorten a branch to just behind where its exchanges were whole, or to before its last compaction."""
    compactions = [at for at, place in enumerate(tried.path) if tried.step(place).kind == "compaction"]
    first = compactions[-1] if compactions else -1
    at_place = {place: at for at, place in enumerate(tried.path)}
    first_issue = at_place[judged.issues[0].place]
    if first_issue > first:
        return tried.path[: first_issue + 1]
    return tried.path[: first + 1]


def _source(file: str, log: BinaryIO, skimmed: Skimmed, leaf: int) -> Source:
    reader = Reader(log, skimmed.loaded, fast_parser())
    path = path_to(skimmed, leaf)
    return _at(Source(file, reader, skimmed, path, View([], {})), path)


def _at(source: Source, path: list[int]) -> Source:
    source = source._replace(path=path)
    steps = source.steps
    _check_kept(source.reader, steps)
    return source._replace(view=view_of(source.reader, steps))


def _check_kept(reader: Reader, steps: list[Step]) -> None:
    """Refuse a compaction that keeps from an entry off its branch: Pi would lose what it meant to keep."""
    last = next((at for at in range(len(steps) - 1, -1, -1) if steps[at].kind == "compaction"), None)
    if last is None:
        return
    kept = reader.value(steps[last]).get("firstKeptEntryId")
    if kept is not None and not any(step.id == kept for step in steps[: last + 1]):
        raise ContextError("kept-entry-off-path")


def _leaf(skimmed: Skimmed, wanted: str | None) -> int:
    if skimmed.last is None:
        raise ContextError("source-empty")
    if wanted is None:
        return skimmed.last
    return skimmed.places[find_id(skimmed.places, wanted)]


def _says_something(source: Source) -> bool:
    return any(step.kind.startswith("message:") or step.kind in ("compaction", "custom_message", "branch_summary")
               for step in source.view.steps)  # fmt: skip


def _spoken(source: Source) -> Iterator[Spoken]:
    said, places, edits = source.skimmed.said, source.skimmed.places, source.view.edits
    for step in source.view.steps:
        place = places[step.id or ""]
        if step.key in edits:
            for message in messages_of(source.reader, source.view, step):
                edited = said_by(message)
                if edited is not None:
                    yield place, edited
        elif place in said:
            yield place, said[place]
