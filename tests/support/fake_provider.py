"""A provider on this machine that answers every request with one word and keeps what it was sent, for the real Pi."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

ANSWER = "noted"


class Provider(ThreadingHTTPServer):
    """A server, and the bodies of the requests that it had."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.requests: list[dict[str, Any]] = []


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
        base = {"id": "fake", "object": "chat.completion.chunk", "created": 1, "model": asked.get("model")}
        said = {"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}
        ended = {"index": 0, "delta": {}, "finish_reason": "stop"}
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
    model = {
        "id": "fake-1", "name": "Fake", "reasoning": False, "input": ["text"], "contextWindow": 128_000,
        "maxTokens": 4096, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    }  # fmt: skip
    fake = {"baseUrl": f"http://127.0.0.1:{port}/v1", "api": "openai-completions", "apiKey": "none", "models": [model]}
    chosen = {"defaultProvider": "fake", "defaultModel": "fake-1"}
    for name, value in (("models.json", {"providers": {"fake": fake}}), ("settings.json", chosen)):
        with open(os.path.join(agent_dir, name), "w", encoding="utf-8") as file:
            json.dump(value, file)
