"""A machine on which a Pi could run: agent folder, project, a session, and servers for it."""

import json
import os
from pathlib import Path
from typing import Any

from logs import Value, header, lines, message
from served import Json, Served

TALK = (
    message(1, None, "Where is the retry budget kept?"),
    message(2, 1, "The retry budget is kept in chat-send, forty-two at most.", "assistant"),
    message(3, 2, "[context:sensitive]The vault door opens at seven.[/context:sensitive]"),
    message(4, 3, "Noted, vault and all.", "assistant"),
)
"""A session with something ordinary and something sensitive in it."""


class Desk:
    """The machine; `context` is what Pi tells with each call."""

    def __init__(self, root: Path) -> None:
        self.root, self.agent_dir, self.project = root, root / "agent", root / "work"
        self.sessions = self.agent_dir / "sessions" / "--work--"
        self.sessions.mkdir(parents=True)
        self.project.mkdir()
        self.servers: list[Served] = []
        self.file = self.session("one", *TALK)
        self.before = self.file.read_bytes()

    def session(self, name: str, *entries: Value) -> Path:
        """Write a session of this project."""
        path = self.sessions / f"{name}.jsonl"
        path.write_bytes(lines(header(str(self.project), name), *entries))
        return path

    def settings(self, values: Json) -> None:
        """Write the owner's settings."""
        (self.agent_dir / "context.json").write_text(json.dumps(values), "utf-8")

    @property
    def context(self) -> Json:
        """How Pi stands in the session, with a local model."""
        return {
            "sessionFile": str(self.file), "sessionId": "one", "leafId": last_id(self.file), "cwd": str(self.project),
            "trusted": True, "provider": "ollama", "model": "m", "mode": "tui", "hasUI": True,
        }  # fmt: skip

    def serve(self, *, program: str = "", **changed: Any) -> Served:
        """Start a server."""
        started = Served(self.agent_dir, self.context | changed, program=program)
        self.servers.append(started)
        return started

    def leave(self) -> None:
        """End every server that still runs."""
        for started in self.servers:
            if started.process.poll() is None:
                started.kill()

    def left_over(self) -> list[str]:
        """List what lies beside the sessions that no reader should find there."""
        return sorted(name for name in os.listdir(self.sessions) if name.endswith(".tmp"))


class Pi:
    """The part of Pi that a rebase needs: it is at rest, and switches where it is asked to."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.file, self.leaf = served.context["sessionFile"], served.context["leafId"]
        self.identity = served.context["sessionId"]
        self.rest: Json = {}
        self.refusal: Json = {}
        self.switched = 0
        served.on("leaf", lambda _: self.standing())
        served.on("activate", self.activate)

    def standing(self) -> Json:
        """Tell how it stands."""
        calm = {"idle": True, "pendingMessages": False, "compacting": False}
        return {"sessionFile": self.file, "leafId": self.leaf} | calm | self.rest

    def activate(self, params: Json) -> Json:
        """Switch."""
        self.switched += 1
        if self.refusal:
            return self.refusal
        self.file, self.identity = params["targetFile"], params["targetSessionId"]
        self.leaf = last_id(Path(self.file))
        return {"ok": True, "sessionFile": self.file, "sessionId": self.identity}


def last_id(file: Path) -> str:
    """Give the id of a session's last entry."""
    return str(json.loads(file.read_bytes().splitlines()[-1])["id"])
