"""A provider on this machine that answers with one word, or with the tool calls that a test laid ready, for the real Pi.

It keeps what it was sent. Pi knows it by two names: `fake`, which is remote to our eyes, and `ollama`, which is local.
"""

import json
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

ANSWER = "noted"

REMOTE, LOCAL = "fake", "ollama"


class Provider(ThreadingHTTPServer):
    """A server, and the bodies of the requests that it had."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.requests: list[dict[str, Any]] = []
        self.asked_as: list[str] = []
        self.calls: deque[tuple[str, dict[str, Any]]] = deque()

    def call(self, tool: str, **arguments: Any) -> None:
        """Lay ready a tool call, as the answer to the next request."""
        self.calls.append((tool, arguments))

    def sent(self, name: str = "") -> str:
        """Give all that was sent to a provider of this name, or to any, as text."""
        pairs = zip(self.asked_as, self.requests, strict=True)
        return "\n".join(json.dumps(body, ensure_ascii=False) for asked, body in pairs if name in ("", asked))


@contextmanager
def provider(agent_dir: str) -> Iterator[Provider]:
    """Run a provider, and let an agent folder know it as `fake` with the model `fake-1`."""
    with Provider() as server:
        _introduce(agent_dir, server.server_address[1])
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


class _Answering(BaseHTTPRequestHandler):
    """Streams the answer as the chat interface of OpenAI does."""

    server: Provider

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(asked)
        self.server.asked_as.append(self.path.split("/")[1])
        base = {"id": "fake", "object": "chat.completion.chunk", "created": 1, "model": asked.get("model")}
        delta: dict[str, Any] = {"role": "assistant", "content": ANSWER}
        reason = "stop"
        if self.server.calls and "tools" in asked:
            tool, arguments = self.server.calls.popleft()
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"index": 0, "id": f"call_{len(self.server.requests)}", "type": "function", "function": function}
            delta, reason = {"role": "assistant", "tool_calls": [call]}, "tool_calls"
        said = {"index": 0, "delta": delta, "finish_reason": None}
        ended = {"index": 0, "delta": {}, "finish_reason": reason}
        events = [{**base, "choices": [choice]} for choice in (said, ended)]
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def _introduce(agent_dir: str, port: int) -> None:
    os.makedirs(agent_dir, exist_ok=True)
    told = {
        name: {
            "baseUrl": f"http://127.0.0.1:{port}/{name}/v1", "api": "openai-completions", "apiKey": "none",
            "models": [{
                "id": f"{name}-1", "name": name, "reasoning": False, "input": ["text"], "contextWindow": 128_000,
                "maxTokens": 4096, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            }],
        }
        for name in (REMOTE, LOCAL)
    }  # fmt: skip
    chosen = {"defaultProvider": REMOTE, "defaultModel": f"{REMOTE}-1"}
    for name, value in (("models.json", {"providers": told}), ("settings.json", chosen)):
        with open(os.path.join(agent_dir, name), "w", encoding="utf-8") as file:
            json.dump(value, file)
