"""Taking back at the edges: somebody goes on in the target meanwhile, or what was staged cannot be had again."""

from deliveries import look
from faults import Crash, CrashingFiles, Effect, WatchedFiles, scratch
from interfering import source_is_renamed, staged_bytes_go, target_is_continued, targets
from standings import answered, crashed_at, stray, word

from foundation.durable import RealFiles


def test_who_goes_on_in_the_target_at_the_last_moment_keeps_it() -> None:
    """R2: after it was looked at and before it goes, somebody says something in it: it gets its name back."""
    with scratch() as root:
        rebase = crashed_at(root, "TargetCreated")
        (target,) = targets(rebase)
        seen = []

        class Late(WatchedFiles):
            def perform(self, effect: Effect) -> None:
                if effect.name == "rename_no_replace" and effect.path == target:
                    target_is_continued(rebase)
                    seen.append(look(target))
                effect.act()

        rebase.disk = Late()
        assert answered(rebase, "abandon") == ""
        assert seen == [look(target)]
        assert (word(rebase), stray(rebase)) == ("closed", [])


def test_what_is_being_taken_back_is_closed_though_somebody_went_on_in_it() -> None:
    """R3: once it was recorded that an operation ends undone it does, and what was said in its target stays."""
    with scratch() as root:
        rebase = crashed_at(root, "TargetCreated")
        number = 0
        while word(rebase) != "closing":
            number += 1
            rebase.disk = CrashingFiles(number, "after")
            try:
                rebase.abandon()
            except Crash:
                continue
        rebase.disk = RealFiles()
        (target,) = targets(rebase)
        target_is_continued(rebase)
        now = look(target)
        assert answered(rebase, "abandon") == ""
        assert (word(rebase), stray(rebase), look(target)) == ("closed", [], now)


def test_only_the_very_same_bytes_are_staged_again() -> None:
    """R10: what was recorded cannot be composed from a source with another name, so nothing else is installed."""
    with scratch() as root:
        rebase = crashed_at(root, "CheckpointReady")
        staged_bytes_go(rebase)
        source_is_renamed(rebase)
        assert answered(rebase, "recover") == "inputs-changed"
        assert (word(rebase), stray(rebase), targets(rebase)) == ("closed", [], [])
