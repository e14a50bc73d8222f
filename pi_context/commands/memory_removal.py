"""`pi-context memory remove|removed|restore|delete|recover`: what the owner takes away, gets back, deletes for good."""

from collections.abc import Sequence

from foundation.canonical import Json
from foundation.clock import iso
from foundation.errors import REFUSED, ContextError
from journal.lifecycle import standing
from journal.operations import Outcome
from memory import removing
from memory.batches import Batch, rewritten
from memory.changing import COURSE, appended
from memory.model import OWNER, Memory, Removal, Statement
from memory.removing import Effect, Target
from pi_context import environment, memories
from pi_context.asking import agreed
from pi_context.call import Call
from pi_context.erasing import DELETE, UNDELETE, follow
from pi_context.occurrences import occurrences
from pi_context.output import plain
from pi_context.showing import day
from sessions.locating import canonical, read_header, session_id
from sessions.tree import outline

SCHEMA = "context-memory-v1"
PREVIEW, DONE, NOTHING = "preview", "done", "nothing-to-do"

KEPT = "The session logs keep every byte. What a running conversation has read already stays there until it is rebased."


def remove(call: Call) -> int:
    """Show what a removal would do; with `--apply`, or when the owner agrees, do it."""
    words, around = call.words, call.around
    around.require_owner()
    target = _target(call)
    memory = memories.load(around)
    told = _effects(call, memory, target)
    plan = _plan_of(memory, told)
    expected = words["confirm_plan"]
    if not words["apply"] and expected is None:
        _preview(call, memory, told, plan)
        if call.out.json or not around.terminal or told[0].already:
            return 0
        agreed(call, "Remove it?")
        expected = plan
    with memories.holding(around, follow(around)) as held:
        told = _effects(call, held.memory, target)
        if expected is not None and _plan_of(held.memory, told) != expected:
            raise ContextError("plan-changed")
        change = removing.removed(told)
        if any(change):
            after = appended(held.data, Batch(environment.clock(), change))
            _must_be_done(memories.carry_out(held, after, op="remove", plan_id=plan))
    rows = [_row(effect.row) for effect in told]
    return _answer(call, DONE if any(change) else NOTHING, rows, "Removed" if any(change) else "Removed already")


def removed(call: Call) -> int:
    """List what is removed, the newest first."""
    call.around.require_owner()
    rows = [_row(row) for row in removing.rows(memories.load(call.around))]
    if call.out.json:
        call.out.answer({"schema": SCHEMA, "items": rows})
        return 0
    for row in rows:
        _say(call, row)
    if not rows:
        call.out.say("Nothing is removed.")
    return 0


def restore(call: Call) -> int:
    """Bring back what was removed, exactly as it was where nothing was written in between."""
    call.around.require_owner()
    with memories.holding(call.around, follow(call.around)) as held:
        identity = call.words["id"]
        row = next((row for row in removing.rows(held.memory) if row.id == identity), None)
        change = removing.restored(held.memory, identity)
        after = appended(held.data, Batch(environment.clock(), change))
        plan = removing.plan_id(held.memory, identity)
        assert row is not None  # `restored` refuses what is not listed
        op = UNDELETE if row.permanent else "restore"
        _must_be_done(memories.carry_out(held, after, op=op, plan_id=plan))
    return _answer(call, DONE, [_row(row)], "Restored")


def delete(call: Call) -> int:
    """Delete removed things for good: only the prohibition stays, as a keyed digest."""
    call.around.require_owner()
    if (call.words["confirm"] or "").strip().lower() != DELETE:
        raise ContextError("delete-unconfirmed")
    with memories.holding(call.around, follow(call.around)) as held:
        batches, gone, refused = removing.deleted(
            held.memory, held.batches, call.words["ids"], at=environment.clock(),
            digest=lambda name: memories.digest_of(call.around, name),
        )  # fmt: skip
        if gone:
            plan = removing.plan_id(held.memory, sorted(gone))
            _must_be_done(memories.carry_out(held, rewritten(batches), op=DELETE, plan_id=plan))
    if call.out.json:
        told = {"deleted": gone, "refused": [each._asdict() for each in refused], "kept": KEPT}
        call.out.answer({"schema": SCHEMA, "status": DONE if gone else NOTHING, **told})
        return REFUSED if refused else 0
    for identity in gone:
        call.out.say(f"Deleted for good: {plain(identity)}")
    for each in refused:
        call.out.complain(f"Not deleted: {plain(each.id)}: {ContextError(each.code).message} [{each.code}]")
    if gone:
        call.out.say(KEPT)
    return REFUSED if refused else 0


