"""How a rebase stands after others interfered, and rebases whose process died at a moment."""

import os
from typing import NamedTuple

import pytest
from deliveries import Look, look
from faults import Crash, CrashingFiles
from interfering import Interfere, Shutting, targets
from rebases import OPERATION, Rebase

from foundation.durable import Files
from foundation.errors import ContextError
from journal.lifecycle import Record, standing
from journal.operations import Outcome
from journal.reading import SetAside

MOMENTS: dict[str, tuple[str, str] | None] = {
    "Prepared": ("before", "Prepared"),
    "ArchiveVerified": ("before", "ArchiveVerified"),
    "staged": ("after", "ArchiveVerified"),
    "CheckpointReady": ("before", "CheckpointReady"),
    "installed": ("after", "CheckpointReady"),
    "TargetCreated": ("before", "TargetCreated"),
    "activated": ("after", "TargetCreated"),
    "Activated": ("before", "Activated"),
    "Verified": None,
}
"""When the first process dies: between two phases, or when an effect was there that was not recorded yet."""


class End(NamedTuple):
    """How a rebase stands: the code that was told, the journal's word, and the session that `pi -c` would open.

    `word` is `finished`, `open`, `closing`, `closed`, `set-aside` or `nothing`; `newest` is `source` or `target`, or
    `target alone` and `nothing` where there is no source.
    """

    code: str
    word: str
    newest: str


def newest(rebase: Rebase) -> str:
    """Tell which session was written last."""
    made = targets(rebase)
    if not os.path.exists(rebase.source):
        return "target alone" if made else "nothing"
    if made and os.stat(made[0]).st_mtime_ns > os.stat(rebase.source).st_mtime_ns:
        return "target"
    return "source"


def stray(rebase: Rebase) -> list[str]:
    """Give the names of files that are there for a while only, whoever made them."""
    return sorted(name for name in rebase.tree() if name.endswith((".tmp", ".new")))


def word(rebase: Rebase) -> str:
    """Say how the operation stands in the journal."""
    match rebase.record():
        case None:
            return "nothing"
        case SetAside():
            return "set-aside"
        case Record() as record:
            return standing(rebase.course, record)


VERIFIED = End("", "finished", "target")


def closed(code: str) -> End:
    """Give the end at which nothing of the operation is visible."""
    return End(code, "closed", "source")


def stopped(code: str, newest: str = "source") -> End:
    """Give the end from which recovery can go on."""
    return End(code, "open", newest)


def seen(code: str, newest: str = "target") -> End:
    """Give the end of what had been verified and is not as it was any more."""
    return End(code, "finished", newest)


def cases(table: dict[Interfere, tuple[End | None, ...]], columns: tuple[str, ...]) -> list[object]:
    """Give the fields of a table that say something, each with a name."""
    return [
        pytest.param(interfere, column, end, id=f"{interfere.__name__}-{column}")
        for interfere, ends in table.items()
        for column, end in zip(columns, ends, strict=True)
        if end is not None
    ]


def answered(rebase: Rebase, act: str) -> str:
    """Let a process do something; give the code that it told, empty where all went well."""
    try:
        outcome: Outcome = getattr(rebase, act)()
    except ContextError as error:
        return error.code
    return outcome.error.code if outcome.error else ""


def as_it_is(rebase: Rebase) -> dict[str, object]:
    """Look at everything but the lock; where the operation is open, each attempt is noted, and may be had again."""
    found = rebase.without_lock()
    if word(rebase) != "open":
        return dict(found)
    return {path: seen.data for path, seen in found.items() if not path.endswith(f"/{OPERATION}.json")}


def check(rebase: Rebase, code: str, expected: End) -> None:
    """Hold what the table says, and what holds always."""
    assert End(code, word(rebase), newest(rebase)) == expected
    assert len(targets(rebase)) <= 1
    if expected.word in ("closed", "finished"):
        assert stray(rebase) == []
    assert set(stray(rebase)) <= {f".{OPERATION}.tmp"}


def crashed_at(root: str, moment: str, machine: Files | None = None) -> Rebase:
    """Give a rebase whose process died at a moment, on a machine that may lose power afterwards."""
    disk = CrashingFiles(inner=machine)

    def die(*now: str) -> None:
        if now == MOMENTS[moment]:
            disk.dead = True
            raise Crash

    rebase = Rebase(root, disk)
    rebase.meanwhile = die
    if MOMENTS[moment] is None:
        rebase.run()
    else:
        with pytest.raises(Crash):
            rebase.run()
    rebase.meanwhile, rebase.disk = nothing, Shutting()
    return rebase


def nothing(_moment: str, _phase: str) -> None:
    """Do nothing."""


def bytes_of(path: str) -> Look | None:
    """Look at a file; None where it is not there."""
    return look(path) if os.path.exists(path) else None
