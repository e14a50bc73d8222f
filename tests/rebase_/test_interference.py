"""What others do to source, target, journal and lock while a rebase runs: a table of how that ends.

Each row is what was done, each column between which two phases. Whatever happens, nothing of ours touches the source as
the other left it (R1), there is never a second target (R6), and what was closed or finished leaves nothing temporary (R4).
"""

import pytest
from faults import scratch
from interfering import (
    Interfere,
    Shutting,
    journal_is_deleted,
    journal_is_edited,
    journal_is_read_only,
    journal_is_signed_by_another,
    journal_is_torn,
    lock_is_deleted,
    setting_changes,
    source_grows,
    source_is_copied_and_edited,
    source_is_deleted,
    source_is_deleted_beside_another,
    source_is_edited,
    source_is_renamed,
    source_is_renamed_and_replaced,
    source_is_replaced,
    source_is_truncated,
    staged_bytes_change,
    staged_bytes_go,
    target_is_continued,
    target_is_deleted,
    target_is_edited,
    targets,
)
from rebases import Rebase
from standings import VERIFIED, End, answered, as_it_is, bytes_of, cases, check, closed, nothing, seen, stopped

from foundation.durable import RealFiles

PHASES = ("Prepared", "ArchiveVerified", "CheckpointReady", "TargetCreated", "Activated")

CHANGED = (*[closed("archive-changed")] * 4, stopped("archive-changed", "target"))
LIVE: dict[Interfere, tuple[End | None, ...]] = {
    # before the step after:   Prepared, ArchiveVerified, CheckpointReady, TargetCreated, Activated
    source_grows: (*[closed("source-grew")] * 3, stopped("source-grew"), seen("", "source")),
    source_is_edited: CHANGED,
    source_is_copied_and_edited: CHANGED,
    source_is_truncated: CHANGED,
    source_is_replaced: CHANGED,
    **dict.fromkeys(
        (source_is_deleted, source_is_deleted_beside_another),
        (
            *[stopped("source-unavailable", "nothing")] * 3,
            *[stopped("source-unavailable", "target alone")] * 2,
        ),
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
        if end.word in ("open", "closed"):
            assert rebase.course.stages[rebase.phase()] == phase
        rebase.meanwhile, rebase.disk = nothing, RealFiles()
        answered(rebase, "recover")
        before = as_it_is(rebase)
        answered(rebase, "recover")
        assert as_it_is(rebase) == before
        assert left == [bytes_of(rebase.source)]
        assert len(targets(rebase)) <= 1
