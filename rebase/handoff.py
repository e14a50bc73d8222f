"""From the context of a session to the messages of its handoff: measured first, written when it is known what fits.

Reads from the newest message back, and stops measuring where no budget could reach any further: what lies before goes
into the handoff as one line, whatever its size. Texts are read again when they are written, so memory follows the
budget.
"""

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from foundation.canonical import UNITS_PER_TOKEN, utf16_units
from foundation.marks import CHECKPOINT_TYPE, LINK_TYPE
from rebase.checkpoint import Block, Elided
from rebase.exchanges import Issue
from rebase.fitting import FOLDED, LEAST_TURN, TURN, WHOLE, Choice, Piece, folded_text
from rebase.lineage import Own
from rebase.pieces import Gate, Measure, clean, measure, write
from rebase.rendering import Drawn, Left, add, draw, draw_again, left_out_kind
from rebase.source import Source
from sessions.context import messages_of
from sessions.javascript import settled
from sessions.loading import Step

MOST_TOKENS = 24_000
"""No handoff may be larger, whatever the settings say."""

MEASURED_UNITS = UNITS_PER_TOKEN * 400_000
"""A context of so many is measured to its last message, and so are many times what any handoff can hold."""

_SPEAKS = ("custom_message", "compaction", "branch_summary")


class Place(NamedTuple):
    """Where a piece comes from: a message of an entry by its number, a block of an earlier handoff, or many entries."""

    step: Step | None
    number: int = 0
    block: Block | None = None
    steps: tuple[Step, ...] = ()


class Measured(NamedTuple):
    """A context as sizes, in order; `places` run along with `pieces`.

    `left` counts what is left out of what was measured, `interrupted` the calls without a result, `redactions` the
    secrets. `unmeasured` is how many entries at the front were not looked at, `unmeasured_bytes` their size.
    """

    pieces: list[Piece]
    places: list[Place]
    left: Left
    interrupted: int
    redactions: int
    unmeasured: int
    unmeasured_bytes: int


