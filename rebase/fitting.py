"""The ladder by which a handoff that is too large gives way, oldest first, and never in silence.

Rungs: tool results to head and tail; tool arguments likewise; the oldest turns to one line each; the oldest lines into
one. The newest turn is left alone; where that is not enough, its results and arguments give way as well, never a word
of what was said in it. Summaries of earlier compactions stand for the most and give way last. Works on sizes alone.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from foundation.canonical import utf16_units
from privacy.classes import highest
from rebase.framing import units_for
from rebase.rendering import ARGUMENTS, RESULT

WHOLE, TURN, FOLDED = "", "turn", "folded"
"""How a piece goes into the handoff, besides `RESULT` and `ARGUMENTS`, which are the kinds of parts that give way."""

LEAST_TURN = units_for("turn", "normal", len("user: [1 message, see entry x]"))
"""A line that stands for a turn takes no less room than this, and the gist of what the user said."""


class Piece(NamedTuple):
    """A message as the ladder sees it.

    `whole` and `short` are its UTF-16 units as it is and with its parts of kind `how` cut; `messages` and `last_id`
    tell more than one only where the piece itself stands for several already.
    """

    entry_id: str
    session_id: str
    role: str
    classification: str
    whole: int
    short: int
    how: str
    gist: str
    messages: int
    last_id: str


class Choice(NamedTuple):
    """How pieces, named by their positions, go into the handoff: one as it is or cut, or several as one line.

    `text` is that line, `messages` how many messages it stands for.
    """

    how: str
    pieces: tuple[int, ...]
    role: str
    classification: str
    units: int
    messages: int
    text: str = ""


Preamble = Callable[[Sequence[Choice]], int]
"""Gives the UTF-16 units that a handoff takes without its messages."""


def untouched(pieces: Sequence[Piece]) -> list[Choice]:
    """Take every piece whole."""
    return [_whole(at, piece) for at, piece in enumerate(pieces)]


def taken(choices: Sequence[Choice]) -> int:
    """Give the UTF-16 units that messages take with the lines before them."""
    return sum(map(_taken, choices))


def fit(pieces: Sequence[Piece], room: int, preamble: Preamble) -> list[Choice] | None:
    """Give way until everything takes no more than `room` UTF-16 units; None where it cannot."""
    return _Ladder(pieces, room, preamble).climb()


def folded_text(messages: int, first: str, last: str) -> str:
    """Write the line that stands for messages of which nothing is quoted."""
    return f"{_count(messages)} left out here, see {_span(first, last)}"


class _Group(NamedTuple):
    """The positions of a turn's pieces, and what stands for them now: nothing once it is folded into another."""

    first: int
    last: int
    choices: list[Choice]


