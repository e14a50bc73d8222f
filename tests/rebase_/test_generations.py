"""Three generations, and a crash in the third: recovery ends as ever, and no earlier generation is touched."""

import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from crashing import crash_everywhere
from deliveries import KEYS, Look, look
from dry_runs import rebased
from faults import MOMENTS, Crash, CrashingFiles, When
from pi_logs import talk
from rebases import Rebase
from rebasing import say
from shelled import Shell

from foundation.durable import Files
from journal.keys import Keys
from rebase.lineage import head_link
from rebase.steps import COURSE

EARLIER = ("rebase_1", "rebase_2")


@cache
def _two_generations(folder: str) -> tuple[str, ...]:
    """Make a session that was rebased twice, with something said in between; give the names of its files, oldest first."""
    rebase = Rebase(folder)
    chain = [rebase.source]
    for operation in EARLIER:
        outcome = rebase.run(operation)
        chain.append(rebase.path(str(outcome.record.facts["targetFile"])))
        rebase.source = chain[-1]
        say(rebase.source, 50 + len(chain), f"added after rebase {len(chain) - 1}")
        os.utime(rebase.source, ns=(rebase.before.modified_ns + len(chain),) * 2)
    return tuple(map(os.path.basename, chain))


class Third(Rebase):
    """The third rebase in a folder in which there were two; source is the target of the second one."""

    template = ""

    def __init__(self, root: str, disk: Files | None = None, *, keys: Keys | None = KEYS) -> None:
        names = _two_generations(self.template)
        if not os.listdir(root):
            shutil.copytree(self.template, root, dirs_exist_ok=True)
        super().__init__(root, disk, keys=keys)
        self.older = [*names[:-1], *(f".ds4-rebase/operations/{name}.json" for name in EARLIER)]
        self.source = self.path(names[-1])
        self.before = look(self.source)
        self.sealed = {name: look(self.path(name)) for name in self.older}
        self.now += 1000

    def targets(self) -> list[str]:
        """Give the sessions that are not of an earlier generation."""
        return [path for path in super().targets() if os.path.basename(path) not in self.older]

    def tree(self) -> dict[str, Look]:
        """Look at the files of this generation; the lock stays, for there are operations."""
        hidden = {*self.older, *([] if self.record() else [".ds4-rebase/lock"])}
        return {name: seen for name, seen in super().tree().items() if name not in hidden}

    def check_always(self) -> None:
        """Hold that the earlier generations are as they were, too."""
        super().check_always()
        assert {name: look(self.path(name)) for name in self.older} == self.sealed


@pytest.fixture(autouse=True)
def template(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make two generations once, to be copied."""
    monkeypatch.setattr(Third, "template", os.fspath(tmp_path_factory.getbasetemp() / "two-generations"))
    os.makedirs(Third.template, exist_ok=True)


def run(story: Any) -> None:
    """Rebase."""
    story.run()


@pytest.mark.parametrize("when", [pytest.param(when, marks=() if when == "before" else pytest.mark.slow)
                                  for when in MOMENTS])  # fmt: skip
def test_a_crash_in_the_third_is_recovered_from(when: When) -> None:
    """R1–R6: at every effect; sources, targets and records of the earlier two keep bytes, inodes and times."""
    assert crash_everywhere(Third, run, when) == "Verified"


def test_the_third_target_knows_all_sources(tmp_path: Path) -> None:
    """R10: its checkpoint names three sources, the nearest first, by what they are."""
    third = Third(os.fspath(tmp_path))
    third.run()
    own = head_link(third.target, third.verify)
    assert own is not None
    assert [origin.file for origin in own.origins] == list(reversed(_two_generations(Third.template)))
    assert third.check_settled() == "Verified"


# --- through the command ------------------------------------------------------------------------------------------


class Killed(CrashingFiles):
    """Crashes after or before the record of a phase is made durable."""

    def __init__(self, phase: int, when: When) -> None:
        super().__init__(0, when)
        self.phase, self.written = phase, 0

    def perform(self, effect: Any) -> None:
        """Let the process die at the record."""
        if effect.name == "replace" and effect.other.endswith(".json") and not self.dead:
            self.written += 1
            if self.written == self.phase + 1:
                self.number = self.count + 1
        super().perform(effect)


@pytest.mark.parametrize("end", [pytest.param("source", marks=pytest.mark.slow), "newest"])
@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.slow), "after"])
@pytest.mark.parametrize("phase", range(len(COURSE.stages)), ids=COURSE.stages)
def test_recovery_from_both_ends(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, phase: int, when: When, end: str
) -> None:
    """R3, R6: with the source as current session or with the newest one, `--recover` does the same, and only once."""
    shell.owner_scripts()
    first = shell.add(*talk(4))
    second = rebased(shell, first)
    say(os.fspath(second), 50, "added after the first")
    third = rebased(shell, second)
    say(os.fspath(third), 51, "added after the second")
    earlier = {path: look(os.fspath(path)) for path in (first, second, third)}

    with monkeypatch.context() as patch:
        patch.setattr("pi_context.surroundings.RealFiles", lambda: Killed(phase, when))
        with pytest.raises(Crash):
            shell("rebase", "--yes", "--session", third, "--json", expect=0)
    unfinished = [row for row in _listed(shell, third) if row["status"] != "verified"]
    given = ("--session", third) if end == "source" else ()
    if not unfinished:  # it died before its intent was recorded, or after all was done
        assert (phase, when) in ((0, "before"), (5, "after"))
        shell("rebase", "--yes", *given, "--session", third, "--json", expect=0)
    else:
        (row,) = unfinished
        told = [shell("rebase", "--recover", row["operationId"], *given, "--json", expect=0).json for _ in range(2)]
        assert told[0] == told[1]
        assert told[0]["status"] == "verified"
    assert {path: look(os.fspath(path)) for path in earlier} == earlier
    assert len(list(shell.sessions.glob("*.jsonl"))) == 4
    assert [path.name for path in shell.sessions.glob(".*")] == [".ds4-rebase"]
    assert {row["status"] for row in _listed(shell, third)} == {"verified"}


def _listed(shell: Shell, session: Path) -> Any:
    return shell("rebase", "--list", "--session", session, "--json", expect=0).json["operations"]
