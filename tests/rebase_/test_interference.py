"""What others do to source, target, journal and lock between any two phases of a rebase: one table of how that ends.

Each row is what was done, each column when; `pi -c` opens the newest session. Whatever happens, nothing of ours touches
the source as the other left it (R1), there is never a second target (R6), and what was closed or finished leaves nothing
temporary (R4).
"""

import os

import pytest
from faults import Crash, CrashingFiles, scratch
from interfering import (
    End,
    Interfere,
    Shutting,
    bytes_of,
    composer_changes,
    journal_is_deleted,
    journal_is_edited,
    journal_is_read_only,
    journal_is_signed_by_another,
    journal_is_torn,
    key_is_another,
    lock_is_deleted,
    newest,
    rules_change,
    setting_changes,
    source_grows,
    source_is_deleted,
    source_is_edited,
    source_is_renamed,
    source_is_renamed_and_replaced,
    source_is_replaced,
    source_is_truncated,
    staged_bytes_change,
    staged_bytes_go,
    stray,
    target_is_continued,
    target_is_deleted,
    target_is_edited,
    targets,
    word,
)
from rebases import OPERATION, Rebase

from foundation.durable import RealFiles
from foundation.errors import ContextError
from journal.operations import Outcome

PHASES = ("Prepared", "ArchiveVerified", "CheckpointReady", "TargetCreated", "Activated")

