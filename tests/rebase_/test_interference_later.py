"""What others do to source, target, journal and lock after a crash of a rebase: a table of how recovery ends.

Each row is what was done, each column when the first process died. Whatever happens, nothing of ours touches the source
as the other left it (R1), there is never a second target (R6), and what was closed or finished leaves nothing temporary
(R4).
"""

import os

import pytest
from deliveries import look
from faults import scratch
from interfering import (
    Interfere,
    composer_changes,
    journal_is_deleted,
    journal_is_edited,
    journal_is_read_only,
    journal_is_signed_by_another,
    journal_is_torn,
    key_is_another,
    lock_is_deleted,
    rules_change,
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
from rebases import OPERATION
from standings import (
    MOMENTS,
    VERIFIED,
    End,
    answered,
    as_it_is,
    bytes_of,
    cases,
    check,
    closed,
    crashed_at,
    seen,
    stopped,
    stray,
    word,
)

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
    source_is_copied_and_edited: CHANGED_LATER,
    source_is_truncated: CHANGED_LATER,
    source_is_replaced: CHANGED_LATER,
    **dict.fromkeys(
        (source_is_deleted, source_is_deleted_beside_another),
        (
            *[stopped("source-unavailable", "nothing")] * 4,
            *[stopped("source-unavailable", "target alone")] * 4,
            seen("source-unavailable", "target alone"),
        ),
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


@pytest.mark.parametrize(("interfere", "moment", "end"), cases(AFTER_A_CRASH, tuple(MOMENTS)))
def test_after_a_crash(interfere: Interfere, moment: str, end: End) -> None:
    """R1–R6, R10: recovery ends as the table says, recovering again says the same and changes nothing."""
    with scratch() as root:
        rebase = crashed_at(root, moment)
        interfere(rebase)
        left = bytes_of(rebase.source)
        theirs = [(path, look(path), rebase.phase()) for path in targets(rebase)
                  if interfere in (target_is_continued, target_is_edited)]  # fmt: skip
        code = answered(rebase, "recover")
        check(rebase, code, end)
        for path, seen, phase in theirs:
            assert look(path) == seen
            assert interfere is target_is_continued or rebase.phase() == phase
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


@pytest.mark.parametrize("moment", ["installed", "TargetCreated", "activated"])
def test_a_target_that_may_go_is_no_source(moment: str) -> None:
    """R1: what may still be taken back cannot be rebased, so no target loses its source; once it is verified it can be."""
    with scratch() as root:
        rebase = crashed_at(root, moment)
        (target,) = targets(rebase)
        rebase.source = target
        before = rebase.earlier()
        assert before is not None
        assert (before.record.operation_id, before.status) == (OPERATION, "recoverable")
        target_is_continued(rebase)
        assert rebase.earlier() is None  # it is not taken back any more
        assert answered(rebase, "abandon") == "operation-committed"


def test_a_target_that_took_effect_is_a_source() -> None:
    """From `Activated` on nothing takes it back, so it can be rebased before it was verified, too."""
    with scratch() as root:
        rebase = crashed_at(root, "Activated")
        (rebase.source,) = targets(rebase)
        assert rebase.earlier() is None
        assert rebase.run("rebase_2").record.phase == "Verified"
        assert answered(rebase, "abandon") == "operation-committed"
        assert answered(rebase, "recover") == ""


@pytest.mark.parametrize("interfere", [source_is_edited, source_grows, target_is_deleted])
def test_what_was_verified_stands_as_long_as_nothing_changes(interfere: Interfere) -> None:
    """R6: there is no second target of an unchanged source, unless one is asked for or the first one is gone."""
    with scratch() as root:
        rebase = crashed_at(root, "Verified")
        before = rebase.earlier()
        assert before is not None
        assert before.status == "already-rebased"
        assert rebase.earlier(again=True) is None
        interfere(rebase)
        assert rebase.earlier() is None
