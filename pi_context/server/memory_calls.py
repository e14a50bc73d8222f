"""Memory inside Pi: what a model reads and asks to have changed, and what a person types; Pi appends the entry."""

from typing import NamedTuple

from msgspec.structs import replace

from foundation.canonical import Json, dumps
from foundation.errors import ContextError
from memory.pins import Kind, Wish
from pi_context import environment, pins
from pi_context.memory_view import SCHEMA, view
from pi_context.output import plain
from pi_context.server.around import InsidePi
from pi_context.server.methods import Ask
from pi_context.verbs import Words
from recall import wire


class _Change(NamedTuple):
    """A change by its name in the tool and after `/context`: of what, what it is to the log, and how it is told."""

    kind: Kind
    operation: str
    told: str


_CHANGES = {
    "pin": _Change("pin", "add", "Pin"), "unpin": _Change("pin", "deleted", "Unpin"),
    "remember": _Change("memory", "add", "Remember"), "supersede": _Change("memory", "supersede", "Replace in memory"),
    "invalidate": _Change("memory", "invalid", "Take for untrue"),
    "expire": _Change("memory", "expired", "Take for over"),
}  # fmt: skip


def remembered(ask: Ask) -> Json:
    """Answer the tool: a list, or, once a person has agreed, the entry that Pi is to append."""
    given = ask.params.arguments
    around = InsidePi(ask.state, replace(ask.params.context, actor="model"))
    try:
        answer, state = view(around)
        change = _CHANGES.get(str(given.get("action") or ""))
        if change is None:
            return _told(answer)
        wish = _wish(change, {name: given.get(name) for name in ("text", "id", "scope", "reason")})
        pins.check_revision(state, str(given.get("revision") or ""), environment.clock())
        entry = pins.entry_for(around, wish, state)
        if not around.pi.has_ui:
            raise ContextError("confirmation-required")
        if not ask.params.confirmed:
            return {"needs": "confirm", "text": plain(f"The model asks: {change.told}: {wish.text or wish.id}")}
    except ContextError as error:
        return _told(wire.unavailable(SCHEMA, error.code))
    done = {"schema": SCHEMA, "status": "complete", "warnings": [], "changed": True}
    return _told(done) | {"append": entry}


def typed(ask: Ask, name: str, given: Words) -> Json:
    """Do what a person typed: check it, and give the entry that Pi is to append."""
    around = InsidePi(ask.state, ask.params.context)
    around.require_user()
    change = _CHANGES[name]
    text = " ".join(given.get("text") or [])
    wish = _wish(change, {"text": text, **{field: given.get(field) for field in ("id", "scope", "reason")}})
    state = pins.state_of(around)
    entry = pins.entry_for(around, wish, state)
    made = entry["data"].get("item", {}).get("id", "")
    return {
        "text": plain(f"{change.told}: {wish.text or wish.id}{f'  {made}' if made else ''}"), "status": "ok",
        "exitStatus": 0, "append": entry,
    }  # fmt: skip


def _wish(change: _Change, given: Json) -> Wish:
    said = {name: value for name, value in given.items() if isinstance(value, str) and value}
    return Wish(change.kind, change.operation, **said)


def _told(answer: Json) -> Json:
    details = {name: answer[name] for name in ("schema", "status", "code", "changed") if name in answer}
    return {"content": dumps(answer), "details": details, "isError": answer["status"] == wire.UNAVAILABLE}
