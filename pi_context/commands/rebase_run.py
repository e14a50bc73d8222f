"""`pi-context rebase`: carry out a plan, and tell how to go on from there."""

import os

from foundation.errors import ContextError
from pi_context import rebases
from pi_context.asking import agreed
from pi_context.call import Call
from pi_context.commands import rebase_answer, rebase_shown
from pi_context.commands.rebase_outcome import tell, tell_earlier
from pi_context.commands.rebase_preview import present, waiting
from rebase import operation
from rebase.plan import Plan


def run(call: Call) -> int:
    """Rebase the current session: plan, ask, do, verify. A failure leaves what `--recover` brings to its end."""
    try:
        expected = call.words["confirm_plan"] or _confirmed(call)
        return _run(call, expected)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)


def _confirmed(call: Call) -> str:
    """Let the owner see the plan and agree to it; give its id, empty where `--yes` spared us the question."""
    if call.words["yes"]:
        return ""
    if call.out.json or not call.around.terminal:
        rebases.checked(call.around, owner=call.around.owner)
        raise ContextError("confirmation-required")
    plan = _planned(call)
    if plan.refusal:
        return plan.plan_id
    rebase_shown.show(call, plan, "")
    agreed(call, "Rebase this session?")
    return plan.plan_id


def _planned(call: Call) -> Plan:
    around = call.around
    with waiting(call):
        return rebases.planned(around, leaf=call.words["leaf"], fitted=bool(call.words["fit"]), owner=around.owner)


def _run(call: Call, expected: str) -> int:
    around = call.around
    file, _ = rebases.checked(around, owner=around.owner)
    with rebases.holding(around, os.path.dirname(file.path)) as held:
        plan = _planned(call)
        if plan.refusal:
            return present(call, plan)
        found = operation.earlier(held.journal, plan, again=bool(call.words["again"]))
        if found is not None:
            return tell_earlier(call, found, os.path.dirname(plan.file))
        if expected and plan.plan_id != expected:
            raise ContextError("plan-changed")
        signing = rebases.signing(around, held)
        outcome = operation.begin(signing, rebases.site_of(around, signing, plan), plan, rebases.new_operation_id())
    return tell(call, outcome, os.path.dirname(plan.file), plan)
