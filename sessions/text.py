"""The text of an entry that can be searched and quoted; the one rule for the index, for answers and for `read`.

In: text of user, assistant, tool results, the user's own shell commands, custom messages; tool calls by name and
arguments; summaries. Out: thinking, images, signatures, tool details, private state of extensions, and whatever
came from ourselves (our tools, our handoffs, our command's output).
"""

from collections.abc import Iterator
from typing import Any

from foundation.marks import ANSWER_START, HANDOFF_TYPES, OUTPUT_LINE, TOOL_NAMES
from foundation.texts import RawText

Value = dict[str, Any]

TEXT_VERSION = "1"
"""Raised when the rule changes: the index is then made anew."""

_DEEPEST = 40


def searchable(value: Value) -> RawText:
    """Give the text of an entry, its parts joined by newlines; empty where nothing in it can be searched."""
    return RawText("\n".join(part for part in _parts(value) if part))


def everything(value: Value) -> RawText:
    """Give all text of a record, also what is never searched, as `name: value` lines; image data is left out.

    For the owner's audit: a secret in a tool's details lies in the log as much as one in a message.
    """
    return RawText("\n".join(_of_arguments(_without_images(value), "", 0)))


def tools(value: Value) -> tuple[str, ...]:
    """Name the tools that an entry calls or answers for, each once, in order."""
    message = value.get("message")
    if not isinstance(message, dict):
        return ()
    if message.get("role") == "toolResult":
        name = message.get("toolName")
        return (name,) if isinstance(name, str) else ()
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list):
        return ()
    names = [block.get("name") for block in content if isinstance(block, dict) and block.get("type") == "toolCall"]
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def _parts(value: Value) -> Iterator[str]:
    match value.get("type"):
        case "message":
            message = value.get("message")
            if isinstance(message, dict):
                yield from _of_message(message)
        case "custom_message":
            if value.get("customType") not in HANDOFF_TYPES:
                yield from _of_content(value.get("content"))
        case "compaction" | "branch_summary":
            yield _string(value.get("summary"))


def _of_message(message: Value) -> Iterator[str]:
    content = message.get("content")
    match message.get("role"):
        case "user":
            yield from _of_content(content)
        case "assistant":
            yield from _of_content(content)
        case "toolResult":
            if message.get("toolName") not in TOOL_NAMES:
                yield from map(_without_echo, _of_content(content))
        case "bashExecution":
            yield f"$ {_string(message.get('command'))}"
            yield _without_echo(_string(message.get("output")))
        case "custom" | "hookMessage":
            if message.get("customType") not in HANDOFF_TYPES:
                yield from _of_content(content)


def _of_content(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    if not isinstance(content, list):
        return
    for block in content:
        if isinstance(block, str):
            yield block
        if not isinstance(block, dict):
            continue
        match block.get("type"):
            case "text":
                yield _string(block.get("text"))
            case "toolCall":
                if block.get("name") not in TOOL_NAMES:
                    yield _string(block.get("name"))
                    yield from _of_arguments(block.get("arguments"), "", 0)
            case "image":
                yield image_note(block)


def image_note(block: Value) -> str:
    """Write an image as its type and size, `[image/png 3.7 MB]`, for its data is no text."""
    data, kind = _string(block.get("data")), _string(block.get("mimeType")) or "image"
    size: float = len(data) * 3 // 4
    for unit in ("B", "kB", "MB"):
        if size < 1000 or unit == "MB":  # noqa: PLR2004 - units step by a thousand
            break
        size /= 1000
    return f"[{kind} {int(size * 10) / 10:g} {unit}]"


def _of_arguments(value: Any, name: str, depth: int) -> Iterator[str]:
    """Write a tool's arguments as decoded `name: value` lines, never as JSON with its escapes."""
    label = f"{name}: " if name else ""
    match value:
        case str():
            yield label + value
        case dict() if depth < _DEEPEST:
            for key, inner in value.items():
                yield from _of_arguments(inner, f"{name}.{key}" if name else str(key), depth + 1)
        case list() if depth < _DEEPEST:
            for inner in value:
                yield from _of_arguments(inner, name, depth + 1)
        case bool():
            yield label + ("true" if value else "false")
        case int() | float():
            yield f"{label}{value}"


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
    if OUTPUT_LINE in text:
        text = text[: text.index(OUTPUT_LINE)]
    if ANSWER_START in text:
        lines = text.split("\n")
        text = "\n".join(line for line in lines if not line.lstrip().startswith(ANSWER_START))
    return text


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
