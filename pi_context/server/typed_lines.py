"""A line that a person typed after `/context`, done as the shell would do it, and told without printing.

What only the owner may do is asked for first: the answer says what to agree to, and what to send then.
"""

from importlib import import_module

from foundation.canonical import Json
from foundation.errors import REFUSED, USAGE, ContextError
from pi_context.boundary import as_known
from pi_context.call import Call
from pi_context.captured import Captured
from pi_context.commands import history
from pi_context.output import plain
from pi_context.server import words as typed_words
from pi_context.server.around import InsidePi
from pi_context.server.methods import Ask
from pi_context.server.words import CHANGES, UsageError, in_pi
from pi_context.showing import day, first_words
from pi_context.verbs import Verb, Words, nothing_given
from recall import wire

_TITLE = 90


def command(ask: Ask) -> Json:
    """Do what a line says, and give what there is to show."""
    InsidePi(ask.state, ask.params.context).require_user()
    words = typed_words.split(ask.params.line)
    if not words:
        from pi_context.server.overview import overview

        found = overview(ask)
        return _told(0, found["text"], answer={name: value for name, value in found.items() if name != "text"})
    if words[0] in ("help", "--help", "-h"):
        return _told(0, typed_words.help_for(words[1:]))
    try:
        verb, given = typed_words.read(words)
    except UsageError as error:
        return _told(USAGE, plain(str(error)), code="usage")
    try:
        return _done(ask, verb, nothing_given(verb) | given)
    except Exception as error:
        known = as_known(error)
        if known.code == "internal-error":
            raise
        if known.code == "confirmation-required" and not ask.params.confirmed:
            return needing("confirm", f"Only you may do this: /context {plain(ask.params.line)}\nDo it?", "command",
                           {"line": ask.params.line})  # fmt: skip
        return _told(known.exit_status, refusal(known), code=known.code)


def needing(what: str, text: str, method: str, params: Json) -> Json:
    """Say that a person has to agree first, and what is to be sent then."""
    action = {"method": method, "params": params | {"confirmed": True}}
    return {"text": text, "status": "asks", "exitStatus": REFUSED, "code": "confirmation-required", "needs": what,
            "action": action}  # fmt: skip


def refusal(error: ContextError) -> str:
    """Say what happened and what to do next."""
    return plain(f"{error.message} [{error.code}]\n{in_pi(error.code, error.hint)}")


def call_of(ask: Ask, given: Words, *, confirmed: bool, as_json: bool = False) -> Call:
    """Make of a question from Pi the call that a command takes."""
    columns = getattr(ask.params, "columns", 100)
    around = InsidePi(ask.state, ask.params.context, given, confirmed=confirmed)
    return Call(around.words, around, Captured(around.words, columns=columns, as_json=as_json))


def _done(ask: Ask, verb: Verb, given: Words) -> Json:
    """Do a command: as the shell does, unless Pi has more to offer than a text."""
    if verb.words == ("rebase",) and not given["adopt"]:
        from pi_context.server.rebase_lines import rebase

        return rebase(ask, given)
    if verb.words == ("rebase",):
        given["yes"] = ask.params.confirmed
    if verb in CHANGES:
        from pi_context.server.memory_calls import typed

        return typed(ask, verb.does, given)
    if verb.words == ("memory", "remove") and not given["apply"] and given["confirm_plan"] is None:
        return _previewed(ask, given)
    call = call_of(ask, given, confirmed=ask.params.confirmed, as_json=bool(given["json"]))
    assert isinstance(call.out, Captured)
    if verb.words == ("history", "search"):
        return _searched(call, call.out)
    module, _, function = verb.does.partition(":")
    status = int(getattr(import_module(f"pi_context.commands.{module}"), function)(call))
    return _told(status, call.out.text, **({"answer": call.out.kept} if call.out.kept is not None else {}))


def _previewed(ask: Ask, given: Words) -> Json:
    """Show what a removal would do, and ask for it; a preview changes nothing, but nobody else may see it."""
    from pi_context.commands.memory_removal import remove

    if not ask.params.context.has_ui:
        raise ContextError("owner-act-required")
    shown = call_of(ask, given, confirmed=True)
    planned = call_of(ask, given | {"json": True}, confirmed=True, as_json=True)
    remove(shown), remove(planned)
    assert isinstance(shown.out, Captured)
    assert isinstance(planned.out, Captured)
    plan = planned.out.kept
    assert isinstance(plan, dict)
    if given["json"] or plan["items"][0]["already"]:
        return _told(0, shown.out.text, answer=plan)
    line = f"{ask.params.line} --confirm-plan {plan['planId']}"
    return needing("confirm", shown.out.text + "\nRemove it?", "command", {"line": line})


def _searched(call: Call, out: Captured) -> Json:
    """Search, and give the hits to choose from; a person who finds nothing learns whose eyes were meant."""
    answer = history.searched(call)
    status = history.give(call, wire.RESULT, lambda: answer, history.show_hits)
    if not answer["hits"] and not out.json and not call.around.audience.local:
        out.say(
            f"Only what {call.around.audience.provider or 'an unknown provider'} may receive was looked through; add"
        )
        out.say("--audience local to look through all of it, for your eyes alone.")
    code = {"code": answer["code"]} if "code" in answer else {}
    return _told(status, out.text, answer=answer, list=[_item(hit) for hit in answer["hits"]], **code)


def _item(hit: Json) -> Json:
    """Give a hit as a line to choose from."""
    who = hit.get("role") or hit["kind"]
    where = [who, day(hit.get("timestamp", "")), hit["relation"]]
    where += [hit["classification"]] if hit["classification"] != "normal" else []
    return {
        "title": first_words(hit["excerpt"], _TITLE),
        "subtitle": plain(" · ".join(filter(None, where))),
        "reference": hit["sourceRef"],
        "entryId": hit["entryId"],
        "sessionId": hit["sessionId"],
        "relation": hit["relation"],
        "classification": hit["classification"],
    }


def _told(status: int, text: str, **more: object) -> Json:
    named = {0: "ok", USAGE: "usage"}.get(status, "refused")
    return {"text": text, "status": named, "exitStatus": status, **more}
