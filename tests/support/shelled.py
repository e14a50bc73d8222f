"""The shell command, called in this process: a scratch agent folder, words in, output and exit status out."""

import contextlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pi_logs
import pytest

from pi_context.main import main

CTRL_C = "\x03"


class Said(NamedTuple):
    """What a command said."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What stdout holds, as JSON."""
        return json.loads(self.out)


class _Bytes(io.TextIOWrapper):
    """A stream that is a terminal, or is not."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="strict", newline="")
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def text(self) -> str:
        self.flush()
        raw = self.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue().decode("utf-8")


class _Keyboard(_Bytes):
    """What a person types: nothing is the end of input, `CTRL_C` the interruption."""

    def __init__(self, typed: str, *, terminal: bool) -> None:
        super().__init__(terminal=terminal)
        self._typed = io.StringIO(typed)

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # of the two bases the text one counts
        line = self._typed.readline(size)
        if CTRL_C in line:
            raise KeyboardInterrupt
        return line


class Shell:
    """A scratch machine: home, agent folder, a project with its session folder, and the command."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.written: dict[Path, tuple[int, int, bytes]] = {}
        self.agent_dir = home / ".pi" / "agent"
        self.project = home / "work"
        self.sessions = self.agent_dir / "sessions" / "--work--"
        self.sessions.mkdir(parents=True)
        self.project.mkdir()
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.chdir(self.project)

    def owner_scripts(self) -> None:
        """Let scripts do owner acts, as the owner may."""
        self.settings({"owner": {"scripts": True}})

    def settings(self, values: Mapping[str, Any]) -> None:
        """Write the owner's settings."""
        (self.agent_dir / "context.json").write_text(json.dumps(values), "utf-8")

    def add(self, *entries: pi_logs.Json, name: str = "s1.jsonl", identity: str = "s1", cwd: str | None = None) -> Path:
        """Write a session of this project, or of another."""
        return self.write(name, pi_logs.log(pi_logs.header(cwd or str(self.project), identity), *entries))

    def write(self, name: str, data: bytes) -> Path:
        """Write any file into the session folder."""
        path = self.sessions / name
        path.write_bytes(data)
        self.written[path] = _look(path)
        return path

    def check_untouched(self) -> None:
        """Hold every log that still exists against what was written: bytes, time and inode."""
        for path, before in self.written.items():
            if path.exists():
                assert _look(path) == before, f"{path.name} was touched"

    def __call__(self, *words: object, expect: int, terminal: bool = False, typed: str = "") -> Said:
        """Run the command; the exit status is part of what is expected."""
        out, err, given = _Bytes(terminal=terminal), _Bytes(terminal=False), _Keyboard(typed, terminal=terminal)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdin", given)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    status = main(list(map(str, words)))
                except SystemExit as stop:
                    raise AssertionError("the command ended the process") from stop
        said = Said(status, out.text(), err.text())
        assert "Traceback" not in said.err
        assert said.status == expect, f"exit {said.status}: {said.out[:500]} {said.err[:500]}"
        return said

    def search(self, query: str, *words: object, expect: int = 0) -> Any:
        """Search, as JSON."""
        return self("history", "search", query, "--json", *words, expect=expect).json

    def found(self, query: str, *words: object) -> list[str]:
        """Search; give the ids of the hits' entries."""
        return [hit["entryId"] for hit in self.search(query, *words)["hits"]]


def _look(path: Path) -> tuple[int, int, bytes]:
    seen = path.stat()
    return seen.st_mtime_ns, seen.st_ino, path.read_bytes()


def index_bytes(shell: Shell) -> bytes:
    """Give every byte of every file of ours."""
    folder = shell.agent_dir / "pi-context"
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
