"""Real processes beside the test: they import the same product and the same helpers."""

import os
import subprocess
import sys

import foundation

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(foundation.__file__)))
PATHS = os.pathsep.join((ROOT, os.path.dirname(os.path.abspath(__file__))))


Child = subprocess.Popen[str]

_CAN_BE_INTERRUPTED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""Tests that run in the background of a shell hand down that they ignore Ctrl-C."""


def child(code: str, *arguments: str) -> Child:
    """Start Python on some code; its `sys.argv[1:]` are the arguments."""
    return subprocess.Popen(
        [sys.executable, "-c", _CAN_BE_INTERRUPTED + code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": PATHS, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )


def hear(process: Child) -> str:
    """Wait for the next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def started(code: str, *arguments: str) -> Child:
    """Start Python on some code, and wait until it says that it is there."""
    process = child(code, *arguments)
    said = hear(process)
    assert said in ("ready", "holds"), process.communicate()[1]
    return process


def go_on(process: Child) -> Child:
    """Let a process that waits for a line go on."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process


def finished(process: Child, *, seconds: float = 60) -> str:
    """Wait for a process that must end well; give what it printed."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err
    assert err == ""
    return out


def peak_megabytes() -> int:
    """Give the most memory that this very process ever used; `getrusage` tells its parent's where that was larger."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) // 1024
    except FileNotFoundError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 * 1024)  # macOS counts bytes


UPDATE = """
import sys
from index import opening
from index.catching_up import catch_up
from index.erasing import erase, forget_missing
from index.lagging import lags
from foundation.durable import RealFiles
from sessions.locating import Folders, session_files

folder, logs = sys.argv[1:3]
files = session_files(Folders((logs,), flat=False))
if opening.current(folder) is None:
    opening.create(folder, RealFiles())
db = opening.open_writer(folder)
print("ready", flush=True)
sys.stdin.readline()
forget_missing(db, [file.path for file in files])
counters = catch_up(db, lags(db, files), thorough=True)
erase(db)
print(counters.entries_added)
"""
"""Does what `index update` does, as soon as it is told to; prints the entries added."""

REBUILD = """
import sys
from foundation.durable import RealFiles
from index.rebuilding import rebuild
from sessions.locating import Folders, session_files

folder, logs = sys.argv[1:3]
files = session_files(Folders((logs,), flat=False))
print("ready", flush=True)
sys.stdin.readline()
print(rebuild(folder, RealFiles(), files).entries_added)
"""
"""Does what `index rebuild` does, as soon as it is told to; prints the entries added."""

BULK = """
import index.catching_up
index.catching_up._COMMIT_BYTES = 150_000
index.catching_up._PIECE_BYTES = 50_000
index.catching_up.BULK_BYTES = 100_000

def step(done, total):
    print(done, flush=True)
    sys.stdin.readline()
""" + UPDATE.replace("thorough=True", "thorough=True, progress=step")
"""An update in small commits that is a bulk build; after each piece it prints the bytes done, and waits for a line."""

HOLD = """
import sys
from index import opening
from index.sql import run

db = opening.open_writer(sys.argv[1])
run(db, sys.argv[2])
print("holds", flush=True)
sys.stdin.readline()
run(db, "rollback")
print("let go", flush=True)
"""
"""Begins a transaction with the statement given, and holds it until it is told to let go."""
