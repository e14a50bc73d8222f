"""Entries that a test appends to a session of the real Pi while that does not run."""

import json
from pathlib import Path
from typing import Any

SENSITIVE = "The vault door opens at seven."


def said(text: str) -> dict[str, Any]:
    """Give a message of a person."""
    return {"role": "user", "timestamp": 1, "content": [{"type": "text", "text": text}]}


def add_sensitive(path: Path) -> None:
    """Append what only a local provider may see, as a person would have said it, with an answer."""
    last = json.loads(path.read_bytes().splitlines()[-1])
    text = f"[context:sensitive]{SENSITIVE}[/context:sensitive]"
    entry = {"type": "message", "id": "aaaa0001", "parentId": last["id"], "timestamp": last["timestamp"]}
    _append(path, {**entry, "message": said(text)}, {**last, "id": "aaaa0002", "parentId": "aaaa0001"})


def add_aside(path: Path, *texts: str) -> None:
    """Append a branch of its own beside the last entry, which stays the live leaf: Pi itself sends none of it."""
    last = json.loads(path.read_bytes().splitlines()[-1])
    entry = {"type": "message", "parentId": last["id"], "timestamp": last["timestamp"]}
    aside = [{**entry, "id": f"bbbb{at:04}", "message": said(text)} for at, text in enumerate(texts)]
    leaf = {"type": "custom", "id": "cccc0001", "parentId": last["id"], "timestamp": last["timestamp"]}
    _append(path, *aside, {**leaf, "customType": "test", "data": {}})


def _append(path: Path, *entries: dict[str, Any]) -> None:
    with path.open("ab") as file:
        for each in entries:
            file.write(json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
