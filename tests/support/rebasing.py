"""Plans and targets in a scratch folder, with a key that stands for this installation's."""

import hashlib
import hmac
import json
import os
from collections.abc import Sequence
from typing import Any

from logs import START, Value, entry, header, lines, message

from foundation.settings import defaults
from journal.keys import Verdict
from memory.visibility import Visibility
from rebase.checkpoint import Origin
from rebase.framing import Frame, parse
from rebase.lineage import Proved
from rebase.plan import Plan, make_plan
from rebase.sealing import Signer
from rebase.target import Target, compose


class Key:
    """A key by its name, which signs and judges."""

    def __init__(self, name: str = "ours") -> None:
        self.name = name

    def sign(self, data: bytes) -> str:
        """Sign bytes."""
        return hmac.new(self.name.encode(), data, hashlib.sha256).hexdigest()

    @property
    def signer(self) -> Signer:
        """Give it as rebase takes it."""
        return Signer(self.name, self.sign)

    def verify(self, data: bytes, key_id: str, mac: str) -> Verdict:
        """Judge a MAC as the door does."""
        if not mac:
            return "unsigned"
        if key_id != self.name:
            return "foreign"
        return "good" if hmac.compare_digest(self.sign(data), mac) else "forged"


class Bench:
    """A folder of sessions that are planned and rebased, without a door."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.key = Key()
        self.values = defaults()
        self.visibility = Visibility()
        self.proved: Proved = {}
        self.runs = 0

    def path(self, name: str) -> str:
        """Give the path of a file in the folder."""
        return os.path.join(self.folder, name)

    def write(self, data: bytes, name: str = "source.jsonl") -> str:
        """Write a file and give its path."""
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def log(self, *entries: Value, name: str = "source.jsonl", **head: Any) -> str:
        """Write a session and give its path."""
        return self.write(lines(header(**head), *entries), name)

    def locate(self, origin: Origin) -> Sequence[str]:
        """Find a source by the name it had."""
        path = self.path(origin.file)
        return [path] if os.path.exists(path) else []

    def plan(self, file: str, *, leaf: str | None = None, fitted: bool = False, size: int | None = None) -> Plan:
        """Plan a rebase."""
        return make_plan(
            file, leaf=leaf, values=self.values, visibility=self.visibility, fitted=fitted,
            verify=self.key.verify, locate=self.locate, proved=self.proved, size=size,
        )  # fmt: skip

    def target(self, plan: Plan, operation: str = "", created_at: int = START) -> Target:
        """Compose a target."""
        return compose(plan, operation_id=operation or "op-1", created_at=created_at, signer=self.key.signer)

    def rebased(self, file: str, *, fitted: bool = False) -> tuple[Plan, str]:
        """Write the target of a session beside it, and give the plan and the target's path."""
        plan = self.plan(file, fitted=fitted)
        self.runs += 1
        made = self.target(plan, f"op-{self.runs}", START + 1000 * self.runs)
        return plan, self.write(made.data, made.file_name)

    def budget(self, tokens: int) -> None:
        """Set the budget in tokens."""
        self.values["sessionRebase.checkpointTargetTokens"] = tokens


def frame(plan: Plan) -> Frame:
    """Take the plan's handoff apart."""
    return parse(plan.handoff)


def bodies(plan: Plan) -> list[str]:
    """Give the texts that the plan's handoff quotes."""
    return [quoted.text for quoted in frame(plan).messages]


def records(path: str) -> list[Value]:
    """Read a session file."""
    with open(path, "rb") as file:
        return [json.loads(raw) for raw in file.read().splitlines()]


def last_id(path: str) -> str:
    """Give the id of the last entry."""
    return str(records(path)[-1]["id"])


def append(path: str, *values: Value) -> None:
    """Go on in a session as Pi does."""
    with open(path, "ab") as file:
        file.write(lines(*values))


def say(path: str, number: int, text: str, role: str = "user", **more: Any) -> None:
    """Say something at the end of a session."""
    append(path, message(number, None, text, role, **more) | {"parentId": last_id(path)})


def calls(number: int, parent: int | None, *names: str, text: str = "", **more: Any) -> Value:
    """Give an answer that calls tools with ids `c<number>-0` and so on."""
    blocks: list[Value] = [{"type": "text", "text": text}] if text else []
    blocks += [
        {"type": "toolCall", "id": f"c{number}-{at}", "name": name, "arguments": {"command": f"{name} --now"}}
        for at, name in enumerate(names)
    ]
    spoken = {"role": "assistant", "content": blocks, "stopReason": "toolUse"} | more
    return entry("message", number, parent, message=spoken)


def result(number: int, parent: int | None, call: str, text: str, tool: str = "bash", **more: Any) -> Value:
    """Give the result of a call."""
    return message(number, parent, text, "toolResult", toolCallId=call, toolName=tool, **more)
