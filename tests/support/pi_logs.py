"""Session logs as Pi writes them, in a few words: headers, messages, conversations."""

import json
from collections.abc import Callable, Iterable
from typing import Any

Json = dict[str, Any]

START = 1_795_161_600_000  # 2026-11-20T08:00:00Z


def line(value: Json) -> bytes:
    """Write one line as `JSON.stringify` does."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def log(*values: Json) -> bytes:
    """Write a whole log."""
    return b"".join(map(line, values))


def stamp(number: int) -> str:
    """Give the time of the n-th entry: one second each."""
    from foundation.clock import iso

    return iso(START + number * 1000)


def header(cwd: str, identity: str = "s1", **more: Any) -> Json:
    """Make a session header."""
    return {"type": "session", "version": 3, "id": identity, "timestamp": stamp(0), "cwd": cwd, **more}


def entry(number: int, parent: int | None, kind: str, **more: Any) -> Json:
    """Make an entry whose id is its number."""
    above = None if parent is None else f"{parent:08x}"
    return {"type": kind, "id": f"{number:08x}", "parentId": above, "timestamp": stamp(number), **more}


def message(number: int, parent: int | None, role: str, text: str, **more: Any) -> Json:
    """Make a message of user, assistant or toolResult, or a bash execution with the text as its output."""
    body: Json = {"role": role, "timestamp": START + number * 1000}
    if role == "bashExecution":
        body |= {"command": "ls", "output": text, "exitCode": 0, "cancelled": False, "truncated": False}
    else:
        body["content"] = [{"type": "text", "text": text}]
    if role == "assistant":
        body |= {"api": "openai-completions", "provider": "fake", "model": "fake-1", "stopReason": "stop", "usage": {}}
    if role == "toolResult":
        body |= {"toolCallId": "c1", "toolName": "bash", "isError": False}
    return entry(number, parent, "message", message=body | more)


def talk(
    texts: Iterable[str] | int, *, start: int = 1, parent: int | None = None, text: Callable[[int], str] | None = None
) -> list[Json]:
    """Make a conversation, user and assistant in turn, each entry the child of the one before."""
    words = (
        [(text or "turn {}".format)(number) for number in range(start, start + texts)]
        if isinstance(texts, int)
        else list(texts)
    )
    made = []
    for number, each in enumerate(words, start):
        made.append(message(number, parent, "user" if number % 2 else "assistant", each))
        parent = number
    return made
