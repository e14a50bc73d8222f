"""Small session logs for tests: entries as values, logs as bytes, and the genuine ones with Pi's own answers."""

import json
import os
from pathlib import Path
from typing import Any

Value = dict[str, Any]

STAMP = "2026-11-20T08:00:01.000Z"
MILLIS = 1795161601000
PI = Path(__file__).parent.parent / "fixtures" / "pi"
NAMES = sorted(path.stem for path in PI.glob("*.jsonl"))


def header(**changes: Any) -> Value:
    """Give a header of the current version; a change to None takes the key away."""
    value = {"type": "session", "version": 3, "id": "s-1", "timestamp": STAMP, "cwd": "/home/dev/proj", **changes}
    return {key: inner for key, inner in value.items() if inner is not None}


def entry(identity: str, parent: str | None, kind: str, **body: Any) -> Value:
    """Give an entry of any type."""
    return {"type": kind, "id": identity, "parentId": parent, "timestamp": STAMP, **body}


def said(identity: str, parent: str | None, text: str, role: str = "user", **more: Any) -> Value:
    """Give a message with one block of text."""
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": MILLIS, **more}
    return entry(identity, parent, "message", message=message)


def chain(count: int) -> list[Value]:
    """Give a header and a straight line of messages `e0`, `e1` and so on."""
    return [header(), *(said(f"e{at}", f"e{at - 1}" if at else None, f"text {at}") for at in range(count))]


def line(value: Any) -> bytes:
    """Write a value as Pi does, without the newline; lone surrogates become escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def log(*lines: Any) -> bytes:
    """Write values, or lines that are bytes already, each with its newline."""
    return b"".join((item if isinstance(item, bytes) else line(item)) + b"\n" for item in lines)


def save(folder: Path, data: bytes, name: str = "session.jsonl") -> str:
    """Put a log into a folder and give its path."""
    path = folder / name
    path.write_bytes(data)
    return os.fspath(path)


def genuine(name: str) -> tuple[str, Value]:
    """Give the path of a genuine log and what Pi 1.6.0 makes of it."""
    return os.fspath(PI / f"{name}.jsonl"), json.loads((PI / f"{name}.context.json").read_bytes())
