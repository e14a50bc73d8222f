"""A message of Pi as text for a handoff: what was said, called and answered; and a count of all that is left out.

Nothing is cut or hidden here and nothing is redacted yet: `pieces` does that, message by message.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from foundation.canonical import Json
from foundation.texts import RawText
from sessions import text
from sessions.javascript import stringify

Left = dict[str, list[int]]
"""What is left out: for each kind how many, and how many bytes as the log has them."""

TEXT, ARGUMENTS, RESULT = "", "arguments", "result"
"""Kinds of parts: words of somebody, arguments of a tool call, what a tool or a shell command gave."""

_ROLES = {
    "user": "user",
    "assistant": "assistant",
    "toolResult": "result",
    "bashExecution": "shell",
    "custom": "custom",
    "compactionSummary": "summary",
    "branchSummary": "summary",
}


class Part(NamedTuple):
    """A stretch of a message that can give way by itself."""

    kind: str
    text: RawText


class Drawn(NamedTuple):
    """A message as text, in parts; without any where it has no words.

    `own_tool` where our own tool answered; `known_class` where a handoff quoted it before, with its class.
    """

    role: str
    parts: tuple[Part, ...]
    left: Left
    own_tool: bool = False
    known_class: str = ""


def draw(message: Any, *, interrupted: Callable[[int], bool]) -> Drawn | None:
    """Render a message; None where Pi itself would not send it to a model, or only declares its prompt and tools.

    `interrupted` tells, for the number of a call from 0, whether it was stopped before a result came.
    """
    role = message.get("role") if isinstance(message, dict) else None
    known = _ROLES.get(role) if isinstance(role, str) else None
    if known is None or (known == "shell" and message.get("excludeFromContext")):
        return None
    left: Left = {}
    match known:
        case "user" | "custom":
            parts = _content(message.get("content"), TEXT, left)
        case "assistant":
            parts = _answer(message, interrupted, left)
        case "result":
            parts = _result(message, left)
        case "shell":
            parts = _shell(message)
        case _:
            parts = [Part(TEXT, RawText(_string(message.get("summary"))))]
    for name in ("usage", "details", "nestedCalls"):
        if message.get(name) is not None:
            count(left, name, message[name])
    shown = tuple(part for part in parts if part.text)
    return Drawn(known, shown, left, known == "result" and text.is_own_tool(message.get("toolName")))


def draw_again(role: str, classification: str, quoted: str, *, cut_already: bool) -> Drawn:
    """Render a message that an earlier handoff quoted; what was cut there is not cut again."""
    kind = RESULT if role in ("result", "shell") and not cut_already else TEXT
    return Drawn(role, (Part(kind, RawText(quoted)),) if quoted else (), {}, known_class=classification)


def left_out_kind(message: Any) -> str:
    """Name what a message is that is left out as a whole."""
    role = message.get("role") if isinstance(message, dict) else None
    if role == "system":
        return "system"
    return "excludedShell" if role == "bashExecution" else "unknown"


def count(left: Left, kind: str, value: Any) -> None:
    """Count something as left out, with its size."""
    size = len((value if isinstance(value, str) else stringify(value)).encode("utf-8", "surrogatepass"))
    number = left.setdefault(kind, [0, 0])
    number[0] += 1
    number[1] += size


def add(total: Left, left: Left) -> None:
    """Add one count to another."""
    for kind, (number, size) in left.items():
        sums = total.setdefault(kind, [0, 0])
        sums[0] += number
        sums[1] += size


def _content(content: Any, kind: str, left: Left) -> list[Part]:
    if isinstance(content, str):
        return [Part(kind, RawText(content))]
    parts = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            parts.append(Part(kind, RawText(block)))
        elif isinstance(block, dict):
            _signatures(block, left)
            if block.get("type") == "text":
                parts.append(Part(kind, RawText(_string(block.get("text")))))
            elif block.get("type") == "image":
                count(left, "images", _string(block.get("data")))
                parts.append(Part(TEXT, RawText(text.image_note(block))))
    return parts


def _answer(message: Json, interrupted: Callable[[int], bool], left: Left) -> list[Part]:
    content = message.get("content")
    parts, calls = [], 0
    for block in content if isinstance(content, list) else [content]:
        if not isinstance(block, dict):
            parts += _content([block], TEXT, left)
        elif block.get("type") == "thinking":
            _signatures(block, left)
            count(left, "thinking", _string(block.get("thinking")))
        elif block.get("type") == "toolCall":
            _signatures(block, left)
            stopped = " (interrupted, without a result)" if interrupted(calls) else ""
            parts.append(Part(TEXT, RawText(f"call {_string(block.get('name'))}{stopped}")))
            parts.append(Part(ARGUMENTS, text.arguments(block.get("arguments"))))
            calls += 1
        else:
            parts += _content([block], TEXT, left)
    reason = message.get("stopReason")
    if reason == "aborted":
        parts.append(Part(TEXT, RawText("(aborted)")))
    elif reason == "error":
        said = _string(message.get("errorMessage"))
        parts.append(Part(TEXT, RawText(f"(ended in an error{': ' if said else ''}{said})")))
    return parts


def _result(message: Json, left: Left) -> list[Part]:
    failed = " failed" if message.get("isError") is True else ""
    name = _string(message.get("toolName")) or "tool"
    parts = _content(message.get("content"), RESULT, left)
    return [Part(TEXT, RawText(f"{name}{failed}:")), *parts]


def _shell(message: Json) -> list[Part]:
    parts = [
        Part(TEXT, RawText(f"$ {_string(message.get('command'))}")),
        Part(RESULT, RawText(_string(message.get("output")))),
    ]
    status, path = message.get("exitCode"), _string(message.get("fullOutputPath"))
    if message.get("cancelled"):
        parts.append(Part(TEXT, RawText("(cancelled)")))
    elif status is not None and status != 0:
        parts.append(Part(TEXT, RawText(f"(exit code {status})")))
    if message.get("truncated") and path:
        parts.append(Part(TEXT, RawText(f"(output truncated; all of it: {path})")))
    return parts


def _signatures(block: Json, left: Left) -> None:
    for name, value in block.items():
        if name.endswith("Signature") and isinstance(value, str):
            count(left, "signatures", value)


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
