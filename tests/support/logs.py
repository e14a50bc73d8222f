"""Writes the lines of session logs as Pi does, for tests that need to know every byte."""

import json
from collections.abc import Callable
from typing import Any

Value = dict[str, Any]

START = 1_795_161_600_000
"""2026-11-20T08:00:00Z in milliseconds."""


def stamp(at: int) -> str:
    """Give the instant so many milliseconds after the start, in less than a day, as Pi writes it."""
    seconds, rest = divmod(at, 1000)
    return f"2026-11-20T{8 + seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}Z"


def header(cwd: str = "/home/dev/proj", identity: str = "s-1", **more: Any) -> Value:
    """Give a session header."""
    return {"type": "session", "version": 3, "id": identity, "timestamp": stamp(0), "cwd": cwd} | more


def entry(kind: str, number: int, parent: int | None, **more: Any) -> Value:
    """Give an entry of a kind; numbers become Pi's ids of eight hexadecimal digits."""
    above = None if parent is None else f"{parent:08x}"
    return {"type": kind, "id": f"{number:08x}", "parentId": above, "timestamp": stamp(number)} | more


def message(number: int, parent: int | None, text: str, role: str = "user", **more: Any) -> Value:
    """Give a message that says one text."""
    spoken = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": START + number}
    if role == "toolResult":
        spoken |= {"toolCallId": f"c{number}", "toolName": "bash", "isError": False}
    return entry("message", number, parent, message=spoken | more)


def call(number: int, parent: int | None, tool: str, **arguments: Any) -> Value:
    """Give an assistant's message that calls one tool."""
    block = {"type": "toolCall", "id": f"c{number}", "name": tool, "arguments": arguments}
    return entry("message", number, parent, message={"role": "assistant", "content": [block]})


def talk(count: int, text: Callable[[int], str], *, start: int = 1, parent: int | None = None) -> list[Value]:
    """Give a chain of messages, user and assistant in turn, numbered from `start`."""
    said = []
    for number in range(start, start + count):
        said.append(message(number, parent, text(number), "user" if number % 2 else "assistant"))
        parent = number
    return said


def about(topic: str) -> Callable[[int], str]:
    """Give what `talk` says: the number of the turn, and its topic."""
    return lambda number: f"turn {number} {topic}"


def line(value: Value) -> bytes:
    """Write one record as Pi does, without its newline; lone surrogates become escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def lines(*values: Value) -> bytes:
    """Write records, each with its newline."""
    return b"".join(line(value) + b"\n" for value in values)
