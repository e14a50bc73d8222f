"""The rebase as it is typed by its owner, cut short wherever a test wants, and what must be left of a refusal: nothing."""

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from dry_runs import tree
from faults import Effect, WatchedFiles
from pi_logs import message
from shelled import Said, Shell

from foundation.durable import Files
from rebase.steps import COURSE

PHASES = COURSE.stages[:-1]
"""The phases in which an operation can be left."""


class FailsAfter(WatchedFiles):
    """Fails once, at the first effect after an operation's phase became durable."""

    def __init__(self, phase: str) -> None:
        super().__init__()
        self._phase = f'"phase": "{phase}"'.encode()
        self._state = "before"

    def perform(self, effect: Effect) -> None:
        """Let an effect happen, or fail."""
        if self._state == "due":
            self._state = "done"
            raise OSError(errno.EIO, "the disk is broken", effect.path)
        effect.act()
        if self._state == "before" and effect.name == "create" and self._phase in effect.data:
            self._state = "written"
        elif self._state == "written" and effect.name == "fsync_folder":
            self._state = "due"


class Acts:
    """The commands of a rebase on one scratch machine, typed on a terminal unless a test says otherwise."""

    def __init__(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shell, self._patch = shell, monkeypatch

    def __call__(self, *words: object, expect: int = 0, terminal: bool = True, typed: str = "") -> Said:
        """Ask as a person."""
        return self.shell("rebase", *words, expect=expect, terminal=terminal, typed=typed)

    def json(self, *words: object, expect: int = 0, terminal: bool = True) -> Any:
        """Ask as a program."""
        answer = self(*words, "--json", expect=expect, terminal=terminal).json
        assert answer["schema"] == "context-rebase-result-v1"
        return answer

    def refused(self, *words: object, code: str, terminal: bool = True) -> Any:
        """See a program refused with a code, and the whole home as it was before."""
        with self.nothing_left():
            answer = self.json(*words, expect=1, terminal=terminal)
        assert (answer["status"], answer["code"]) == ("unavailable", code)
        assert answer["message"]
        assert answer["hint"]
        return answer

    @contextmanager
    def nothing_left(self) -> Iterator[None]:
        """Hold every name, mode and byte below the home before and after, and the time of every file."""
        before = self.seen()
        yield
        assert self.seen() == before

    def seen(self) -> dict[str, tuple[object, ...]]:
        """Look at everything; of a folder not at its time, for a lock may have been in it, nor at the note in a lock."""
        lock = str(self.shell.sessions / ".ds4-rebase" / "lock")
        return {
            path: (mode,) if path == lock else (mode, data) if data is None else (mode, time, data)
            for path, (mode, time, data) in tree(self.shell.home).items()
        }

    @contextmanager
    def on(self, disk: Files) -> Iterator[None]:
        """Let the commands work on another disk."""
        with self._patch.context() as patch:
            patch.setattr("pi_context.surroundings.RealFiles", lambda: disk)
            yield

    def unfinished(self, file: Path, phase: str = "CheckpointReady") -> str:
        """Begin a rebase that is cut short after a phase, and give the id of its operation."""
        with self.on(FailsAfter(phase)):
            answer = self.json("--yes", "--session", file, expect=1)
        assert (answer["status"], answer["code"], answer["phase"]) == ("recoverable", "io-error", phase)
        operation_id: str = answer["operationId"]
        return operation_id

    def names(self) -> set[str]:
        """Give the names of the sessions, and of whatever else lies beside them."""
        return {path.name for path in self.shell.sessions.iterdir()}


def record_of(shell: Shell, operation: str) -> Path:
    """Give the file of an operation."""
    return shell.sessions / ".ds4-rebase" / "operations" / f"{operation}.json"


def key_of(shell: Shell) -> Path:
    """Give the key of this installation."""
    return shell.agent_dir / "pi-context" / "keys" / "install.key"


def flip(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes of a file."""
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def go_on(path: Path) -> None:
    """Say something more in a session."""
    last = json.loads(path.read_bytes().splitlines()[-1])["id"]
    path.write_bytes(
        path.read_bytes() + json.dumps(message(77, None, "user", "more") | {"parentId": last}).encode() + b"\n"
    )


def status_of(rebase: Acts, operation: str) -> dict[str, Any]:
    """Give what the list says of an operation."""
    found: dict[str, Any] = next(
        each for each in rebase.json("--list")["operations"] if each["operationId"] == operation
    )
    return found
