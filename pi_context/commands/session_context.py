"""`pi-context session context`: the messages that Pi itself would send at the leaf."""

import sys
from typing import Any

from foundation.canonical import escape_controls, pretty
from foundation.errors import REFUSED, ContextError
from foundation.marks import HANDOFF_TYPES
from foundation.settings import CLASSES
from foundation.texts import RawText
from memory.visibility import Visibility
from pi_context.call import Call
from pi_context.entries_seen import Viewer, current
from pi_context.output import plain
from privacy.audiences import OMITTED, allowed_classes
from privacy.classes import highest
from privacy.redaction import redact, redact_together, redact_value
from recall import wire
from recall.evidence import Logs
from sessions.context import Context, resolve
from sessions.javascript import stringify

SCHEMA = "context-session-context-v1"
_DEEP = 40_000  # Python frames: Pi reads values nested 5000 deep


def context(call: Call) -> int:
    """Resolve the context; redacted, unless the owner asks to see it as it is."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEP)
    try:
        return _context(call)
    finally:
        sys.setrecursionlimit(usual)  # this process may serve others after it


def _context(call: Call) -> int:
    try:
        answer = _answer(call)
    except ContextError as error:
        if not call.out.json:
            raise
        call.out.answer({"schema": SCHEMA, "status": wire.UNAVAILABLE, "code": error.code})
        return REFUSED
    if call.out.json:
        call.out.script(
            escape_controls(stringify(answer)) + "\n"
        )  # values may be nested deeper than Python's json can write
        return 0
    for message in answer["messages"]:
        role = message.get("role", "?") if isinstance(message, dict) else "?"
        call.out.say(call.out.style(plain(str(role)), "cyan"))
        content = message.get("content", message) if isinstance(message, dict) else message
        call.out.say(plain(content if isinstance(content, str) else pretty(content).rstrip()))
    return 0


def _answer(call: Call) -> dict[str, Any]:
    found = resolve(current(call.around).path, leaf=call.around.words["leaf"])
    messages = masked(found.messages if call.around.reveal else _gated(call, found), call.around.visibility)
    told = {
        "sessionId": found.session_id, "leafId": found.leaf_id,
        "thinkingLevel": found.thinking_level, "model": found.model,
    }  # fmt: skip
    safe = told if call.around.reveal else redact_value(told)
    return {"schema": SCHEMA, **safe, "messages": messages}


def _gated(call: Call, found: Context) -> list[Any]:
    """Redact every message; leave out those whose entry this audience may not see."""
    with Logs() as logs:
        viewer = Viewer(call.around, logs)
        allowed: dict[str, bool] = {}
        for source in found.sources:
            if source not in allowed:
                node = viewer.outline.by_id.get(source)
                allowed[source] = node is not None and viewer.look(node).evidence is not None
    return [
        redacted(_whole(_gated_handoff(call, message))) if allowed[source] else _omitted(message)
        for message, source in zip(found.messages, found.sources, strict=True)
    ]


def _whole(message: Any) -> Any:
    """Take out of a message the secrets that lie across its blocks of text."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return message
    texts = [block for block in content if isinstance(block, dict) and isinstance(block.get("text"), str)]
    safe = iter(redact_together([RawText(block["text"]) for block in texts]))
    return message | {"content": [block | {"text": next(safe)} if block in texts else block for block in content]}


def _gated_handoff(call: Call, message: Any) -> Any:
    """Leave out what a handoff quotes of classes that this audience may not see; it is no entry with one class."""
    if not isinstance(message, dict) or message.get("customType") not in HANDOFF_TYPES:
        return message
    from rebase.framing import omitting

    values = call.around.configuration.values
    allowed, default = allowed_classes(call.around.audience, values), values["privacy.defaultClassification"]
    if set(allowed) == set(CLASSES):
        return message
    try:
        text = omitting(message["content"], lets=lambda name: highest(default, name) in allowed, omission=OMITTED)
    except (ValueError, TypeError, KeyError, AttributeError):
        return _omitted(message)
    return message | {"content": text}


def masked(value: Any, visibility: Visibility) -> Any:
    """Mask removed names in all strings of a value; names of fields are Pi's and the tools'."""
    if visibility.names is None:
        return value
    if isinstance(value, dict):
        return {name: masked(inner, visibility) for name, inner in value.items()}
    if isinstance(value, list):
        return [masked(inner, visibility) for inner in value]
    return visibility.names.masked(value)[0] if isinstance(value, str) else value


def _omitted(message: Any) -> Any:
    return {"role": message.get("role"), "content": OMITTED} if isinstance(message, dict) else OMITTED


def redacted(value: Any, name: str = "") -> Any:
    """Redact all strings of a JSON value; the name of a field counts as context, as in `password: …`."""
    if isinstance(value, dict):
        return {redact(RawText(key)).text: redacted(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [redacted(inner, name) for inner in value]
    if not isinstance(value, str):
        return value
    label = f"{name}: "
    text = redact(RawText(label + value)).text
    return text.removeprefix(label) if text.startswith(label) else redact(RawText(value)).text
