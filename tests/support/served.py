"""A real `pi-context serve` over pipes, with a scripted client at the other end."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds after which a test gives up; no test measures by it."""

Handler = Callable[[Json], Json]


class Refused(Exception):  # noqa: N818 - it is an answer
    """An error that the server answered."""

    def __init__(self, error: Json) -> None:
        super().__init__(f"{error['code']} {error.get('data', {}).get('code')} {error['message']}")
        self.number = error["code"]
        self.code = error.get("data", {}).get("code")


class Served:
    """A server process and its client: sends lines, sorts what comes back, answers what the server asks."""

    def __init__(
        self, agent_dir: Path, context: Mapping[str, Any], *, program: str = "", cwd: Path | None = None
    ) -> None:
        self.context = dict(context)
        self.handlers: dict[str, Handler] = {}
        self.asked: list[Json] = []
        start = ["-c", program] if program else ["-m", "pi_context"]
        self.process = subprocess.Popen(
            [sys.executable, *start, "serve", "--agent-dir", str(agent_dir)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        self.errors: list[bytes] = []
        self.raw: list[bytes] = []
        self.answers: dict[Any, Json] = {}
        self._changed = threading.Condition()
        self._calls = 0
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    # --- lines ------------------------------------------------------------------------------------------------

    def send_line(self, line: bytes) -> None:
        """Send bytes as one line."""
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def send(self, message: Json) -> None:
        """Send a message as JavaScript would write it."""
        self.send_line(json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace"))

    def begin(self, method: str, params: Json | None = None, *, context: bool = True, **changed: Any) -> int:
        """Begin a call and give its id."""
        self._calls += 1
        held = {"context": self.context | changed} if context else {}
        self.send({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": held | (params or {})})
        return self._calls

    def answer(self, identity: Any) -> Json:
        """Wait for the answer of a call; raises Refused for an error."""
        with self._changed:
            there = self._changed.wait_for(lambda: identity in self.answers or self._ended(), PATIENCE)
            assert there, "no answer"
            assert identity in self.answers, f"the server ended: {b''.join(self.errors)[-2000:].decode()}"
            found = self.answers.pop(identity)
        if "error" in found:
            raise Refused(found["error"])
        result = found["result"]
        assert isinstance(result, dict)
        return result

    def call(self, method: str, params: Json | None = None, **changed: Any) -> Json:
        """Call a method and wait for its result."""
        return self.answer(self.begin(method, params, **changed))

    def tool(self, name: str, **arguments: Any) -> Json:
        """Call a tool; give what the model reads."""
        answered = self.call("tool", {"name": f"context_history_{name}", "arguments": arguments})
        content = json.loads(answered["content"])
        assert isinstance(content, dict)
        return content

    def typed(self, line: str, **params: Any) -> Json:
        """Type a line after `/context`, with a person there."""
        return self.call("command", {"line": line, **params}, actor="user", hasUI=True, mode="tui")

    def on(self, method: str, handler: Handler) -> None:
        """Answer what the server asks."""
        self.handlers[method] = handler

    # --- ends ---------------------------------------------------------------------------------------------------

    def close(self) -> int:
        """Close standard input and wait for the end."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.wait()

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """Wait for the end of the process and of its streams."""
        status = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return status

    def _ended(self) -> bool:
        return self.process.poll() is not None and not self._threads[0].is_alive()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in iter(self.process.stdout.readline, b""):
            self.raw.append(line)
            message = json.loads(line)
            if "method" in message:
                threading.Thread(target=self._respond, args=(message,), daemon=True).start()
                continue
            with self._changed:
                self.answers[message["id"]] = message
                self._changed.notify_all()
        time.sleep(0.01)
        with self._changed:
            self._changed.notify_all()

    def _respond(self, message: Json) -> None:
        self.asked.append(message)
        handler = self.handlers.get(message["method"])
        if handler is None:
            told: Json = {"error": {"code": -32601, "message": "no such method"}}
        else:
            told = {"result": handler(message["params"])}
        try:
            self.send({"jsonrpc": "2.0", "id": message["id"], **told})
        except (OSError, ValueError):
            return

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(iter(self.process.stderr.readline, b""))
