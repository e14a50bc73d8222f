"""`/context rebase …`: planned and shown at once, carried out only when a person agreed and the client asks again."""

import os

from foundation.canonical import Json, dumps
from foundation.errors import REFUSED, ContextError
from journal.reading import find
from pi_context import operations
from pi_context.call import Call
from pi_context.captured import Captured
from pi_context.commands import rebase_outcome
from pi_context.commands.rebase import form_of
from pi_context.commands.rebase_preview import answer_of, handoff_shown, looked_at, met_by
from pi_context.output import plain
from pi_context.server.around import InsidePi
from pi_context.server.live_rebase import back, list_operations
from pi_context.server.live_text import outcome_text, plan_summary, plan_text
from pi_context.server.methods import Ask
from pi_context.server.typed_lines import call_of, needing
from pi_context.verbs import Words
from privacy.redaction import redact_value
from rebase.operation import Earlier
from rebase.plan import Plan

_ASKED = {
    "recover": ("activate", "rebase.recover", "Bring operation {} to its end? Pi may switch to its new session."),
    "abandon": ("confirm", "rebase.abandon", "Take operation {} back? Its new session is removed."),
}


def rebase(ask: Ask, given: Words) -> Json:
    """Do what was asked for, or say what a person has to agree to. Raises ContextError."""
    told = _done(ask, given)
    as_json = given["json"] and "answer" in told and "needs" not in told
    return told | ({"text": dumps(told["answer"])} if as_json else {})


def _done(ask: Ask, given: Words) -> Json:
    form = form_of(given)
    if given["back"]:
        if form or given["fit"] or given["again"]:
            raise ContextError("usage", "--back goes with nothing else.")
        found = back(ask)
        if "source" not in found:
            return _as_line(found)
        return needing("activate", found["text"] + "\nGo?", "rebase.back", {})
    if form == "list":
        return _as_line(list_operations(ask))
    if form in _ASKED:
        _need_somebody(ask)
        around = InsidePi(ask.state, ask.params.context)
        find(operations.journal_in(around, operations.folder_of(around)), given[form])  # before anybody is asked
        what, method, question = _ASKED[form]
        return needing(what, plain(question.format(given[form])), method, {"operationId": given[form]})
    return _planned(ask, given, dry=form == "dry_run")


def _planned(ask: Ask, given: Words, *, dry: bool) -> Json:
    call = call_of(ask, given, confirmed=ask.params.confirmed, as_json=True)
    _ = call.around.reveal, call.around.audience
    plan = looked_at(call)
    if given["confirm_plan"] and given["confirm_plan"] != plan.plan_id:
        raise ContextError("plan-changed")
    met = met_by(call, plan)
    if not dry and not plan.refusal:
        if met is not None:
            return _met(call, plan, met)
        _need_somebody(ask)
        params = {"planId": plan.plan_id, "fit": bool(given["fit"]), "again": bool(given["again"])}
        return needing("activate", plain(plan_summary(plan)), "rebase.run", params)
    text = plan_text(call, plan)
    if given["show_handoff"]:
        text += "\n\nThe handoff, as the model would read it\n" + plain(handoff_shown(call, plan))
    status = {"status": "refused", "exitStatus": REFUSED, "code": plan.refusal} if plan.refusal else _OK
    return {"text": text, "answer": redact_value(answer_of(call, plan, met)), **status}


def _met(call: Call, plan: Plan, met: Earlier) -> Json:
    """Tell of the operation that is in the way, or of the one that has done it already."""
    rebase_outcome.tell_earlier(call, met, os.path.dirname(plan.file))
    assert isinstance(call.out, Captured)
    answer = call.out.kept
    return _as_line({"text": outcome_text(answer), "answer": answer})


def _need_somebody(ask: Ask) -> None:
    """Refuse where nobody can be asked."""
    if not ask.params.context.has_ui:
        raise ContextError("owner-act-required")


def _as_line(found: Json) -> Json:
    """Give the result of a method as that of a line."""
    answer = found["answer"]
    refused = {"status": "refused", "exitStatus": REFUSED, "code": answer.get("code")}
    return {"text": found["text"], "answer": answer, **(refused if "code" in answer else _OK)}


_OK = {"status": "ok", "exitStatus": 0}