class _Ladder:
    """The turns on their way down."""

    def __init__(self, pieces: Sequence[Piece], room: int, preamble: Preamble) -> None:
        self.pieces, self.room, self.preamble = pieces, room, preamble
        whole = untouched(pieces)
        self.groups = [_Group(first, last, whole[first : last + 1]) for first, last in _turns(pieces)]
        self.taken = taken(whole)

    def climb(self) -> list[Choice] | None:
        newest, older = self.groups[-1:], self.groups[:-1]
        turns = [group for group in older if self.pieces[group.first].role != "summary"]
        for groups, rungs in (
            (turns, (self._cut_results, self._cut_arguments, self._to_lines, self._fold)),
            (newest, (self._cut_results, self._cut_arguments)),
            (older, (self._to_lines, self._fold)),
        ):
            for rung in rungs:
                if self._fits() or rung(groups):
                    return self._chosen()
        return None

    def _chosen(self) -> list[Choice]:
        return [choice for group in self.groups for choice in group.choices]

    def _fits(self) -> bool:
        return self.taken <= self.room and self.taken + self.preamble(self._chosen()) <= self.room

    def _cut_results(self, groups: Sequence[_Group]) -> bool:
        return self._cut(groups, RESULT)

    def _cut_arguments(self, groups: Sequence[_Group]) -> bool:
        return self._cut(groups, ARGUMENTS)

    def _cut(self, groups: Sequence[_Group], kind: str) -> bool:
        for group in groups:
            for at, choice in enumerate(group.choices):
                piece = self.pieces[choice.pieces[0]]
                if choice.how == WHOLE and piece.how == kind:
                    group.choices[at] = choice._replace(how=kind, units=piece.short)
                    self.taken += _taken(group.choices[at]) - _taken(choice)
                    if self._fits():
                        return True
        return False

    def _to_lines(self, groups: Sequence[_Group]) -> bool:
        for group in groups:
            line = self._line(group)
            if line is not None and _taken(line) < taken(group.choices):
                self._put(group, [line])
                if self._fits():
                    return True
        return False

    def _fold(self, groups: Sequence[_Group]) -> bool:
        """Fold as few of the oldest turns as will do, counting first and building the line only where it may fit."""
        turns = [group for group in groups if group.choices]
        left, messages = self.taken, 0
        for count, group in enumerate(turns, 1):
            left -= taken(group.choices)
            messages += sum(choice.messages for choice in group.choices)
            if count > 1 and (left <= self.room or count == len(turns)):
                before = [list(each.choices) for each in turns[:count]]
                folded = self._folded(turns[:count], messages)
                for each in turns[: count - 1]:
                    self._put(each, [])
                self._put(group, [folded])
                if self._fits():
                    return True
                if count < len(turns):
                    for each, choices in zip(turns, before, strict=False):
                        self._put(each, choices)
        return False

    def _put(self, group: _Group, choices: list[Choice]) -> None:
        self.taken += taken(choices) - taken(group.choices)
        group.choices[:] = choices

    def _line(self, group: _Group) -> Choice | None:
        pieces = self.pieces[group.first : group.last + 1]
        if (
            not group.choices
            or group.choices[0].how in (TURN, FOLDED)
            or (len(pieces) == 1 and pieces[0].role in (TURN, FOLDED))
        ):
            return None
        quoted = [pieces[0], *[piece for piece in pieces[1:] if piece.role == "assistant" and piece.gist][-1:]]
        said = " -> ".join(f"{piece.role}: {piece.gist}" for piece in quoted)
        messages = sum(piece.messages for piece in pieces)
        text = f"{said} [{_count(messages)}, see {_span(pieces[0].entry_id, pieces[-1].last_id)}]"
        cls = highest(*(piece.classification for piece in quoted))
        places = tuple(range(group.first, group.last + 1))
        return Choice(TURN, places, TURN, cls, utf16_units(text), messages, text)

    def _folded(self, groups: Sequence[_Group], messages: int) -> Choice:
        places = tuple(place for group in groups for choice in group.choices for place in choice.pieces)
        text = folded_text(messages, self.pieces[places[0]].entry_id, self.pieces[places[-1]].last_id)
        return Choice(FOLDED, places, FOLDED, highest(), utf16_units(text), messages, text)


def _turns(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Split into turns, each from one message of the user to the next; summaries and earlier lines stand alone."""
    alone = ("summary", TURN, FOLDED)
    newest = max((at for at, piece in enumerate(pieces) if piece.role == "user"), default=len(pieces))
    starts = []
    for at, piece in enumerate(pieces[: newest + 1]):
        before = pieces[at - 1].role if at else alone[0]
        if piece.role == "user" or piece.role in alone or before in alone:
            starts.append(at)
    ends = [*(start - 1 for start in starts[1:]), len(pieces) - 1]
    return list(zip(starts, ends, strict=True)) if pieces else []


def _count(messages: int) -> str:
    return f"{messages} message{'' if messages == 1 else 's'}"


def _span(first: str, last: str) -> str:
    return f"entry {first}" if first == last else f"entries {first} to {last}"


def _taken(choice: Choice) -> int:
    return units_for(choice.role, choice.classification, choice.units)


def _whole(at: int, piece: Piece) -> Choice:
    return Choice(WHOLE, (at,), piece.role, piece.classification, piece.whole, piece.messages)
