"""`pi-context pin list` and `memory list`: what the session is to keep, as its entries and its checkpoint say."""

from pi_context import environment, pins
from pi_context.call import Call
from pi_context.output import plain
from pi_context.showing import day

SCHEMA = "context-pins-v1"


def list_pins(call: Call) -> int:
    """List the pins that hold."""
    return _list(call, "pin", "Nothing is pinned in this session.")


def list_memories(call: Call) -> int:
    """List the session memory that holds."""
    return _list(call, "memory", "This session remembers nothing of its own.")


def _list(call: Call, kind: str, nothing: str) -> int:
    state = pins.state_of(call.around)
    rows = [row for row in pins.listed(call.around, state) if row["kind"] == kind]
    if call.out.json:
        revision = pins.revision_of(state, environment.clock())
        call.out.answer({"schema": SCHEMA, "items": rows, "warnings": list(state.warnings), "revision": revision})
        return 0
    for row in rows:
        where = "inherited" if row.get("inherited") else row["scope"]
        about = f"  {where}  {day(row['createdAt'])}  {row['id']}"
        call.out.say(plain(row["text"]) + call.out.style(about, "dim"))
    if not rows:
        call.out.say(nothing)
    for code in state.warnings:
        call.out.note(f"! {code}")
    return 0
