"""The text of an entry that can be searched and quoted; the one rule for the index, for answers and for `read`.

In: text of user, assistant, tool results, the user's own shell commands, custom messages; tool calls by name and
arguments; summaries. Out: thinking, images, signatures, tool details, private state of extensions, and whatever
came from ourselves (our tools, our handoffs, our command's output).
"""

from typing import Any

from foundation.canonical import Json
from foundation.marks import ANSWER_START, HANDOFF_TYPES, OUTPUT_LINE, TOOL_NAMES
from foundation.texts import RawText

TEXT_VERSION = "1"
"""Raised when the rule changes: the index is then made anew."""

_SPEAKERS = {
    "user": "user",
    "assistant": "assistant",
    "toolResult": "toolResult",
    "bashExecution": "bashExecution",
    "custom": "custom",
    "hookMessage": "custom",  # the name of version 2
}
_DEEPEST = 40
_IN_EVERY_ECHO = "context"


def searchable(value: Json) -> RawText:
    """Give the text of an entry, its parts joined by newlines; empty where nothing in it can be searched."""
    kind = value.get("type")
    if kind == "message":
        message = value.get("message")
        return spoken(message)[2] if isinstance(message, dict) else RawText("")
    parts: list[str] = []
    if kind == "custom_message":
        if value.get("customType") not in HANDOFF_TYPES:
            _take_content(value.get("content"), parts, [])
    elif kind in ("compaction", "branch_summary"):
        parts.append(_string(value.get("summary")))
    return _joined(parts)


def speaker(message: Json) -> str:
    """Name who speaks in a message; empty for a role that Pi does not know."""
    role = message.get("role")
    return _SPEAKERS.get(role, "") if isinstance(role, str) else ""


def spoken(message: Json) -> tuple[str, tuple[str, ...], RawText]:
    """Give who speaks in a message, the tools it calls or answers for, each once, in order, and its text."""
    role, content = speaker(message), message.get("content")
    parts: list[str] = []
    tools: list[str] = []
    if role == "toolResult":
        name = message.get("toolName")
        if isinstance(name, str):
            tools.append(name)
        if name not in TOOL_NAMES:
            _take_content(content, parts, [])
            parts = list(map(_without_echo, parts))
    elif role == "assistant":
        _take_content(content, parts, tools)
    elif role == "user":
        _take_content(content, parts, [])
    elif role == "bashExecution":
        parts.append(f"$ {_string(message.get('command'))}")
        parts.append(_without_echo(_string(message.get("output"))))
    elif role == "custom" and message.get("customType") not in HANDOFF_TYPES:
        _take_content(content, parts, [])
    return role, tuple(dict.fromkeys(tools)) if tools else (), _joined(parts)


def everything(value: Json) -> RawText:
    """Give all text of a record, also what is never searched, as `name: value` lines; image data is left out.

    For the owner's audit: a secret in a tool's details lies in the log as much as one in a message.
    """
    parts: list[str] = []
    _take_values(_without_images(value), "", parts, 0)
    return RawText("\n".join(parts))


def _joined(parts: list[str]) -> RawText:
    return RawText("\n".join(filter(None, parts)))


def _take_content(content: Any, parts: list[str], tools: list[str]) -> None:
    if isinstance(content, str):
        parts.append(content)
    if not isinstance(content, list):
        return
    for block in content:
        if isinstance(block, dict):
            kind = block.get("type")
            if kind == "text":
                parts.append(_string(block.get("text")))
            elif kind == "toolCall":
                _take_call(block, parts, tools)
            elif kind == "image":
                parts.append(image_note(block))
        elif isinstance(block, str):
            parts.append(block)


def _take_call(block: Json, parts: list[str], tools: list[str]) -> None:
    name = block.get("name")
    if isinstance(name, str):
        tools.append(name)
    if name not in TOOL_NAMES:
        parts.append(_string(name))
        _take_values(block.get("arguments"), "", parts, 0)


def arguments(value: Any) -> RawText:
    """Write a tool's arguments as decoded `name: value` lines."""
    parts: list[str] = []
    _take_values(value, "", parts, 0)
    return _joined(parts)


def is_own_tool(name: Any) -> bool:
    """Tell whether a tool is one of ours, whose results quote history."""
    return name in TOOL_NAMES


def image_note(block: Json) -> str:
    """Write an image as its type and size, `[image/png 3.7 MB]`, for its data is no text."""
    data, kind = _string(block.get("data")), _string(block.get("mimeType")) or "image"
    size: float = len(data) * 3 // 4
    for unit in ("B", "kB", "MB"):
        if size < 1000 or unit == "MB":  # noqa: PLR2004 - units step by a thousand
            break
        size /= 1000
    return f"[{kind} {int(size * 10) / 10:g} {unit}]"


def _take_values(value: Any, name: str, parts: list[str], depth: int) -> None:
    """Write a tool's arguments as decoded `name: value` lines, never as JSON with its escapes."""
    if isinstance(value, str):
        parts.append(f"{name}: {value}" if name else value)
    elif isinstance(value, dict):
        if depth < _DEEPEST:
            for key, inner in value.items():
                _take_values(inner, f"{name}.{key}" if name else key, parts, depth + 1)
    elif isinstance(value, list):
        if depth < _DEEPEST:
            for inner in value:
                _take_values(inner, name, parts, depth + 1)
    elif value is not None:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        parts.append(f"{name}: {text}" if name else text)


def _without_images(value: Any, depth: int = 0) -> Any:
    if isinstance(value, dict) and depth < _DEEPEST:
        if value.get("type") == "image":
            return image_note(value)
        return {key: _without_images(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list) and depth < _DEEPEST:
        return [_without_images(inner, depth + 1) for inner in value]
    return value


def _without_echo(text: str) -> str:
    """Leave out what our own command printed: from its first line on, or the one line of a JSON answer."""
    if _IN_EVERY_ECHO not in text:  # one search instead of two, for most tool results hold none
        return text
    if OUTPUT_LINE in text:
        text = text[: text.index(OUTPUT_LINE)]
    if ANSWER_START in text:
        lines = text.split("\n")
        text = "\n".join(line for line in lines if not line.lstrip().startswith(ANSWER_START))
    return text


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
