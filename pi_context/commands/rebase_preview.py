"""`pi-context rebase --dry-run`: what a rebase would do, before anything is done; nothing at all is written."""

from pi_context import rebases
from pi_context.call import Call


def preview(call: Call) -> int:
    """Plan the rebase."""
    plan = rebases.planned(call.around, leaf=call.words["leaf"], fitted=bool(call.words["fit"]), owner=True)
    call.out.answer({"planId": plan.plan_id})
    return 0
