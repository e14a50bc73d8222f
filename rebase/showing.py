"""What a plan shows of a handoff: the cost of each message, and what each audience would see of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foundation.canonical import UNITS_PER_TOKEN
from foundation.settings import Values
from privacy.audiences import allowed_classes, audience_of
from privacy.classes import highest
from rebase.fitting import Choice, taken
from rebase.handoff import Measured


class Row(NamedTuple):
    """What one message of a handoff costs, its line included; `how` says how it gave way.

    `messages` is more than one for a line that stands for several; `estimated` where they were not measured.
    """

    session_id: str
    entry_id: str
    role: str
    classification: str
    tokens: int
    messages: int
    how: str
    estimated: bool


class Seen(NamedTuple):
    """What an audience would see of a handoff: messages with their tokens, and how many it would not see.

    `audience` is `local`, a provider, or empty for a remote one without a rule of its own.
    """

    audience: str
    messages: int
    tokens: int
    omitted: int


def breakdown(measured: Measured, choices: Sequence[Choice]) -> Iterator[Row]:
    """Give a row for each message, in the order of the handoff."""
    for choice in choices:
        piece, place = measured.pieces[choice.pieces[0]], measured.places[choice.pieces[0]]
        estimated = bool(place.steps) and not choice.how
        units = measured.unmeasured_bytes if estimated else taken([choice])
        yield Row(
            session_id=piece.session_id,
            entry_id=piece.entry_id,
            role=choice.role,
            classification=choice.classification,
            tokens=-(-units // UNITS_PER_TOKEN),
            messages=choice.messages,
            how=choice.how,
            estimated=estimated,
        )


def seen_by(rows: Sequence[Row], values: Values, providers: Iterable[str]) -> Iterator[Seen]:
    """Tell what the owner, a remote provider without a rule, every provider with one, and these others would see."""
    names = ["local", "", *values["privacy.remoteProviders"], *providers]
    for name in dict.fromkeys(names):
        allowed = allowed_classes(audience_of(name, values), values)
        shown = [row for row in rows if row.classification in allowed]
        yield Seen(
            audience=name,
            messages=sum(row.messages for row in shown),
            tokens=sum(row.tokens for row in shown),
            omitted=sum(row.messages for row in rows) - sum(row.messages for row in shown),
        )


def strictest(rows: Sequence[Row]) -> str:
    """Give the highest class among the messages."""
    return highest(*{row.classification for row in rows})
