"""What `pi-context rebase` answers to a program: `context-rebase-result-v1`, and refusals in the same shape."""

from typing import Any

from foundation.canonical import Json
from foundation.errors import REFUSED, ContextError, foreseen
from pi_context.call import Call
from pi_context.output import plain
from rebase.gates import CutExchangeError, Diagnostics
from rebase.plan import Plan
from rebase.showing import Row
from recall import wire

SCHEMA = "context-rebase-result-v1"
PREVIEW = "preview"


def of_plan(call: Call, plan: Plan) -> Json:
    """Give all fields that a plan has, without a status; where files lie is for the owner alone."""
    local = call.around.audience.local
    answer: Json = {
        "planId": plan.plan_id,
        "sourceSessionId": plan.source.sessionId,
        "sourceEntries": plan.entries,
        "sourceBytes": plan.source.size,
        "sourceSha256": plan.source.sha256,
        "sourceLeaf": plan.source.leafId,
        "fitted": plan.fitted,
        "checkpointTokens": plan.tokens,
        "checkpointTargetTokens": plan.budget,
        "preservedPins": len(plan.kept.pins),
        "preservedMemories": len(plan.kept.memories),
        "leftOut": {kind: {"count": left.count, "bytes": left.bytes} for kind, left in plan.left_out.items()},
        "gaveWay": dict(plan.gave_way),
        "interrupted": plan.interrupted,
        "redactions": plan.redactions,
        "breakdown": [_row(row) for row in plan.breakdown],
        "classification": plan.classification,
        "audiences": [seen._asdict() for seen in plan.audiences],
        "lineageDepth": plan.depth,
        "lineage": [
            {"sessionId": each.origin.sessionId, "state": each.state} | ({"file": each.file} if local else {})
            for each in plan.generations
        ],
        "ways": [way._asdict() for way in plan.ways],
        "warnings": list(plan.warnings),
        "toolExchangeDiagnostics": _diagnostics(plan.diagnostics),
    }
    return answer | ({"sourceFile": plan.file} if local else {})


def may_see_entries(call: Call) -> bool:
    """Tell whether the entries of cut exchanges may be named: to the owner, who asked for more."""
    return call.out.verbose and call.around.owner and call.around.audience.local


def refuse(call: Call, error: Exception) -> int:
    """Answer a program with the refusal's code and remedy, and give the exit status.

    Raises the error again where a person asked, where the words of the command are wrong, and what nobody foresaw.
    """
    known = foreseen(error)
    if known is None or known.exit_status != REFUSED or not call.out.json:
        if isinstance(error, CutExchangeError) and may_see_entries(call):
            call.out.complain(f"Cut at: {', '.join(map(plain, error.entries))}")
        raise error
    call.out.answer({
        "schema": SCHEMA, "status": wire.UNAVAILABLE, "code": known.code, "message": known.message, "hint": known.hint,
    } | _cut(call, known))  # fmt: skip
    return REFUSED


def _cut(call: Call, error: ContextError) -> Json:
    """Tell of cut exchanges how many they are; which, only where that may be seen."""
    if not isinstance(error, CutExchangeError):
        return {}
    told: Json = {"toolExchangeDiagnostics": _diagnostics(error.diagnostics)}
    if error.leaf:
        told["lastWholeLeaf"] = error.leaf
    if may_see_entries(call):
        told["openEntries"] = list(error.entries)
    return told


def _diagnostics(found: Diagnostics) -> dict[str, int]:
    return {"active": found.active, "historical": found.historical}


def _row(row: Row) -> dict[str, Any]:
    told: dict[str, Any] = {
        "sessionId": row.session_id, "entryId": row.entry_id, "role": row.role, "classification": row.classification,
        "tokens": row.tokens, "messages": row.messages,
    }  # fmt: skip
    if row.how:
        told["how"] = row.how
    if row.estimated:
        told["estimated"] = True
    return told
