"""One process holds a lock at a time, and its death lets it go."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from foundation.durable import RealFiles
from foundation.errors import ContextError
from foundation.locks import held

_HOLDER = """
import sys, time
from foundation.durable import RealFiles
from foundation.locks import held
with held(sys.argv[1], RealFiles(), wait_seconds=0, busy="index-busy"):
    print("held", flush=True)
    time.sleep(60)
"""


def take(path: Path, wait_seconds: float = 0) -> None:
    with held(os.fspath(path), RealFiles(), wait_seconds=wait_seconds, busy="index-busy"):
        pass


def hold_elsewhere(path: Path) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen([sys.executable, "-c", _HOLDER, os.fspath(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    return process


def test_a_lock_can_be_taken_again_and_again(tmp_path: Path) -> None:
    """Leaving the block lets it go, also by an error; its file stays, for the owner alone."""
    path = tmp_path / "lock"
    take(path)
    with pytest.raises(KeyError), held(os.fspath(path), RealFiles(), wait_seconds=0, busy="index-busy"):
        raise KeyError
    take(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_while_another_process_holds_it_we_are_told_so(tmp_path: Path) -> None:
    """The refusal carries the code that the caller chose, and a killed holder holds nothing any more."""
    process = hold_elsewhere(tmp_path / "lock")
    try:
        with pytest.raises(ContextError) as refused:
            take(tmp_path / "lock")
        assert refused.value.code == "index-busy"
        with pytest.raises(ContextError):
            take(tmp_path / "lock", wait_seconds=0.2)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    take(tmp_path / "lock", wait_seconds=10)


def test_waiting_ends_when_the_holder_leaves(tmp_path: Path) -> None:
    """Who waits long enough gets the lock."""
    process = hold_elsewhere(tmp_path / "lock")
    process.send_signal(signal.SIGKILL)
    take(tmp_path / "lock", wait_seconds=30)
    process.communicate()
