"""`pi-context rebase --dry-run`: what a rebase would do, before anything is done; nothing at all is written."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from foundation.canonical import Json
from foundation.errors import REFUSED
from pi_context import operations, rebases
from pi_context.call import Call
from pi_context.commands import rebase_answer, rebase_shown
from pi_context.commands.rebase_typed import typed
from pi_context.output import is_a_terminal, plain
from privacy.audiences import OMITTED, allowed_classes
from privacy.redaction import redact_value
from rebase import operation
from rebase.framing import omitting
from rebase.operation import RECOVERABLE, Earlier
from rebase.plan import Plan
from recall import wire

FOLDER_READ_ONLY = "folder-not-writable"

_WORTH_WAITING = 20_000_000  # bytes of log, about half a second


def preview(call: Call) -> int:
    """Plan the rebase and show it; a refusal has its code, and where it is only too large, the ways out as well."""
    around = call.around
    try:
        _ = around.reveal, around.audience  # what only the owner may ask is refused before anything is read
        with waiting(call):
            plan = looked_at(call)
        met = met_by(call, plan)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)
    if met is not None:
        plan = plan._replace(warnings=(*plan.warnings, met.status))
    return present(call, plan, met)


def looked_at(call: Call) -> Plan:
    """Plan the rebase that the words ask for, with the warnings of a dry run; raises what `rebases.planned` raises."""
    plan = rebases.planned(call.around, leaf=call.words["leaf"], fitted=bool(call.words["fit"]), owner=True)
    if os.access(os.path.dirname(plan.file), os.W_OK | os.X_OK):
        return plan
    return plan._replace(warnings=(*plan.warnings, FOLDER_READ_ONLY))


def met_by(call: Call, plan: Plan) -> Earlier | None:
    """Give the operation that carrying a plan out would meet."""
    journal = operations.journal_in(call.around, os.path.dirname(plan.file))
    return operation.earlier(journal, plan, again=bool(call.words["again"]))


def present(call: Call, plan: Plan, earlier: Earlier | None = None) -> int:
    """Show a plan in the form that was asked for, and give the exit status: that of a refusal where it has one.

    `earlier` is the operation that carrying it out would meet.
    """
    handoff = handoff_shown(call, plan) if call.words["show_handoff"] else None
    if call.out.json:
        _answer(call, plan, handoff, earlier)
    else:
        rebase_shown.show(call, plan, next_command(call, plan, earlier))
        if handoff:
            call.out.say()
            call.out.say(call.out.style("The handoff, as the model would read it", "bold"))
            call.out.script(plain(handoff) + "\n")  # redacted message by message: as it stands, and nothing else
    return REFUSED if plan.refusal else 0


def next_command(call: Call, plan: Plan, earlier: Earlier | None = None) -> str:
    """Give the command that does what the plan says, or first finishes what was begun, to be typed as it stands."""
    if earlier is not None and earlier.status == RECOVERABLE:
        return typed(call, "--recover", earlier.record.operation_id, session=plan.file)
    words = ["--leaf", call.words["leaf"]] if call.words["leaf"] else []
    words += [option for option in ("--fit", "--again") if call.words[option.removeprefix("--")]]
    return typed(call, *words, "--confirm-plan", plan.plan_id, session=plan.file)


def answer_of(call: Call, plan: Plan, earlier: Earlier | None) -> Json:
    """Give what a program hears of a plan, not redacted yet."""
    status = {"status": wire.UNAVAILABLE, "code": plan.refusal} if plan.refusal else {"status": rebase_answer.PREVIEW}
    met = {"operationId": earlier.record.operation_id, "status": earlier.status} if earlier else None
    return {"schema": rebase_answer.SCHEMA, **status, **rebase_answer.of_plan(call, plan), "earlier": met}


def _answer(call: Call, plan: Plan, handoff: str | None, earlier: Earlier | None) -> None:
    answer = answer_of(call, plan, earlier)
    if not plan.refusal:
        answer["nextCommand"] = next_command(call, plan, earlier)
    safe = answer if call.out.revealing else redact_value(answer)
    call.out.answer_measured(safe if handoff is None else safe | {"handoff": handoff})


def handoff_shown(call: Call, plan: Plan) -> str:
    """Give the handoff as this audience may see it; to the owner exactly as the model would."""
    allowed = allowed_classes(call.around.audience, call.around.configuration.values)
    if not plan.handoff or all(row.classification in allowed for row in plan.breakdown):
        return plan.handoff
    return omitting(plan.handoff, lets=allowed.__contains__, omission=OMITTED)


@contextmanager
def waiting(call: Call) -> Iterator[None]:
    """Show that a long session is being read, while a person waits."""
    file = rebases.source(call.around)
    total = file.stat.st_size if file else 0
    if call.out.quiet or not is_a_terminal(sys.stderr) or total < _WORTH_WAITING:
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(f"Reading {total / 1e6:,.0f} MB of session log", total=None)
        yield
