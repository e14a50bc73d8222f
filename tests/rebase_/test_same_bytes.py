"""R10: a target is a pure function of what goes into it, in any process and whenever its operation is resumed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from children import PATHS
from deliveries import look
from faults import ForgetfulFiles, scratch
from interfering import composer_changes
from rebases import Rebase
from standings import MOMENTS, crashed_at

REBASE = """
import sys
from rebases import Rebase
root, operation = sys.argv[1:]
rebase = Rebase(root)
rebase.run(operation)
print(rebase.record(operation).facts["targetSha256"])
"""
"""Rebases the session in a folder under an operation id; prints the digest of the target."""


def rebased_by(folder: str, operation: str, seed: str) -> tuple[str, str, bytes]:
    """Let a process of its own rebase; give the digest it recorded, and name and bytes of the target."""
    environment = {"PYTHONPATH": PATHS, "PATH": os.environ["PATH"], "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", REBASE, folder, operation], capture_output=True, text=True, env=environment, check=True
    )
    (target,) = Rebase(folder).targets()
    return done.stdout.strip(), os.path.basename(target), look(target).data


def test_another_process_makes_the_same_bytes(tmp_path: Path) -> None:
    """The same inputs, id, time and key in the same place give the same file, however Python hashes; another id another."""
    folder = os.fspath(tmp_path / "sessions")
    made = []
    for operation, seed in (("rebase_1", "1"), ("rebase_1", "2"), ("rebase_2", "1")):
        os.mkdir(folder)
        made.append(rebased_by(folder, operation, seed))
        shutil.rmtree(folder)
    first, again, other = made
    assert first == again
    assert all(one != another for one, another in zip(first, other, strict=True))


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_resumed_operation_makes_the_same_bytes(moment: str) -> None:
    """Wherever the first process died, recovery ends with the file that an undisturbed run makes."""
    ends = []
    with scratch() as root:
        for disturbed in (False, True):
            folder = os.path.join(root, "sessions")
            os.mkdir(folder)
            if disturbed:
                rebase = crashed_at(folder, moment)
                assert rebase.recover().error is None
            else:
                rebase = Rebase(folder)
                rebase.run()
            ends.append((os.path.basename(rebase.target), look(rebase.target).data))
            shutil.rmtree(folder)
    assert ends[0] == ends[1]


def test_what_was_staged_survives_a_power_cut() -> None:
    """R10: at `CheckpointReady` the bytes are durable with their name, so another version installs just these."""
    with scratch() as root:
        Rebase(root)
        machine = ForgetfulFiles(root)
        rebase = crashed_at(root, "CheckpointReady", machine)
        machine.cut()
        composer_changes(rebase)
        assert rebase.recover().error is None
        assert rebase.check_settled() == "Verified"
