"""The messages that Pi itself would resolve for a leaf, equal to `buildSessionContext` of Pi 1.6.0 as JSON.

Reads the file twice, first the entries as Pi loads them and then only those that the context needs, so memory grows
with the context and not with the session. Nothing is repaired: dangling calls and failed answers are Pi's to send.
"""

import os
from typing import Any, BinaryIO, NamedTuple

from foundation.canonical import Json
from foundation.errors import ContextError
from sessions import instants
from sessions.decoding import Parse, parser_for
from sessions.javascript import MISSING, same_key, settled, truthy
from sessions.loading import BROKEN, Loaded, Step, load, value_of
from sessions.reading import open_log
from sessions.tree import find_id

_EDITABLE = ("user", "assistant", "toolResult", "custom")


class Context(NamedTuple):
    """What goes to a model at a leaf.

    `messages` are plain JSON values, usually objects; `sources` has for each the id of its entry. `leaf_id` is None
    where the session has no entry or its last line has no id; `thinking_level` and `model` are as the log has them;
    `compactions` counts those on the branch.
    """

    session_id: str
    leaf_id: str | None
    thinking_level: Any
    model: dict[str, Any] | None
    messages: list[Any]
    sources: tuple[str, ...]
    compactions: int = 0


def resolve(path: str, *, leaf: str | None = None) -> Context:
    """Resolve the context at a leaf, which may be given by the start of its id; by default at the last entry.

    Raises ContextError: `not-a-session` where Pi refuses the file, `entry-cycle` where Pi hangs, `entry-broken` where
    Pi fails, `entry-not-found` or `entry-ambiguous`, and what `open_log` raises.
    """
    with open_log(path) as log:
        parse = parser_for(os.fstat(log.fileno()).st_size)
        loaded = load(log, parse)
        at = _leaf(loaded, leaf)
        reader = Reader(log, loaded, parse)
        steps = [] if at is None else path_to(loaded, at)
        level, model = settings_at(reader, steps)
        view = view_of(reader, steps)
        found = [(step.id or "", message) for step in view.steps for message in messages_of(reader, view, step)]
    return Context(
        session_id=loaded.header.id,
        leaf_id=None if at is None else loaded.steps[at].id,
        thinking_level=settled(level),
        model=settled(model),
        messages=[settled(message) for _, message in found],
        sources=tuple(source for source, _ in found),
        compactions=sum(step.kind == "compaction" for step in steps),
    )


class Reader(NamedTuple):
    """A log with its steps, from which the values of entries are read when they are needed."""

    log: BinaryIO
    loaded: Loaded
    parse: Parse

    def value(self, step: Step) -> Json:
        """Read the value of an entry."""
        return value_of(self.log, step, version=self.loaded.header.version, parse=self.parse)


def _leaf(loaded: Loaded, wanted: str | None) -> int | None:
    """Give the position of the leaf; None where Pi would start from nothing, before the first entry."""
    steps = loaded.steps
    if wanted is not None:
        identity = find_id((step.id for step in steps if step.id is not None), wanted)
        return max(at for at, step in enumerate(steps) if step.id == identity)
    if not steps or (loaded.chained and steps[-1].key == same_key(None)):
        return None
    return len(steps) - 1


class View(NamedTuple):
    """The entries that make up a context, in order, and by key of an entry what an edit puts in its content's place."""

    steps: list[Step]
    edits: dict[Any, Any]


def path_to(loaded: Loaded, at: int) -> list[Step]:
    """Walk from the leaf at a position to the root and give the steps in the order of time.

    Raises ContextError with `entry-cycle`, and with `entry-broken` where a step on the way is.
    """
    steps = loaded.steps
    if not loaded.chained:
        return _sound(steps[: at + 1])
    by_key = {step.key: place for place, step in enumerate(steps) if step.key is not None}
    path, seen, here = [], set(), at
    while True:
        if here in seen:
            raise ContextError("entry-cycle")
        seen.add(here)
        path.append(steps[here])
        above = steps[here].parent
        if above is None or above not in by_key:
            return _sound(path[::-1])
        here = by_key[above]


def _sound(path: list[Step]) -> list[Step]:
    if any(step.kind == BROKEN for step in path):
        raise ContextError("entry-broken")
    return path


