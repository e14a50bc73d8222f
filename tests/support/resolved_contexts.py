"""Resolve made-up sessions in one word, for the tests of contexts."""

from pathlib import Path
from typing import Any

import pytest
from session_logs import entry, header, log, said, save

from foundation.errors import ContextError
from sessions.context import Context, resolve


def resolved(folder: Path, *lines: Any, leaf: str | None = None, end: bytes = b"") -> Context:
    return resolve(save(folder, log(*lines) + end), leaf=leaf)


def texts(context: Context) -> list[Any]:
    """Give what each message says, for a quick look."""
    return [
        message.get("summary") or (message["content"][0]["text"] if message.get("content") else message.get("content"))
        for message in context.messages
    ]


def refusal(folder: Path, *lines: Any, leaf: str | None = None) -> str:
    with pytest.raises(ContextError) as refused:
        resolved(folder, *lines, leaf=leaf)
    return refused.value.code


def edited(role: str, replacement: Any, **more: Any) -> list[dict[str, Any]]:
    edit = entry("x", "m", "context_edit", targetId="m", replacement=replacement)
    return [header(), said("m", None, "old", role, **more), edit]
