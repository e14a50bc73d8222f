"""Real processes that rebase by the command: killed at each stage, interrupted, two at once."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from children import go_on
from pi_logs import talk
from rebasing_children import STAGES, begun
from shelled import Shell

from journal.writing import locked

SOME = {("CheckpointReady", "before"), ("TargetCreated", "before"), ("Activated", "after")}
EVERY_STAGE = [
    pytest.param(stage, moment, id=f"{moment}-{stage}", marks=() if (stage, moment) in SOME else pytest.mark.slow)
    for stage in STAGES
    for moment in ("before", "after")
]


@pytest.fixture
def source(shell: Shell) -> Path:
    """Give a session to rebase, where the owner's scripts may do that."""
    shell.owner_scripts()
    return shell.add(*talk(6))


def operations(shell: Shell, source: Path) -> Any:
    """List the operations."""
    return shell("rebase", "--list", "--session", source, "--json", expect=0).json["operations"]


def check_done(shell: Shell, source: Path) -> None:
    """Hold that there is one target, verified, and nothing temporary; the source is held by the fixture."""
    (row,) = operations(shell, source)
    assert row["status"] == "verified"
    assert sorted(path.name for path in shell.sessions.iterdir()) == sorted(
        [".ds4-rebase", source.name, Path(row["targetFile"]).name]
    )
    assert sorted(path.name for path in (shell.sessions / ".ds4-rebase").rglob("*")) == sorted(
        ["lock", "operations", f"{row['operationId']}.json"]
    )


@pytest.mark.parametrize(("stage", "moment"), EVERY_STAGE)
def test_a_killed_process_lets_go_and_is_recovered_from(shell: Shell, source: Path, stage: str, moment: str) -> None:
    """R1–R6: while it lives all others are told who it is and since when; its death at any stage is recovered from."""
    process = begun(shell, "rebase", "--yes", "--json", stage=stage, moment=moment)
    known = [("--recover", row["operationId"]) for row in operations(shell, source)]
    for words in [("--yes",), *known]:
        busy = shell("rebase", *words, "--session", source, "--json", expect=1).json
        assert busy["code"] == "rebase-busy"
        assert f"process {process.pid}, since 20" in busy["message"]
    process.send_signal(signal.SIGKILL)
    process.communicate()

    told = None
    for row in operations(shell, source):
        again = [shell("rebase", "--yes", "--session", source, "--json", expect=int(row["status"] != "verified")).json]
        assert again[0]["status"] == ("already-rebased" if row["status"] == "verified" else "recoverable")
        told = [shell("rebase", "--recover", row["operationId"], "--session", source, "--json", expect=0).json
                for _ in range(2)]  # fmt: skip
        assert told[0] == told[1]
    if told is None:
        assert (stage, moment) == ("Prepared", "before")
        shell("rebase", "--yes", "--session", source, "--json", expect=0)
    check_done(shell, source)


@pytest.mark.parametrize(("stage", "moment"), EVERY_STAGE)
def test_ctrl_c_is_told_and_noted(shell: Shell, source: Path, stage: str, moment: str) -> None:
    """R3: the process ends with 130 and says that it was interrupted; the operation says so too and can be recovered."""
    process = begun(shell, "rebase", "--yes", "--json", stage=stage, moment=moment)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert json.loads(err)["error"]["code"] == "interrupted"

    rows = operations(shell, source)
    if (stage, moment) == ("Prepared", "before"):
        assert rows == []
        shell("rebase", "--yes", "--session", source, "--json", expect=0)
    else:
        (row,) = rows
        if (stage, moment) != ("Verified", "after"):
            assert row["status"] == "recoverable"
        shell("rebase", "--recover", row["operationId"], "--session", source, "--json", expect=0)
    check_done(shell, source)


@pytest.mark.parametrize("number", [1, *(pytest.param(number, marks=pytest.mark.slow) for number in range(2, 6))])
def test_two_at_once_make_one_target(shell: Shell, source: Path, number: int) -> None:
    """R6: one of them rebases; the other waits and finds it done, or is told who is at it."""
    both = [begun(shell, "rebase", "--yes", "--session", source, "--json") for _ in range(2)]
    for process in both:
        go_on(process)
    said = [json.loads(process.communicate(timeout=60)[0]) for process in both]
    ends = sorted(one.get("code") or one["status"] for one in said)
    assert ends in (["already-rebased", "verified"], ["rebase-busy", "verified"]), (number, said)
    check_done(shell, source)


def test_who_waited_for_the_first_ever_sees_it(shell: Shell, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R6: where there was no key yet when it began to wait, it knows what the first one signed all the same."""

    def late(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr("pi_context.operations.locked", locked)
        shell("rebase", "--yes", "--session", source, "--json", expect=0)
        return locked(*given, **named)

    monkeypatch.setattr("pi_context.operations.locked", late)
    second = shell("rebase", "--yes", "--session", source, "--json", expect=0).json
    assert second["status"] == "already-rebased"
    check_done(shell, source)


def test_one_that_waits_through_a_death_goes_on(shell: Shell, source: Path) -> None:
    """R3, R6: the second one comes while the first holds the lock; when that dies it gets on, and names what is left."""
    first = begun(shell, "rebase", "--yes", "--json", stage="TargetCreated", moment="before")
    second = begun(shell, "rebase", "--yes", "--json")
    go_on(second)
    first.kill()
    first.communicate()
    told = json.loads(second.communicate(timeout=60)[0])
    assert (told.get("code"), told["status"]) in (
        ("operation-unfinished", "recoverable"),
        ("rebase-busy", "unavailable"),
    )
    (row,) = operations(shell, source)
    shell("rebase", "--recover", row["operationId"], "--session", source, "--json", expect=0)
    check_done(shell, source)