def recover(call: Call) -> int:
    """Bring changes of memory to their end that were cut short."""
    call.around.require_owner()
    with memories.holding(call.around, follow(call.around)) as held:
        left = [record.operation_id for record in memories.unfinished(held.journal.journal)]
    if call.out.json:
        call.out.answer({"schema": SCHEMA, "status": DONE if not left else "recoverable", "unfinished": left})
    else:
        call.out.say(f"{len(left)} changes are still unfinished." if left else "Nothing is unfinished.")
    return REFUSED if left else 0


def _target(call: Call) -> Target:
    kind, named = call.words["kind"], call.words["target"]
    if not named.strip():
        raise ContextError("usage", "TARGET is empty.")
    memories.check_words(call.around, (named,))
    if kind != removing.SESSION:
        return Target(kind, named, in_parts=bool(call.words["in_parts"]))
    known = [row.target for row in memories.load(call.around).removals.values() if row.kind == removing.SESSION]
    again = [identity for identity in known if identity.startswith(named)]
    if len(again) == 1:
        return Target(removing.SESSION, again[0])
    file = call.around.other_session(named)
    header = read_header(file.path)
    if canonical(header.cwd) != canonical(call.around.project):
        raise ContextError("outside-project")
    return Target(removing.SESSION, session_id(file.path, header), outline(file.path).name)


def _effects(call: Call, memory: Memory, target: Target) -> list[Effect]:
    fold = memories.fold_of(call.around)
    return removing.effects(memory, [target], at=environment.clock(), identify=memories.identify, fold=fold)


def _plan_of(memory: Memory, told: Sequence[Effect]) -> str:
    """Name what would be removed from which memory; ids and instants of the run are no part of it."""
    return removing.plan_id(
        memory, [[each.row.kind, each.row.target, each.row.keys, each.row.in_parts] for each in told]
    )


def _must_be_done(outcome: Outcome) -> None:
    if outcome.error is not None and standing(COURSE, outcome.record) != "finished":
        raise outcome.error


def _preview(call: Call, memory: Memory, told: Sequence[Effect], plan: str) -> None:
    rows = [_row(effect.row) | _consequences(call, memory, effect) for effect in told]
    for row in rows:
        del row["id"], row["removedAt"]
    if call.out.json:
        call.out.answer({"schema": SCHEMA, "status": PREVIEW, "planId": plan, "items": rows, "kept": KEPT})
        return
    for row in rows:
        _say(call, row)
        for fact in row["withdraws"]:
            call.out.say(f"  is retracted with it: {plain(fact)}")
        if found := row.get("occursIn"):
            more = "more than " if found["more"] else ""
            call.out.say(f"  its name stands in {more}{found['entries']} entries of {found['sessions']} sessions")
        if row["already"]:
            call.out.say("  is removed already")
    call.out.say(KEPT)
    if not call.around.terminal:
        call.out.say("Nothing was done; add --apply.")


def _consequences(call: Call, memory: Memory, effect: Effect) -> Json:
    told: Json = {"already": effect.already, "withdraws": [_sentence(memory, claim) for claim in effect.statements]}
    if effect.row.kind in (removing.NAME, removing.ENTITY) and not effect.row.permanent:
        found = occurrences(call.around, effect.row.label)
        told |= {"occursIn": found._asdict()} if found else {}
    return told


def _sentence(memory: Memory, claim: Statement) -> str:
    names = [memory.entities[name].label if name in memory.entities else name for name in (claim.subject, claim.object)]
    return " ".join(filter(None, (names[0] or OWNER, claim.predicate, names[1] or claim.value)))


def _row(row: Removal) -> Json:
    return {
        "id": row.id, "kind": row.kind, "target": row.target, "label": row.label, "removedAt": iso(row.removed_at),
        "facts": len(row.cascade), "permanent": row.permanent,
    }  # fmt: skip


def _say(call: Call, row: Json) -> None:
    when = f"  {day(row['removedAt'])}  {row['id']}" if "id" in row else ""
    call.out.say(f"{row['kind']:<8} {plain(row['label'] or row['target'])}{call.out.style(when, 'dim')}")


def _answer(call: Call, status: str, rows: list[Json], said: str) -> int:
    if call.out.json:
        call.out.answer({"schema": SCHEMA, "status": status, "items": rows, "kept": KEPT})
        return 0
    call.out.say(f"{said}:")
    for row in rows:
        _say(call, row)
    call.out.say(KEPT)
    return 0
