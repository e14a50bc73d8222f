"""Other file systems and other names of the same place: no hard links, folders that moved, paths through links."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crashing import crash_everywhere
from deliveries import look
from faults import MOMENTS, When, scratch
from interfering import target_is_edited
from pi_logs import talk
from rebases import Rebase
from shelled import Shell
from standings import MOMENTS as TIMES
from standings import answered, crashed_at, nothing, word

from foundation.durable import RealFiles
from foundation.errors import ContextError

NO_LINKS = {"EPERM", "ENOSYS", "EOPNOTSUPP", "EMLINK", "EACCES"}
NO_SUCH_RENAME = {"ENOSYS", "EOPNOTSUPP", "EINVAL"}


def refusing(name: str) -> Callable[..., None]:
    """Give what a file system does that does not know a call."""
    number = getattr(errno, name)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


def run(story: Any) -> None:
    """Rebase."""
    story.run()


def run_and_abandon(story: Any) -> None:
    """Come as far as the target is installed, and take it back."""

    def refuse(*_: str) -> None:
        raise ContextError("io-error")

    story.activate = refuse
    story.run()
    story.abandon()


@pytest.mark.parametrize("name", sorted(NO_LINKS))
def test_without_hard_links_the_target_is_renamed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """R2: whichever way the system says that it knows no links, the other way of not overwriting is taken."""
    monkeypatch.setattr("os.link", refusing(name))
    with scratch() as root:
        rebase = Rebase(root)
        assert rebase.run().error is None
        assert rebase.check_settled() == "Verified"


@pytest.mark.parametrize("when", [pytest.param(when, marks=() if when == "after" else pytest.mark.slow)
                                  for when in MOMENTS])  # fmt: skip
def test_a_crash_without_hard_links_is_recovered_from(monkeypatch: pytest.MonkeyPatch, when: When) -> None:
    """R2–R4, R6: at every effect."""
    monkeypatch.setattr("os.link", refusing("EPERM"))
    assert crash_everywhere(Rebase, run, when) == "Verified"


@pytest.mark.slow
@pytest.mark.parametrize("when", MOMENTS)
def test_taking_back_without_hard_links(monkeypatch: pytest.MonkeyPatch, when: When) -> None:
    """R3, R4: a crash at every effect of an operation that is taken back."""
    monkeypatch.setattr("os.link", refusing("EPERM"))
    assert crash_everywhere(Rebase, run_and_abandon, when) == "closed"


@pytest.mark.parametrize("when", [pytest.param(when, marks=() if when == "after" else pytest.mark.slow)
                                  for when in MOMENTS])  # fmt: skip
def test_taking_back_without_such_a_rename(monkeypatch: pytest.MonkeyPatch, when: When) -> None:
    """R3, R4: where only hard links are known, a target that nobody went on in goes all the same."""
    monkeypatch.setattr(RealFiles, "rename_no_replace", refusing("EINVAL"))
    assert crash_everywhere(Rebase, run_and_abandon, when) == "closed"


def test_an_edited_target_stays_without_such_a_rename(monkeypatch: pytest.MonkeyPatch) -> None:
    """R2: what others changed is theirs, also where it cannot be looked at under another name first."""
    monkeypatch.setattr(RealFiles, "rename_no_replace", refusing("EINVAL"))
    with scratch() as root:
        rebase = crashed_at(root, "TargetCreated")
        target_is_edited(rebase)
        before = look(rebase.target)
        assert answered(rebase, "abandon") == ""
        assert look(rebase.target) == before


@pytest.mark.parametrize("name", sorted(NO_SUCH_RENAME))
def test_with_neither_nothing_is_begun(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """R2, R4: a named refusal before anything is recorded; not even the journal's folder is left."""
    monkeypatch.setattr("os.link", refusing("EPERM"))
    monkeypatch.setattr(RealFiles, "rename_no_replace", refusing(name))
    with scratch() as root:
        rebase = Rebase(root)
        assert answered(rebase, "run") == "install-unsupported"
        assert os.listdir(root) == [os.path.basename(rebase.source)]
        rebase.check_always()


def test_where_both_stop_working_it_is_told_and_can_be_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """R2, R3: found out only when the target is to be installed: it is not, and on a better day it is."""
    with scratch() as root, monkeypatch.context() as patch:
        rebase = Rebase(root)

        def forget(*now: str) -> None:
            if now == ("before", "CheckpointReady"):
                patch.setattr("os.link", refusing("EPERM"))
                patch.setattr(RealFiles, "rename_no_replace", refusing("ENOSYS"))

        rebase.meanwhile = forget
        assert answered(rebase, "run") == "install-unsupported"
        assert (word(rebase), rebase.targets()) == ("open", [])
        patch.undo()
        rebase.meanwhile = nothing
        assert rebase.recover().error is None
        assert rebase.check_settled() == "Verified"


@pytest.mark.parametrize("moment", TIMES)
def test_a_session_folder_that_moved_is_recovered(moment: str) -> None:
    """R3, R6: whenever the process died, the whole folder may have another name when it is recovered."""
    with scratch() as root:
        os.mkdir(os.path.join(root, "there"))
        crashed_at(os.path.join(root, "there"), moment)
        os.rename(os.path.join(root, "there"), os.path.join(root, "elsewhere"))
        moved = Rebase(os.path.join(root, "elsewhere"))
        assert moved.recover().error is None
        assert moved.check_settled() == "Verified"


@pytest.mark.parametrize("through", ["folder", "file"])
def test_a_path_through_a_link_is_the_same_session(shell: Shell, tmp_path: Path, through: str) -> None:
    """R2, R6: one journal, one lock and one source, under its canonical path; the second rebase finds the first."""
    shell.owner_scripts()
    source = shell.add(*talk(4))
    alias = tmp_path / ("alias" if through == "folder" else "alias.jsonl")
    alias.symlink_to(shell.sessions if through == "folder" else source)
    named = alias / source.name if through == "folder" else alias

    made = shell("rebase", "--yes", "--session", named, "--json", expect=0).json
    target = Path(made["targetFile"])
    assert target.parent == shell.sessions
    assert json.loads(target.read_bytes().splitlines()[0])["parentSession"] == os.fspath(source)
    for path in (named, source):
        again = shell("rebase", "--yes", "--session", path, "--json", expect=0).json
        assert (again["status"], again["operationId"]) == ("already-rebased", made["operationId"])
        recovered = shell("rebase", "--recover", made["operationId"], "--session", path, "--json", expect=0).json
        assert recovered["status"] == "verified"
    assert len(list(shell.sessions.glob("*.jsonl"))) == 2
    assert [path.name for path in tmp_path.rglob(".ds4-rebase")] == [".ds4-rebase"]
