"""`pi-context memory fact …`: what is remembered as claims, who confirmed it, and when it was true."""

from collections.abc import Callable

from foundation.canonical import Json
from foundation.clock import parse
from foundation.errors import ContextError
from memory import claims
from memory.claims import Said
from memory.model import Change, Memory, Statement, with_change
from pi_context import environment, memories
from pi_context.call import Call
from pi_context.memory_view import shown
from pi_context.output import plain
from pi_context.showing import day

SCHEMA = "context-facts-v1"

ChangeOf = Callable[[Memory, int], Change]
"""Gives the change to a memory at an instant."""


def add(call: Call) -> int:
    """Propose a fact; with `--confirm` the owner confirms it at once."""
    words, around = call.words, call.around
    if words["confirm"]:
        around.require_owner()
    said = Said(
        words["subject"], words["predicate"], words["object"], value=words["value"], single=words["single"],
        valid_from=instant(words["from"]), valid_to=instant(words["to"]),
    )  # fmt: skip
    memories.check_words(around, (said.subject, said.predicate, said.object))
    with memories.holding(around, lambda _: None) as held:
        now = environment.clock()
        fold = memories.fold_of(around)
        change = claims.asserted(held.memory, said, at=now, identify=memories.identify, fold=fold)
        known = claims.same(held.memory, said, fold) if not any(change) else None
        claim = change.statements[0] if change.statements else known
        after = with_change(held.memory, change)
        if words["confirm"] and claim is not None:
            change = change.then(claims.confirmed(after, claim.id))
        memories.save(held, change)
        after = with_change(held.memory, change)
    assert claim is not None
    return _told(call, after, after.statements[claim.id], changed=any(change))


def list_facts(call: Call) -> int:
    """List the facts that hold, or all of them."""
    memory = memories.load(call.around)
    at = instant(call.words["as_of"])
    now = environment.clock()
    kept = [
        claim
        for claim in memory.statements.values()
        if call.words["all"] or claim.holds(at if at is not None else now)
    ]  # fmt: skip
    rows = [row for claim in kept if (row := shown(call.around, memory, claim))]
    if call.out.json:
        call.out.answer({"schema": SCHEMA, "facts": rows})
        return 0
    for row in rows:
        _say(call, row)
    if not rows:
        call.out.say("Nothing is remembered yet: pi-context memory fact add SUBJECT PREDICATE OBJECT")
    return 0


def confirm(call: Call) -> int:
    """Confirm a fact."""
    call.around.require_owner()
    return _change(call, lambda memory, _: claims.confirmed(memory, call.words["id"]))


def end(call: Call) -> int:
    """Say that a fact stopped being true."""
    call.around.require_owner()
    at = instant(call.words["at"])
    return _change(call, lambda memory, now: claims.ended(memory, call.words["id"], at=now if at is None else at))


def _change(call: Call, change_of: ChangeOf) -> int:
    with memories.holding(call.around, lambda _: None) as held:
        change = change_of(held.memory, environment.clock())
        memories.save(held, change)
        after = with_change(held.memory, change)
    return _told(call, after, after.statements[call.words["id"]], changed=any(change))


def _told(call: Call, memory: Memory, claim: Statement, *, changed: bool) -> int:
    row = shown(call.around, memory, claim) or {"id": claim.id, "status": claim.status}
    if call.out.json:
        call.out.answer({"schema": SCHEMA, "changed": changed, "facts": [row]})
    else:
        call.out.say("Saved." if changed else "Nothing to do: that is what memory says.")
        _say(call, row)
    return 0


def _say(call: Call, row: Json) -> None:
    when = "".join(f" {name} {day(row[name])}" for name in ("from", "to") if name in row)
    said = " ".join(plain(row.get(name, "…")) for name in ("subject", "predicate", "object"))
    call.out.say(said + call.out.style(f"  {row['status']}{when}  {row['id']}", "dim"))


def instant(text: str | None) -> int | None:
    """Read a date or an instant, local where it names no zone. Raises ContextError `invalid-date`."""
    if text is None:
        return None
    found = parse(text, local=True)
    if found is None:
        raise ContextError("invalid-date")
    return found
