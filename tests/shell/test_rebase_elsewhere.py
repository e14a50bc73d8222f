"""What other commands tell of rebases: status of unfinished ones, the list of sessions, the doctor."""

from pathlib import Path
from typing import Any

import pytest
from pi_logs import header, log, talk
from rebase_acts import PHASES, Acts, key_of, record_of
from shelled import Shell

from pi_context import api

TALK = talk(4)


def status(shell: Shell, *words: object, terminal: bool = True) -> Any:
    """Ask for the status, as JSON."""
    return shell("history", "status", "--json", *words, expect=0, terminal=terminal).json


def checks(shell: Shell, name: str, expect: int = 0) -> list[tuple[str, str, str]]:
    """Ask the doctor; give state, message and hint of each check of that name."""
    found = shell("doctor", "--json", expect=expect, terminal=True).json["checks"]
    return [(each["state"], each["message"], each["hint"]) for each in found if each["name"] == name]


# --- history status --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", PHASES)
def test_status_tells_of_an_unfinished_rebase(shell: Shell, rebase: Acts, phase: str) -> None:
    """From its first phase until it is verified; the owner hears which, others only that there is one."""
    file = shell.add(*TALK)
    assert status(shell)["pendingRebase"] is False
    operation = rebase.unfinished(file, phase)
    assert (status(shell)["pendingRebase"], status(shell)["pendingRebases"]) == (True, [operation])
    piped = status(shell, terminal=False)
    assert piped["pendingRebase"] is True
    assert operation not in str(piped)
    assert "rebase --list" in shell("history", "status", expect=0, terminal=True).out
    assert api.open(agent_dir=shell.agent_dir, session=file).status()["pendingRebase"] is True

    rebase("--recover", operation)
    assert status(shell)["pendingRebase"] is False


def test_what_was_ended_is_not_pending(shell: Shell, rebase: Acts) -> None:
    """Taken back or set aside, nothing waits for its end."""
    file = shell.add(*TALK)
    rebase("--abandon", rebase.unfinished(file), "--yes")
    assert status(shell)["pendingRebase"] is False
    operation = rebase.unfinished(file)
    record_of(shell, operation).write_bytes(b"{")
    assert status(shell)["pendingRebase"] is False
    key_of(shell).write_bytes(b"short")
    assert status(shell)["pendingRebase"] is False


def test_status_is_of_this_project(shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another project's operation in the same folder is not this one's, and an agent hears nothing of it."""
    other = shell.home / "other"
    other.mkdir()
    foreign = shell.add(*TALK, name="f.jsonl", identity="ffff", cwd=str(other))
    rebase.unfinished(foreign)
    shell.add(*TALK)

    assert status(shell, "--session", "s1")["pendingRebase"] is False
    assert status(shell, "--session", foreign)["pendingRebase"] is True
    monkeypatch.setenv("CLAUDECODE", "1")
    assert status(shell)["pendingRebase"] is False


def test_asking_writes_nothing(shell: Shell, rebase: Acts) -> None:
    """No lock is taken for it, and no key made."""
    rebase.unfinished(shell.add(*TALK))
    shell.search("turn")
    with rebase.nothing_left():
        status(shell)


# --- session list ----------------------------------------------------------------------------------------------------


def listed(shell: Shell, *, terminal: bool = True) -> dict[str, Any]:
    """List the sessions, by their ids."""
    found = shell("session", "list", "--json", expect=0, terminal=terminal).json["sessions"]
    return {each["sessionId"]: each for each in found}


def test_the_list_tells_what_was_rebased(shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways, to the owner; a fork, which has a parent too, was not rebased."""
    file = shell.add(*TALK)
    first = rebase.json("--yes", "--session", file)
    second = rebase.json("--yes", "--again", "--session", first["targetFile"])
    fork = header(str(shell.project), "fork") | {"parentSession": str(file)}
    shell.write("fork.jsonl", log(fork, *TALK))
    shell("index", "update", expect=0)
    found = listed(shell)

    assert found["s1"]["rebasedTo"] == [first["targetSessionId"]]
    assert found[first["targetSessionId"]]["rebasedFrom"] == "s1"
    assert found[first["targetSessionId"]]["rebasedTo"] == [second["targetSessionId"]]
    assert found["fork"]["from"] == "s1"
    assert "rebasedFrom" not in found["fork"]
    monkeypatch.setenv("COLUMNS", "300")
    shown = shell("session", "list", expect=0, terminal=True).out
    assert "(rebased from s1)" in shown
    assert f"(rebased to {first['targetSessionId']})  (continued in fork)" in shown
    assert not any("rebasedFrom" in each for each in listed(shell, terminal=False).values())


def test_a_link_that_does_not_hold_is_no_rebase(shell: Shell, rebase: Acts) -> None:
    """Where its seal is not ours a session is listed by its parent alone."""
    made = rebase.json("--yes", "--session", shell.add(*TALK))
    shell("index", "update", expect=0)
    key_of(shell).unlink()

    found = listed(shell)[made["targetSessionId"]]
    assert found["from"] == "s1"
    assert "rebasedFrom" not in found


# --- doctor ----------------------------------------------------------------------------------------------------------


def test_the_doctor_finds_unfinished_rebases(shell: Shell, rebase: Acts) -> None:
    """In any session folder, with the command that lists them."""
    assert checks(shell, "rebase") == []
    away = shell.sessions.parent / "--away--" / "it's.jsonl"
    away.parent.mkdir()
    away.write_bytes(log(header(str(shell.home), "away"), *TALK))
    rebase.unfinished(away)
    [(state, message, hint)] = checks(shell, "rebase")

    assert (state, message) == ("warn", f"1 not finished in {away.parent}")
    assert shell("rebase", "--list", "--session", away, "--json", expect=0, terminal=True).json["operations"]
    assert "it'\"'\"'s.jsonl" in hint


def test_the_doctor_looks_at_the_key(shell: Shell, rebase: Acts) -> None:
    """Open to others is a warning with the remedy; what is no key is a failure."""
    assert checks(shell, "key") == []
    rebase.json("--yes", "--session", shell.add(*TALK))
    assert [state for state, _, _ in checks(shell, "key")] == ["ok"]
    key_of(shell).chmod(0o644)
    [(state, _, hint)] = checks(shell, "key")
    assert (state, hint) == ("warn", f"chmod 600 {key_of(shell)}")
    key_of(shell).chmod(0o600)
    key_of(shell).write_bytes(b"short")
    assert [state for state, _, _ in checks(shell, "key", expect=1)] == ["fail"]


def test_the_doctor_tells_an_agent_of_its_own_folder(
    shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other folders' operations are not its business."""
    away = Path(shell.sessions.parent / "--away--" / "a.jsonl")
    away.parent.mkdir()
    away.write_bytes(log(header(str(shell.home), "away"), *TALK))
    rebase.unfinished(away)
    shell.add(*TALK)
    monkeypatch.setenv("CLAUDECODE", "1")

    assert checks(shell, "rebase") == []
