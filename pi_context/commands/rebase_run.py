"""`pi-context rebase`: carry out a plan, and tell how to go on from there."""

import os

from foundation.errors import ContextError
from journal.places import Journal
from pi_context import operations, proofs, rebases
from pi_context.asking import agreed
from pi_context.call import Call
from pi_context.commands import rebase_answer, rebase_shown
from pi_context.commands.rebase_outcome import tell, tell_earlier, tell_interrupted
from pi_context.commands.rebase_preview import present, waiting
from rebase import operation
from rebase.plan import Plan


def run(call: Call) -> int:
    """Rebase the current session: plan, ask, do, verify. A failure leaves what `--recover` brings to its end."""
    try:
        if call.words["yes"] or call.words["confirm_plan"] is not None:
            return _run(call, call.words["confirm_plan"])
        return _asked(call)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)


def _asked(call: Call) -> int:
    """Let the owner see the plan, and do that one if it is agreed to."""
    around = call.around
    if call.out.json or not around.terminal:
        rebases.checked(around, owner=around.owner)
        raise ContextError("confirmation-required")
    plan = _planned(call)
    told = _told(call, plan, operations.journal_in(around, os.path.dirname(plan.file)))
    if told is not None:
        return told
    rebase_shown.show(call, plan, "")
    agreed(call, "Rebase this session?")
    return _run(call, plan.plan_id)


def _planned(call: Call) -> Plan:
    around = call.around
    with waiting(call):
        return rebases.planned(around, leaf=call.words["leaf"], fitted=bool(call.words["fit"]), owner=around.owner)


def _told(call: Call, plan: Plan, journal: Journal) -> int | None:
    """Tell why a plan is not to be carried out, and give the exit status; None where it is."""
    if plan.refusal:
        return present(call, plan)
    found = operation.earlier(journal, plan, again=bool(call.words["again"]))
    return tell_earlier(call, found, os.path.dirname(plan.file)) if found else None


def _run(call: Call, expected: str | None) -> int:
    """Carry out the plan with the id given, None for whatever the plan is now."""
    around = call.around
    file, _ = rebases.checked(around, owner=around.owner)
    with operations.holding(around, os.path.dirname(file.path)) as held:
        plan = _planned(call)
        told = _told(call, plan, held.journal)
        if told is not None:
            return told
        if expected is not None and plan.plan_id != expected:
            raise ContextError("plan-changed")
        operation.check_place(held)
        signing = operations.signing(around, held)
        identity = operations.new_operation_id()
        try:
            outcome = operation.begin(signing, operations.site_of(around, signing, plan), plan, identity)
        except KeyboardInterrupt:
            tell_interrupted(call, signing.journal, identity)
            raise
    proofs.keep(around, proofs.load(around), plan.proved)
    return tell(call, outcome, os.path.dirname(plan.file), plan)