def settings_at(reader: Reader, steps: list[Step]) -> tuple[Any, Any]:
    """Give thinking level and model as the last entries of the whole path set them, also before a compaction."""
    level: Any = "off"
    model: Any = None
    for step in reversed(steps):
        if step.kind == "thinking_level_change":
            level = reader.value(step).get("thinkingLevel")
            break
    for step in reversed(steps):
        if step.kind == "model_change":
            model = _present(reader.value(step), provider="provider", modelId="modelId")
            break
        if step.kind == "message:assistant":
            model = _present(reader.value(step)["message"], provider="provider", modelId="model")
            break
    return level, model


def view_of(reader: Reader, path: list[Step]) -> View:
    """Give what of a path goes to a model; reads no message yet."""
    steps = _selected(reader, path)
    edits = {}
    for step in steps if reader.loaded.chained else ():
        if step.kind == "context_edit":
            edit = reader.value(step)
            edits[same_key(edit.get("targetId", MISSING))] = edit.get("replacement", MISSING)
    edits.pop(None, None)  # an object as a target is equal to no id
    return View([step for at, step in enumerate(steps) if at == 0 or step.kind != "compaction"], edits)


def messages_of(reader: Reader, view: View, step: Step) -> list[Any]:
    """Read the messages that one entry of a view contributes: none, one, or for a compaction two."""
    found = _projected(reader, step)
    if step.key in view.edits:
        found = [_edited(message, view.edits[step.key]) for message in found]
    return [message for message in found if message is not MISSING]


def _selected(reader: Reader, path: list[Step]) -> list[Step]:
    """Give the last compaction, what it kept, and what follows it; the whole path where there is none."""
    last = max((at for at, step in enumerate(path) if step.kind == "compaction"), default=None)
    if last is None:
        return path
    first = _first_kept(reader, path, last)
    kept = [step for step in path[first:last] if step.kind != "message:system"]
    return [path[last], *kept, *path[last + 1 :]]


def _first_kept(reader: Reader, path: list[Step], last: int) -> int:
    """Give the position of the first kept entry; that of the compaction itself where nothing before it is kept."""
    value = reader.value(path[last])
    if not reader.loaded.chained:
        index = value.get("firstKeptEntryIndex")
        slots = reader.loaded.slots
        if isinstance(index, bool) or not isinstance(index, int | float) or not 0 <= index < len(slots) or index % 1:
            return last
        at = slots[int(index)]
        return last if at is None else at  # one behind the compaction leaves nothing between
    kept = same_key(value.get("firstKeptEntryId", MISSING))
    if kept is None:
        return last
    return next((at for at, step in enumerate(path[:last]) if step.key == kept), last)


def _projected(reader: Reader, step: Step) -> list[Any]:
    """Give the messages that an entry contributes before any edit."""
    value = reader.value(step) if step.kind.startswith("message:") or step.kind in _SPEAKING else {}
    when = {"timestamp": instants.from_javascript(value.get("timestamp", MISSING))}
    match step.kind:
        case "custom_message":
            content = value.get("content")
            named = _present({**value, "content": [] if content is None else content}, *_CUSTOM)
            return [{"role": "custom", **named, **when}]
        case "branch_summary" if truthy(value.get("summary")):
            return [{"role": "branchSummary", **_present(value, "summary", "fromId"), **when}]
        case "compaction":
            summary = {"role": "compactionSummary", **_present(value, "summary", "tokensBefore"), **when}
            system = value.get("systemMessage")
            return [system, summary] if truthy(system) else [summary]
        case "message:system" | "message:user" | "message:assistant" | "message:toolResult":
            message = value["message"]
            nothing = "" if step.kind == "message:system" else []
            return [{**message, "content": nothing} if message.get("content") is None else message]
    return [value["message"]] if step.kind.startswith("message:") else []


_SPEAKING = ("custom_message", "branch_summary", "compaction")
_CUSTOM = ("customType", "content", "display", "details")


def _edited(message: Any, replacement: Any) -> Any:
    """Apply the replacement of a context edit; MISSING where it takes the message away."""
    if replacement is None:
        return MISSING
    if not isinstance(message, dict) or message.get("role") not in _EDITABLE:
        return message
    if replacement is MISSING:
        raise ContextError("entry-broken")
    content = replacement.get("content", MISSING) if isinstance(replacement, dict) else MISSING
    if message["role"] in ("assistant", "toolResult") and isinstance(content, str):
        content = [{"type": "text", "text": content}]
    changed = {**message, "content": content}
    if content is MISSING:
        del changed["content"]
    return changed


def _present(value: Json, *names: str, **renamed: str) -> dict[str, Any]:
    """Take the keys that are there, for JSON leaves out what JavaScript has not defined."""
    wanted = {**{name: name for name in names}, **renamed}
    return {name: value[source] for name, source in wanted.items() if source in value}