class Writer:
    """Measures and writes the messages of one source, for a handoff of at most `room` UTF-16 units."""

    def __init__(
        self, source: Source, own: Own | None, interrupted: frozenset[Issue], gate: Gate, *, room: int
    ) -> None:
        self.source, self.own, self.interrupted, self.gate = source, own, interrupted, gate
        self.room = room

    def measure(self) -> Measured:
        """Measure the context, from its newest message back."""
        found: list[tuple[Piece, Place]] = []
        left: Left = {}
        stopped = redactions = units = 0
        rest: list[Step] = []
        steps = self.source.view.steps
        least = turn = 0  # what all turns take at least, unless they are folded, and what the one being read takes
        for at in range(len(steps) - 1, -1, -1):
            if units > MEASURED_UNITS and least > self.room:
                rest = [step for step in steps[: at + 1] if _speaks(step)]
                break
            for place, drawn in reversed(list(self._messages(steps[at], left))):
                add(left, drawn.left)
                sizes = measure(drawn, self._entry(place), self.gate)
                if sizes is not None:
                    found.append((self._piece(sizes, place), place))
                    redactions += sizes.redactions
                    units += sizes.whole
                    turn += sizes.whole
                    if sizes.role == "user":
                        least += min(turn, LEAST_TURN + len(sizes.gist))
                        turn = 0
            stopped += len(self._stopped(steps[at]))
        if rest:
            found.append(_rest(rest, self._session))
        found.reverse()
        return Measured(
            pieces=[piece for piece, _ in found],
            places=[place for _, place in found],
            left=left,
            interrupted=stopped,
            redactions=redactions,
            unmeasured=len(rest),
            unmeasured_bytes=sum(step.length for step in rest),
        )

    def blocks(self, measured: Measured, choices: Sequence[Choice]) -> list[Block]:
        """Write the messages as they were chosen."""
        return [self._block(measured, choice) for choice in choices]

    def elided(self, measured: Measured, choices: Sequence[Choice]) -> Iterator[Elided]:
        """List every piece that gave way."""
        for choice in choices:
            for at in choice.pieces:
                place = measured.places[at]
                if choice.how == WHOLE and not place.steps:
                    continue
                how = choice.how or FOLDED
                if place.block is not None:
                    block = place.block
                    yield Elided(block.sessionId, block.entryId, how, block.bytes, block.sha256)
                    continue
                for step in place.steps or ((place.step,) if place.step else ()):
                    yield Elided(self._session, step.id or "", how, *self._line(step))

    @property
    def _session(self) -> str:
        return self.source.header.id

    def _stopped(self, step: Step) -> list[Issue]:
        said = self.source.skimmed.said.get(place := self.source.place(step))
        return [issue for number in range(len(said.calls) if said else 0)
                if (issue := Issue(place, number)) in self.interrupted]  # fmt: skip

    def _messages(self, step: Step, left: Left) -> Iterator[tuple[Place, Drawn]]:
        """Give the messages of an entry; those that are left out as a whole are counted."""
        if step.kind == "custom":
            if self.source.skimmed.custom_types.get(self.source.place(step)) not in (CHECKPOINT_TYPE, LINK_TYPE):
                add(left, {"private": [1, step.length]})
        elif self._is_handoff(step):
            for block in self.own.blocks if self.own else ():
                yield Place(step, 0, block), _carried(block)
        elif _speaks(step):
            for number, message in enumerate(messages_of(self.source.reader, self.source.view, step)):
                drawn = self._drawn(step, message)
                if drawn is None:
                    add(left, {left_out_kind(message): [1, step.length]})
                else:
                    yield Place(step, number), drawn

    def _is_handoff(self, step: Step) -> bool:
        return self.own is not None and step.id == self.own.handoff_id and step.key not in self.source.view.edits

    def _drawn(self, step: Step, message: Any) -> Drawn | None:
        place = self.source.place(step)
        return draw(settled(message), interrupted=lambda number: Issue(place, number) in self.interrupted)

    def _entry(self, place: Place) -> str:
        return place.block.entryId if place.block else (place.step.id or "" if place.step else "")

    def _piece(self, sizes: Measure, place: Place) -> Piece:
        block = place.block
        return Piece(
            entry_id=self._entry(place),
            session_id=block.sessionId if block else self._session,
            role=sizes.role,
            classification=sizes.classification,
            whole=sizes.whole,
            short=sizes.short,
            how=sizes.how,
            gist=sizes.gist,
            messages=block.messages if block else 1,
            last_id=block.lastEntryId if block else self._entry(place),
        )

    def _block(self, measured: Measured, choice: Choice) -> Block:
        place, piece = measured.places[choice.pieces[0]], measured.pieces[choice.pieces[0]]
        last = measured.pieces[choice.pieces[-1]]
        carried = place.block
        if choice.how in (TURN, FOLDED) or place.steps:
            line = choice.text or folded_text(piece.messages, piece.entry_id, piece.last_id)
            text, _ = clean(line, self.gate.visibility)
            how = choice.how or FOLDED
        else:
            text = write(self._drawn_at(place), piece.entry_id, self.gate, short=bool(choice.how))
            how = choice.how or (carried.how if carried else WHOLE)
        if len(choice.pieces) > 1 or place.steps:
            data = text.encode("utf-8", "surrogatepass")
            size, digest = len(data), sha256(data).hexdigest()
        elif carried is not None:
            size, digest = carried.bytes, carried.sha256
        else:
            size, digest = self._line(place.step) if place.step else (0, "")
        return Block.model_construct(
            role=choice.role,
            classification=choice.classification,
            sessionId=piece.session_id,
            entryId=piece.entry_id,
            lastEntryId=last.last_id,
            messages=choice.messages,
            how=how,
            bytes=size,
            sha256=digest,
            text=str(text),
        )

    def _drawn_at(self, place: Place) -> Drawn:
        """Read a piece again."""
        if place.block is not None:
            return _carried(place.block)
        assert place.step is not None
        drawn = self._drawn(place.step, messages_of(self.source.reader, self.source.view, place.step)[place.number])
        assert drawn is not None
        return drawn

    def _line(self, step: Step) -> tuple[int, str]:
        raw = os.pread(self.source.reader.log.fileno(), step.length, step.offset)
        return step.length, sha256(raw).hexdigest()


def _carried(block: Block) -> Drawn:
    return draw_again(block.role, block.classification, block.text, cut_already=bool(block.how))


def _speaks(step: Step) -> bool:
    return step.kind.startswith("message:") or step.kind in _SPEAKS


def _rest(steps: Sequence[Step], session: str) -> tuple[Piece, Place]:
    """Make one piece of everything that no handoff could hold."""
    first, last = steps[0].id or "", steps[-1].id or ""
    units = utf16_units(folded_text(len(steps), first, last))
    piece = Piece(first, session, FOLDED, "normal", units, units, "", "", len(steps), last)
    return piece, Place(None, steps=tuple(steps))
