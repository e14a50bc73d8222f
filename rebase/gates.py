"""Whether a session may be rebased: the gates of the contract that are not in the file, and those on its content.

The door says how things stand; nothing is asked here. A refusal happens before anything is made, so nothing is left
behind. The gates on the file itself are in `source`, the one on the lineage in `lineage`, the budget's in `plan`.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

from foundation.errors import ContextError
from foundation.settings import Values
from journal.lifecycle import LONGEST_FACT
from memory.pins import Replayed
from privacy.secrets import find
from rebase.exchanges import Exchanges
from rebase.source import Source, exchanges, exchanges_of_branch, is_whole_branch, last_whole_leaf

RECENT_MILLIS = 10_000
"""A source that changed within this time may still be in use."""

RECENTLY_CHANGED = "source-recently-changed"


class Standing(NamedTuple):
    """How things stand, as the door found them.

    `owner` tells whether this is an owner act or needs none, as a dry run; `idle` whether Pi is at rest, True where no
    Pi can be asked; `modified` and `now` in milliseconds, `modified` None where the door need not warn.
    """

    values: Values
    trusted: bool
    owner: bool
    file: str | None
    idle: bool
    modified: int | None
    now: int


class Diagnostics(NamedTuple):
    """How many exchanges are cut in what would be transferred, and how many more on the branch; never which."""

    active: int
    historical: int


class CutExchangeError(ContextError):
    """An active exchange is cut; `leaf` is the last entry at which none is, `entries` are for the owner alone."""

    def __init__(self, leaf: str | None, diagnostics: Diagnostics, entries: Sequence[str]) -> None:
        hint = f"Let Pi finish the call, or rebase up to the last whole exchange with `--leaf {leaf}`." if leaf else ""
        super().__init__("tool-exchange-open", hint=hint)
        self.leaf, self.diagnostics, self.entries = leaf, diagnostics, tuple(entries)


def check_standing(standing: Standing) -> list[str]:
    """Pass the gates before the lock, in their order, and give warnings; raises ContextError."""
    values = standing.values
    for holds, code in (
        (values["sessionRebase.enabled"], "rebase-disabled"),
        (values["historyTools.enabled"], "history-disabled"),
        (standing.trusted, "project-not-trusted"),
        (standing.owner, "owner-act-required"),
        (standing.file is not None, "session-unsaved"),
        (standing.idle, "session-busy"),
    ):
        if not holds:
            raise ContextError(code)
    recent = standing.modified is not None and standing.now - standing.modified < RECENT_MILLIS
    return [RECENTLY_CHANGED] if recent else []


def check_names(source: Source) -> None:
    """Refuse names that a journal would have to repeat and must not; raises ContextError `source-names-secret`."""
    if any(find(name) for name in (os.path.basename(source.file), source.header.id, source.leaf_id)):
        raise ContextError("source-names-secret")


def check_recordable(texts: Sequence[str]) -> None:
    """Refuse, before anything is written, a source whose names no record could hold. Raises ContextError."""
    for text in texts:
        try:
            length = len(text.encode())
        except UnicodeEncodeError:
            length = 0
        if not 0 < length <= LONGEST_FACT:
            raise ContextError("source-unnameable")


def check_exchanges(source: Source) -> tuple[Exchanges, Diagnostics]:
    """Refuse where what is transferred cuts a tool exchange in two; raises `CutExchangeError`."""
    active = exchanges(source)
    everywhere = active if is_whole_branch(source) else exchanges_of_branch(source)
    diagnostics = Diagnostics(len(active.issues), len(set(everywhere.issues) - set(active.issues)))
    if active.issues:
        entries = [source.step(issue.place).id or "" for issue in active.issues]
        raise CutExchangeError(last_whole_leaf(source), diagnostics, list(dict.fromkeys(entries)))
    return active, diagnostics


def check_memory(state: Replayed, values: Values) -> None:
    """Refuse to carry on a session without its pins and memories where memory is switched off."""
    if state.items and not values["memory.enabled"]:
        raise ContextError("memory-state-required")
