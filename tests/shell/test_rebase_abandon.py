"""What was begun and has not taken effect is taken back where its owner says so, and leaves nothing."""

from pathlib import Path

import pytest
from pi_logs import talk
from rebase_acts import PHASES, Acts, go_on, status_of
from shelled import CTRL_C, Shell

TALK = talk(4)
OPEN = [phase for phase in PHASES if phase != "Activated"]
"""The phases in which an operation has not taken effect."""


@pytest.mark.parametrize("phase", OPEN)
def test_an_operation_is_taken_back_from_any_phase_before_its_effect(shell: Shell, rebase: Acts, phase: str) -> None:
    """Nothing of it is left but its record, which says so; to do it again changes nothing, and a new one can begin."""
    file = shell.add(*TALK)
    operation = rebase.unfinished(file, phase)
    answer = rebase.json("--abandon", operation, "--yes")
    assert (answer["status"], answer["operationId"], answer["targetFile"]) == ("abandoned", operation, None)
    assert rebase.names() == {file.name, ".ds4-rebase"}

    assert "taken back" in rebase("--abandon", operation, "--yes").out
    again = rebase.json("--recover", operation, expect=1)
    assert (again["status"], again["code"]) == ("unavailable", "operation-abandoned")
    assert rebase.json("--yes", "--session", file)["status"] == "verified"


def test_what_has_taken_effect_is_not_taken_back(shell: Shell, rebase: Acts) -> None:
    """Whoever goes on in the new session must not lose it; nor is that offered."""
    file = shell.add(*TALK)
    operation = rebase.unfinished(file, "Activated")
    names = rebase.names()
    assert "--abandon" not in rebase("--yes", "--session", file, expect=1).err
    assert rebase.json("--abandon", operation, "--yes", expect=1)["code"] == "operation-committed"
    done = rebase.json("--recover", operation)
    assert rebase.json("--abandon", operation, "--yes", expect=1)["code"] == "operation-committed"
    assert rebase.names() == names
    assert Path(done["targetFile"]).exists()


def test_a_target_that_somebody_goes_on_in_is_not_taken_back(shell: Shell, rebase: Acts) -> None:
    """Also where the operation did not get to know of it; it can be brought to its end."""
    operation = rebase.unfinished(shell.add(*TALK), "TargetCreated")
    target = Path(status_of(rebase, operation)["targetFile"])
    go_on(target)

    assert rebase.json("--abandon", operation, "--yes", expect=1)["code"] == "operation-committed"
    assert target.exists()
    assert rebase.json("--recover", operation)["status"] == "verified"


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 1), ("", 1), (CTRL_C, 130)])
def test_to_take_back_is_asked_for(shell: Shell, rebase: Acts, answer: str, status: int) -> None:
    """Only a yes does it, and while it is thought about nobody else is kept waiting."""
    operation = rebase.unfinished(shell.add(*TALK), "TargetCreated")
    before = rebase.seen()
    said = rebase("--abandon", operation, typed=answer, expect=status)

    assert said.err.startswith("Take this operation back? ")
    assert said.err.split("[y/N] ")[0].count("\n") == 0
    assert (rebase.seen() == before) == (status != 0)


def test_no_question_without_a_terminal(shell: Shell, rebase: Acts) -> None:
    """A script has to say yes."""
    operation = rebase.unfinished(shell.add(*TALK))
    shell.owner_scripts()
    rebase.refused("--abandon", operation, code="confirmation-required", terminal=False)
    rebase.refused("--abandon", operation, code="confirmation-required")
    assert rebase.json("--abandon", operation, "--yes", terminal=False)["status"] == "abandoned"


def test_a_linked_journal_is_refused(shell: Shell, rebase: Acts, tmp_path: Path) -> None:
    """It would lead to a folder that may not be ours, where nothing is written then."""
    file, elsewhere = shell.add(*TALK), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (shell.sessions / ".ds4-rebase").symlink_to(elsewhere)

    rebase.refused("--yes", "--session", file, code="in-the-way")
    assert list(elsewhere.iterdir()) == []


def test_recovery_passes_the_gates_and_taking_back_does_not(shell: Shell, rebase: Acts) -> None:
    """Where rebase is switched off nothing is finished; what was begun can still be taken back."""
    operation = rebase.unfinished(shell.add(*TALK))
    shell.settings({"sessionRebase": {"enabled": False}})

    rebase.refused("--recover", operation, code="rebase-disabled")
    assert rebase.json("--abandon", operation, "--yes")["status"] == "abandoned"
