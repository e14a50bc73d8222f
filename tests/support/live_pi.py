"""The real Pi with our extension in it, driven through its RPC mode or asked once in print mode."""

import contextlib
import json
import os
import queue
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pi_lab
from fake_provider import Provider
from pi_lab import Lab

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "pi_context" / "extension"
PATIENCE = 60.0
"""Seconds after which a test gives up; no test measures by it."""


class LivePi:
    """A machine with the real Pi: its agent folder, a project, a provider, and the Pi that runs there."""

    def __init__(self, root: Path, version: str, provider: Provider) -> None:
        self.lab: Lab = pi_lab.lab(version)
        self.version, self.provider, self.root = version, provider, root
        self.agent_dir, self.project = root / "agent", root / "work"
        self.project.mkdir(exist_ok=True)
        self.python = interpreter(root)
        self.variables: dict[str, str] = {}
        self.running: list[Running] = []

    @property
    def environment(self) -> dict[str, str]:
        """Give the variables of a person's shell in which Pi is started."""
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.root), "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "PI_CODING_AGENT_DIR": str(self.agent_dir), "PI_OFFLINE": "1", "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1", "PI_CONTEXT_PYTHON": str(self.python), **self.variables,
        }  # fmt: skip

    def words(self, *options: str, extension: bool = True) -> list[str]:
        """Give the command line of Pi."""
        ours = ["-e", str(EXTENSION / "context.ts")] if extension else []
        return [*self.lab.command, *ours, *options]

    def once(self, *options: str, extension: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Pi in print mode."""
        return subprocess.run(
            self.words(*options, extension=extension), cwd=self.project, env=self.environment, capture_output=True,
            encoding="utf-8", check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def start(self, *options: str, extension: bool = True) -> "Running":
        """Start Pi in RPC mode."""
        started = Running(self, self.words("--mode", "rpc", *options, extension=extension))
        self.running.append(started)
        return started

    def settings(self, **values: Any) -> None:
        """Add to Pi's own settings."""
        path = self.agent_dir / "settings.json"
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")

    def ours(self, values: Json) -> None:
        """Write the owner's settings of pi-context."""
        (self.agent_dir / "context.json").write_text(json.dumps(values), "utf-8")

    def sessions(self) -> list[Path]:
        """List the session files, oldest first by name."""
        return sorted((self.agent_dir / "sessions").glob("*/*.jsonl"))

    def leave(self) -> None:
        """End every Pi that still runs."""
        for each in self.running:
            each.kill()


class Running:
    """A Pi in RPC mode; dialogs are answered by `confirm` and `select`, and everything it says is kept."""

    def __init__(self, machine: LivePi, words: list[str]) -> None:
        self.machine = machine
        self.confirm: Callable[[Json], bool] = lambda _: True
        self.dialogs: list[Json] = []
        self.errors: list[str] = []
        self.said: list[Json] = []
        self.process = subprocess.Popen(
            words, cwd=machine.project, env=machine.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self._lines: queue.Queue[Json | None] = queue.Queue()
        self._count = 0
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()

    def send(self, message: Json) -> None:
        """Send a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def until(self, wanted: Callable[[Json], bool]) -> list[Json]:
        """Wait for a message; give all that came up to it."""
        seen: list[Json] = []
        end = time.monotonic() + PATIENCE
        while True:
            try:
                found = self._lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"nothing came; last {seen[-3:]}; {''.join(self.errors)[-2000:]}") from None
            assert found is not None, f"Pi ended; last {seen[-3:]}; {''.join(self.errors)[-2000:]}"
            seen.append(found)
            if wanted(found):
                return seen

    def ask(self, **command: Any) -> Json:
        """Send a command and give its answer."""
        return self.asked(**command)[-1]

    def asked(self, **command: Any) -> list[Json]:
        """Send a command and give all that came up to its answer."""
        self._count += 1
        identity = f"t{self._count}"
        self.send({"id": identity, **command})
        return self.until(lambda each: each.get("type") == "response" and each.get("id") == identity)

    def say(self, text: str) -> None:
        """Say something to the model and wait until it is done."""
        self._count += 1
        identity = f"t{self._count}"
        self.send({"id": identity, "type": "prompt", "message": text})
        ends = "agent_settled" if self.machine.version == pi_lab.PRESENT else "agent_end"
        self.until(lambda each: each.get("type") == ends)

    def typed(self, line: str) -> str:
        """Type a line after `/context`; give what is shown."""
        seen = self.asked(type="prompt", message=f"/context {line}")
        seen += self.asked(type="get_state")  # in some versions a notice may follow the answer
        assert not [each for each in seen if each.get("type") == "extension_error"], seen
        return "\n".join(_notices(seen))

    @property
    def state(self) -> Json:
        """Give Pi's state."""
        found = self.ask(type="get_state")["data"]
        assert isinstance(found, dict)
        return found

    @property
    def file(self) -> Path:
        """Give the session file."""
        return Path(self.state["sessionFile"])

    def servers(self) -> list[int]:
        """List the processes of ours that this Pi started."""
        found = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False
        ).stdout
        return [int(line.split()[0]) for line in found.splitlines() if "pi_context" in line]

    def close(self) -> int:
        """Close its input and wait for its end."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """End it at once, if it runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for line in iter(self.process.stdout.readline, b""):
                message = json.loads(line)
                self.said.append(message)
                if message.get("type") == "extension_ui_request" and message.get("method") in ("confirm", "select"):
                    self.dialogs.append(message)
                    answer = {"type": "extension_ui_response", "id": message["id"]}
                    with contextlib.suppress(OSError):
                        self.send(answer | {"confirmed": self.confirm(message)})
                self._lines.put(message)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError, OSError):
            self.errors.extend(line.decode("utf-8", "replace") for line in iter(self.process.stderr.readline, b""))


def _notices(seen: list[Json]) -> Iterator[str]:
    for each in seen:
        if each.get("type") == "extension_ui_request" and each.get("method") == "notify":
            yield each["message"]


def interpreter(root: Path) -> Path:
    """Write an interpreter that finds this checkout, though the extension lets it see no PYTHONPATH."""
    path = root / "python"
    path.write_text(f'#!/bin/sh\nshift 2\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -P "$@"\n', "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def results(file: Path) -> list[Json]:
    """Give the results of tools that a session holds."""
    messages = [json.loads(line).get("message", {}) for line in file.read_bytes().splitlines()]
    return [message for message in messages if message.get("role") == "toolResult"]


def answers(file: Path) -> list[Json]:
    """Give what our tools answered."""
    return [json.loads(result["content"][0]["text"]) for result in results(file)]
