"""Holds a handoff against the messages that Pi resolved: same speakers, same order, every text whole, nothing else."""

import re
from collections.abc import Iterator
from typing import Any

from foundation.texts import RawText
from privacy.redaction import redact
from rebase.framing import Quoted

_ROLES = {
    "user": "user", "assistant": "assistant", "toolResult": "result", "bashExecution": "shell", "custom": "custom",
    "compactionSummary": "summary", "branchSummary": "summary",
}  # fmt: skip
_LONE = re.compile("[\ud800-\udfff]")
_LABELS = re.compile(
    r"call |[\w.]+: |\n| failed|:|\$ |\[image/png [\d.]+ k?B\]|\(aborted\)|\(cancelled\)"
    r"| \(interrupted, without a result\)|\(exit code \d+\)|\(ended in an error(: )?|\(output truncated; all of it: \S+\)|\)"
)


def difference(messages: list[Any], quoted: list[Quoted]) -> str:
    """Say where a handoff says anything else than the messages of a context; empty where it does not.

    Half a character is written as U+FFFD, for Pi drops it on the way to a provider.
    """
    expected = [(role, list(texts)) for role, texts in map(_said, messages) if texts]
    if [role for role, _ in expected] != [one.role for one in quoted]:
        return f"{[role for role, _ in expected]} are quoted as {[one.role for one in quoted]}"
    for (role, texts), one in zip(expected, quoted, strict=True):
        rest, at = [], 0
        for text in texts:
            wanted = _LONE.sub("\ufffd", redact(RawText(text)).text)
            found = one.text.find(wanted, at)
            if found < 0:
                return f"{role}: {wanted!r} is not in {one.text!r}"
            rest.append(one.text[at:found])
            at = found + len(wanted)
        for between in (*rest, one.text[at:]):
            if _LABELS.sub("", between):
                return f"{role}: {between!r} was never said"
    return ""


def _said(message: Any) -> tuple[str, list[str]]:
    """Give the speaker and the texts of a message in order; none where it is not for a model or has no words."""
    role = message.get("role")
    if role not in _ROLES or message.get("excludeFromContext"):
        return "", []
    texts = list(_texts(message))
    content = message.get("content")
    images = any(block["type"] == "image" for block in content) if isinstance(content, list) else False
    labelled = images or message.get("stopReason") in ("aborted", "error")
    return _ROLES[role], texts or ([""] if labelled else [])


def _texts(message: Any) -> Iterator[str]:
    if message["role"] == "toolResult":
        yield message["toolName"]
    for name in ("command", "output", "summary"):
        if message.get(name):
            yield message[name]
    content = message.get("content")
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content or []:
        if block["type"] == "text" and block["text"]:
            yield block["text"]
        elif block["type"] == "toolCall":
            yield block["name"]
            yield from _values(block["arguments"])
    if message.get("stopReason") == "error" and message.get("errorMessage"):
        yield message["errorMessage"]


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values(inner)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        yield str(value).lower() if isinstance(value, bool) else str(value)
