"""A context on its way to a handoff: measured, chosen from, written out, or too large with the ways that would do."""

from collections.abc import Sequence
from typing import NamedTuple

from foundation.canonical import UNITS_PER_TOKEN, tokens
from foundation.errors import ContextError
from rebase import fitting, framing
from rebase.checkpoint import Block
from rebase.fitting import Choice
from rebase.handoff import MOST_TOKENS, Writer
from rebase.pieces import clean
from rebase.preamble import About, preamble

_MOST_ROUNDS = 8


class Chosen(NamedTuple):
    """How the context goes into the handoff; without `blocks` and `handoff` it was too large to be written.

    `tokens` are those of the handoff, or those that it would have, an estimate where not all was measured.
    """

    choices: list[Choice]
    blocks: list[Block]
    handoff: str
    tokens: int


class Way(NamedTuple):
    """A way to a handoff that fits: `compact`, `budget` or `fit`, with the tokens it takes and the budget it needs.

    The tokens are zero where nobody can know them before, as after a compaction.
    """

    kind: str
    tokens: int
    budget: int


class Draft:
    """A measured context, and the budget in tokens that its handoff has."""

    def __init__(self, writer: Writer, *, name: str, budget: int) -> None:
        source = writer.source
        self.writer, self.budget = writer, budget
        self.measured = writer.measure()
        session, leaf = (clean(said, writer.gate.visibility)[0] for said in (source.header.id, source.leaf_id))
        self.about = About(session, leaf, name)  # anybody can give a session or an entry a secret for an id
        if not self.measured.pieces:
            raise ContextError("source-empty")

    def choose(self, *, fitted: bool) -> Chosen:
        """Take everything whole where that fits, else give way, if that is wanted and helps."""
        whole = fitting.untouched(self.measured.pieces)
        if self._units(whole) <= self.budget * UNITS_PER_TOKEN:
            return self._written(whole)
        found = self._fitted(self.budget) if fitted else None
        return found or Chosen(whole, [], "", self._tokens(whole))

    def ways(self, needed: int, *, fitted: bool) -> tuple[Way, ...]:
        """Give the ways to a handoff that fits where one of `needed` tokens does not; `fitted` was tried already."""
        ways = [Way("compact", 0, self.budget)]
        if needed <= MOST_TOKENS:
            ways.append(Way("budget", needed, needed))
        for budget in sorted({self.budget, MOST_TOKENS}):
            found = None if fitted and budget == self.budget else self._fitted(budget)
            if found is not None:
                return (*ways, Way("fit", found.tokens, budget))
        return tuple(ways)

    def _fitted(self, budget: int) -> Chosen | None:
        """Climb down the ladder; what redaction made longer than it was planned is taken from the room."""
        room = budget * UNITS_PER_TOKEN
        for _ in range(_MOST_ROUNDS):
            choices = fitting.fit(self.measured.pieces, room, self._preamble_units)
            if choices is None:
                return None
            found = self._written(choices)
            if found.tokens <= budget:
                return found
            room -= (found.tokens - budget) * UNITS_PER_TOKEN
        return None

    def _written(self, choices: list[Choice]) -> Chosen:
        blocks = self.writer.blocks(self.measured, choices)
        quoted = [framing.Quoted(block.role, block.classification, block.text) for block in blocks]
        handoff = framing.compose(self._preamble(choices), quoted)
        return Chosen(choices, blocks, handoff, tokens(handoff))

    def _preamble(self, choices: Sequence[Choice]) -> str:
        return preamble(self.about, self.measured.left, self.measured.interrupted, choices)

    def _preamble_units(self, choices: Sequence[Choice]) -> int:
        return framing.units_of(self._preamble(choices))

    def _units(self, choices: Sequence[Choice]) -> int:
        return self._preamble_units(choices) + fitting.taken(choices)

    def _tokens(self, choices: Sequence[Choice]) -> int:
        return -(-(self._units(choices) + self.measured.unmeasured_bytes) // UNITS_PER_TOKEN)
