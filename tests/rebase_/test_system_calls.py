"""The command itself, with any one of its system calls gone wrong: nothing of ours stands between it and the kernel."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from faults import scratch
from pi_logs import talk
from shelled import Shell
from tracing import GROUPS, changing, need_strace, traced

pytestmark = pytest.mark.slow

REBASE = ("rebase", "--yes", "--json")
LEAST = {"create": 9, "write": 9, "fsync": 20, "link": 2, "rename": 6, "unlink": 4, "mkdir": 2, "times": 2}


@contextmanager
def machine() -> Iterator[Shell]:
    """Give a scratch machine with a session to rebase, which is held afterwards."""
    with scratch() as home, pytest.MonkeyPatch.context() as patch:
        shell = Shell(Path(home), patch)
        shell.owner_scripts()
        shell.add(*talk(6))
        yield shell
        shell.check_untouched()


@cache
def compile_once() -> None:
    """Run the command once, so that its modules are compiled when its calls are counted."""
    with machine() as shell:
        traced(shell, *REBASE, only="link")


def settle(shell: Shell) -> None:
    """Recover what is there, or rebase where nothing is, and again: there is one verified target and nothing else."""
    source = next(iter(shell.written))
    for row in shell("rebase", "--list", "--session", source, "--json", expect=0).json["operations"]:
        told = [shell("rebase", "--recover", row["operationId"], "--session", source, "--json", expect=0).json
                for _ in range(2)]  # fmt: skip
        assert told[0] == told[1]
        assert told[0]["status"] == "verified"
    shell("rebase", "--yes", "--session", source, "--json", expect=0)
    (row,) = shell("rebase", "--list", "--session", source, "--json", expect=0).json["operations"]
    target = Path(row["targetFile"]).name
    assert sorted(os.listdir(shell.sessions)) == sorted([".ds4-rebase", source.name, target])
    assert sorted(path.name for path in (shell.sessions / ".ds4-rebase").rglob("*")) == sorted(
        ["lock", "operations", f"{row['operationId']}.json"]
    )
    assert sorted(path.name for path in (shell.agent_dir / "pi-context").rglob("*")) == ["install.key", "keys", "lock"]


@pytest.mark.parametrize("how", ["kill", "fail"])
@pytest.mark.parametrize("kind", GROUPS)
def test_any_system_call_may_go_wrong(kind: str, how: str) -> None:
    """R1–R6: killed at each one that changes a file, or told that the disk is broken or full, in turn."""
    need_strace()
    compile_once()
    with machine() as shell:
        status, _, lines = traced(shell, *REBASE, only=kind)
        assert status == 0
        calls = changing(shell, lines, kind)
        settle(shell)
    assert len(calls) >= LEAST[kind]
    for call in calls:
        if how == "kill" and not call.did:
            continue  # it is the same as to be killed at the next one
        what = "signal=KILL" if how == "kill" else f"error={('EIO', 'ENOSPC')[call.number % 2]}"
        with machine() as shell:
            status, said, lines = traced(shell, *REBASE, only=kind, inject=f"{call.name}:{what}:when={call.number}")
            assert status in ((-9, 137) if how == "kill" else (0, 1)), (call, status, said)
            assert how == "kill" or any("INJECTED" in line and os.fspath(shell.home) in line for line in lines), call
            if status == 1:
                assert '"code":"io-error"' in said or '"code":"disk-full"' in said, (call, said)
            settle(shell)