MOMENTS = {
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


CHANGED = (*[closed("archive-changed")] * 4, stopped("archive-changed", "target"))
LIVE: dict[Interfere, tuple[End | None, ...]] = {
    # before the step after:   Prepared, ArchiveVerified, CheckpointReady, TargetCreated, Activated
    source_grows: (*[closed("source-grew")] * 3, stopped("source-grew"), seen("", "source")),
    source_is_edited: CHANGED,
    source_is_truncated: CHANGED,
    source_is_replaced: CHANGED,
    source_is_deleted: (
        *[stopped("source-unavailable", "nothing")] * 3,
        *[stopped("source-unavailable", "target alone")] * 2,
    ),
    source_is_renamed: (VERIFIED,) * 5,
    source_is_renamed_and_replaced: (VERIFIED,) * 5,
    target_is_continued: (None, None, None, VERIFIED, VERIFIED),
    target_is_edited: (None, None, None, stopped("target-integrity"), stopped("target-integrity", "target")),
    target_is_deleted: (None, None, None, closed("target-missing"), closed("target-missing")),
    staged_bytes_change: (None, None, VERIFIED, None, None),
    staged_bytes_go: (None, None, VERIFIED, None, None),
    **dict.fromkeys(
        (journal_is_torn, journal_is_edited, journal_is_signed_by_another),
        tuple(End("journal-changed", "set-aside", newest) for newest in ("source",) * 3 + ("target",) * 2),
    ),
    journal_is_deleted: tuple(
        End("journal-changed", "nothing", newest) for newest in ("source",) * 3 + ("target",) * 2
    ),
    journal_is_read_only: tuple(stopped("permission-denied", newest) for newest in ("source",) * 3 + ("target",) * 2),
    lock_is_deleted: (VERIFIED,) * 5,
    setting_changes: (VERIFIED,) * 5,
}

CHANGED_LATER = (*[closed("archive-changed")] * 7, stopped("archive-changed", "target"), seen("archive-changed"))
COMPOSED_ELSE = (*[closed("inputs-changed")] * 3, *[VERIFIED] * 6)


def set_aside(code: str, word: str = "set-aside") -> tuple[End, ...]:
    """Give the ends of an operation whose record does not count: all is left as it was when the process died."""
    return tuple(End(code, word, newest) for newest in ("source",) * 6 + ("target",) * 3)


AFTER_A_CRASH: dict[Interfere, tuple[End | None, ...]] = {
    # when it crashed: Prepared, ArchiveVerified, staged, CheckpointReady, installed, TargetCreated, activated, Activated,
    # and not at all: Verified
    source_grows: (*[closed("source-moved-before-checkpoint")] * 4, *[VERIFIED] * 3, *[seen("", "source")] * 2),
    source_is_edited: CHANGED_LATER,
    source_is_truncated: CHANGED_LATER,
    source_is_replaced: CHANGED_LATER,
    source_is_deleted: (
        *[stopped("source-unavailable", "nothing")] * 4,
        *[stopped("source-unavailable", "target alone")] * 4,
        seen("source-unavailable", "target alone"),
    ),
    source_is_renamed: (VERIFIED,) * 9,
    source_is_renamed_and_replaced: (VERIFIED,) * 9,
    target_is_continued: (None,) * 4 + (VERIFIED,) * 5,
    target_is_edited: (
        *[None] * 4,
        *[stopped("target-integrity")] * 2,
        *[stopped("target-integrity", "target")] * 2,
        seen("target-integrity"),
    ),
    target_is_deleted: (
        *[None] * 4,
        VERIFIED,
        *[closed("target-missing")] * 3,
        seen("target-missing", "source"),
    ),
    staged_bytes_change: (None, None, VERIFIED, VERIFIED, None, None, None, None, None),
    staged_bytes_go: (None, None, VERIFIED, VERIFIED, None, None, None, None, None),
    journal_is_torn: set_aside("journal-damaged"),
    journal_is_edited: set_aside("journal-edited"),
    journal_is_signed_by_another: set_aside("journal-foreign"),
    journal_is_deleted: set_aside("operation-unknown", "nothing"),
    journal_is_read_only: (
        *[stopped("permission-denied")] * 5,
        *[stopped("permission-denied", "target")] * 3,
        VERIFIED,
    ),
    key_is_another: set_aside("journal-foreign"),
    lock_is_deleted: (VERIFIED,) * 9,
    setting_changes: COMPOSED_ELSE,
    composer_changes: COMPOSED_ELSE,
    rules_change: COMPOSED_ELSE,
}


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


@pytest.mark.parametrize(("interfere", "phase", "end"), cases(LIVE, PHASES))
def test_while_it_runs(interfere: Interfere, phase: str, end: End) -> None:
    """R1–R6: between two phases of the same run; recovering what is left is repeatable."""
    with scratch() as root:
        rebase = Rebase(root, Shutting())
        left = []

        def meanwhile(moment: str, entered: str) -> None:
            if (moment, entered) == ("before", phase):
                interfere(rebase)
                left.append(bytes_of(rebase.source))

        rebase.meanwhile = meanwhile
        code = answered(rebase, "run")
        check(rebase, code, end)
        rebase.meanwhile, rebase.disk = nothing, RealFiles()
        answered(rebase, "recover")
        before = as_it_is(rebase)
        answered(rebase, "recover")
        assert as_it_is(rebase) == before
        assert left == [bytes_of(rebase.source)]
        assert len(targets(rebase)) <= 1


@pytest.mark.parametrize(("interfere", "moment", "end"), cases(AFTER_A_CRASH, tuple(MOMENTS)))
def test_after_a_crash(interfere: Interfere, moment: str, end: End) -> None:
    """R1–R6, R10: recovery ends as the table says, recovering again says the same and changes nothing."""
    with scratch() as root:
        rebase = crashed_at(root, moment)
        interfere(rebase)
        left = bytes_of(rebase.source)
        code = answered(rebase, "recover")
        check(rebase, code, end)
        before = as_it_is(rebase)
        again = answered(rebase, "recover")
        assert as_it_is(rebase) == before
        check(rebase, again, end)
        assert bytes_of(rebase.source) == left


OPEN = [
    pytest.param(interfere, moment, id=f"{interfere.__name__}-{moment}")
    for interfere, ends in AFTER_A_CRASH.items()
    for moment, end in zip(MOMENTS, ends, strict=True)
    if end is not None and end.word == "open" and interfere is not journal_is_read_only
]


@pytest.mark.parametrize(("interfere", "moment"), OPEN)
def test_there_is_a_way_out(interfere: Interfere, moment: str) -> None:
    """R3, R4: what cannot be recovered can be taken back before it took effect, and stands in nobody's way after that.

    A target that others edited is theirs: it is left where it is.
    """
    with scratch() as root:
        rebase = crashed_at(root, moment)
        interfere(rebase)
        left = bytes_of(rebase.source)
        code = answered(rebase, "abandon")
        assert stray(rebase) == []
        assert bytes_of(rebase.source) == left
        if moment != "Activated":
            assert (code, word(rebase)) == ("", "closed")
            assert len(targets(rebase)) == (interfere is target_is_edited)
        else:
            assert (code, word(rebase)) == ("operation-committed", "open")
            if interfere is target_is_edited:
                target_is_deleted(rebase)
                assert answered(rebase, "recover") == "target-missing"
            assert not os.path.exists(rebase.source) or rebase.earlier() is None


def crashed_at(root: str, moment: str) -> Rebase:
    """Give a rebase whose process died at a moment."""
    disk = CrashingFiles()

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
