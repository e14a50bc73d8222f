"""The command under strace: which system calls change files of ours, and the same run with one of them gone wrong."""

import os
import shutil
import subprocess
import sys
from functools import cache
from typing import NamedTuple

import pytest
from children import PATHS
from shelled import Shell

GROUPS = {
    "create": ("?open", "openat"),
    "write": ("write", "?pwrite64"),
    "fsync": ("fsync", "fdatasync"),
    "link": ("?link", "linkat"),
    "rename": ("?rename", "?renameat", "renameat2"),
    "unlink": ("?unlink", "unlinkat"),
    "mkdir": ("?mkdir", "mkdirat"),
    "times": ("utimensat",),
}
"""What changes files, each with the calls that do it on one machine or another."""

_SECONDS = 60


class Call(NamedTuple):
    """A system call by its name, how many of that name there were with it, and whether it did anything."""

    name: str
    number: int
    did: bool


@cache
def need_strace() -> None:
    """Skip the test where there is no strace, or it may not look at processes."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed")
    if subprocess.run(
        [found, "-f", "--seccomp-bpf", "-o", os.devnull, "-e", "trace=write", "true"], check=False
    ).returncode:
        pytest.skip("strace may not trace processes here")


def traced(shell: Shell, *words: object, only: str, inject: str = "") -> tuple[int, str, list[str]]:
    """Run the command, one system call gone wrong; give its exit status, what it printed, and the calls of that kind.

    Compiled modules are kept apart from all others, so that the same calls come in the same order each time.
    """
    log = shell.home / "trace"
    calls = ",".join(GROUPS[only])
    quick = [] if "signal" in inject else ["--seccomp-bpf"]  # much faster, and no signal comes through then
    command = ["strace", "-f", *quick, "-y", "-s", "0", "-o", os.fspath(log), "-e", f"trace={calls}"]
    if inject:
        command += ["-e", f"inject={inject}"]
    done = subprocess.run(
        [*command, sys.executable, "-m", "pi_context", *map(str, words)],
        env={"PYTHONPATH": PATHS, "PATH": os.environ["PATH"], "HOME": os.fspath(shell.home),
             "PYTHONPYCACHEPREFIX": os.fspath(_compiled())},
        cwd=shell.project, capture_output=True, text=True, timeout=_SECONDS, check=False,
    )  # fmt: skip
    lines = log.read_text("utf-8", "replace").splitlines()
    log.unlink()
    return done.returncode, done.stdout, [line for line in lines if "(" in line]


def changing(shell: Shell, lines: list[str], only: str) -> list[Call]:
    """Give those of the calls traced that are meant to change something below the home."""
    seen: dict[str, int] = {}
    found = []
    for line in lines:
        name = line.split("(")[0].split()[-1]
        seen[name] = seen.get(name, 0) + 1
        if os.fspath(shell.home) in line and (only != "create" or "O_CREAT" in line):
            found.append(Call(name, seen[name], " = -1 " not in line))
    return found


@cache
def _compiled() -> str:
    import atexit
    import tempfile

    folder = tempfile.mkdtemp(prefix="pi-context-test-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
