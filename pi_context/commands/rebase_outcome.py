"""How an operation ended, for a person and for a program: what is there now, and what to do next."""

import os
import shlex
from collections.abc import Sequence

from foundation.canonical import Json
from foundation.clock import iso
from foundation.errors import REFUSED, ContextError
from journal.lifecycle import Record, committed, standing
from journal.operations import Outcome, closing_error
from journal.places import Journal, operation_ids
from journal.reading import find
from pi_context.call import Call
from pi_context.commands import rebase_answer
from pi_context.commands.rebase_shown import WARNINGS
from pi_context.commands.rebase_typed import around, typed
from pi_context.output import plain
from rebase.facts import Facts, facts_of
from rebase.looking import find_source, find_target
from rebase.operation import ALREADY_REBASED, RECOVERABLE, Earlier
from rebase.plan import Plan
from rebase.steps import COURSE, is_newest
from recall import wire

VERIFIED, ABANDONED = "verified", "abandoned"
SOURCE_WENT_ON = "source-went-on"


def tell(call: Call, outcome: Outcome, folder: str, plan: Plan | None = None) -> int:
    """Tell how a run or a recovery ended, and give the exit status."""
    record, error = outcome
    status = _status(record, error)
    facts = facts_of(record)
    warnings = list(plan.warnings) if plan else []
    if status == VERIFIED and _went_on(folder, facts):
        warnings.append(SOURCE_WENT_ON)
    if call.out.json:
        known = rebase_answer.of_plan(call, plan) if plan else {}
        _answer(call, status, error, known | of_record(call, record, folder), warnings)
    elif status == VERIFIED:
        _say_verified(call, facts, folder, warnings)
    else:
        _say_failed(call, record, folder, error)
    return 0 if status == VERIFIED else REFUSED


def _went_on(folder: str, facts: Facts) -> bool:
    """Tell whether something was said in the source since; that its beginning is the same was just verified."""
    try:
        return os.path.getsize(os.path.join(folder, facts.source_file)) > facts.source_size
    except OSError:
        return False


def tell_earlier(call: Call, found: Earlier, folder: str) -> int:
    """Tell of the operation that stands in the way of another one."""
    record, facts = found.record, facts_of(found.record)
    done = found.status == ALREADY_REBASED
    if call.out.json:
        error = None if done else ContextError("operation-unfinished")
        _answer(call, found.status, error, of_record(call, record, folder), [])
    elif done:
        call.out.say("This session was rebased already, and nothing was added to it since. Nothing was done.")
        _say_ways(call, facts, folder)
        call.out.say("To make another one all the same:")
        call.out.say("  " + plain(typed(call, "--again", session=find_source(folder, facts).path)))
    else:
        _say_failed(call, record, folder, ContextError("operation-unfinished"))
    return 0 if done else REFUSED


def tell_interrupted(call: Call, journal: Journal, operation_id: str) -> None:
    """Tell a person how to end an operation that was interrupted, where it had begun."""
    if call.out.json or operation_id not in operation_ids(journal.folder):
        return
    record = find(journal, operation_id)
    if standing_of(record) == RECOVERABLE:
        _say_failed(call, record, os.path.dirname(journal.folder), ContextError("operation-unfinished"))


def tell_abandoned(call: Call, outcome: Outcome, folder: str) -> int:
    """Tell whether an operation was taken back."""
    record, error = outcome
    gone = record.closed and error is None
    if call.out.json:
        _answer(call, ABANDONED if gone else RECOVERABLE, error, of_record(call, record, folder), [])
    elif gone:
        call.out.say(f"The operation was taken back; {_left(record, folder)}, and the session is untouched.")
    else:
        _say_failed(call, record, folder, error)
    return 0 if gone else REFUSED


def of_record(call: Call, record: Record, folder: str) -> Json:
    """Give what the record of an operation says; where files lie is for the owner alone."""
    facts = facts_of(record)
    told: Json = {
        "operationId": record.operation_id,
        "phase": record.phase,
        "createdAt": iso(record.created_at),
        "attempts": record.attempt_count,
        "planId": facts.plan_id,
        "sourceSessionId": facts.source_session,
        "sourceBytes": facts.source_size,
        "sourceSha256": facts.source_sha256,
        "sourceLeaf": facts.leaf,
        "fitted": facts.fitted,
    }
    if not facts.target_file or record.closing:
        return told | {"targetFile": None}
    local = call.around.audience.local
    return told | {
        "checkpointTokens": facts.tokens,
        "targetSessionId": facts.target_session,
        "targetFile": os.path.join(folder, facts.target_file) if local else facts.target_file,
    }


def standing_of(record: Record) -> str:
    """Say in one word how an operation stands."""
    found = standing(COURSE, record)
    return {"finished": VERIFIED, "closed": "closed"}.get(found, RECOVERABLE)


def _status(record: Record, error: ContextError | None) -> str:
    if error is None and standing(COURSE, record) == "finished":
        return VERIFIED
    return RECOVERABLE if standing(COURSE, record) in ("open", "closing") else wire.UNAVAILABLE


def _answer(call: Call, status: str, error: ContextError | None, known: Json, warnings: Sequence[str]) -> None:
    told: Json = {"schema": rebase_answer.SCHEMA, "status": status}
    if error is not None:
        told |= {"code": error.code, "message": error.message, "hint": error.hint}
    call.out.answer(told | known | {"warnings": [*([error.code] if error else []), *warnings]})


def _say_verified(call: Call, facts: Facts, folder: str, warnings: Sequence[str]) -> None:
    out = call.out
    out.say(out.style(f"Rebased: the new session begins with {facts.tokens:,} tokens.", "bold", "green"))
    out.say("Read back from the disk and verified. Nothing in the old session was touched.")
    _say_ways(call, facts, folder)
    for warning in warnings:
        out.say(f"{out.style('Warning:', 'yellow')} {WARNINGS[warning]} [{warning}]")


def _say_ways(call: Call, facts: Facts, folder: str) -> None:
    source, target = find_source(folder, facts).path, os.path.join(folder, facts.target_file)
    search = typed(call, "--scope", "current-lineage", "QUERY", session=target, verb=("history", "search"))
    ways = [("open it", shlex.join(("pi", "--session", target)))]
    if is_newest(target) and not around(call):
        ways.append(("", "pi -c  (in the project's folder: it is the newest session there)"))
    ways += [("go back", shlex.join(("pi", "--session", source))), ("recall", search)]
    for name, command in ways:
        call.out.say(f"  {name:<8} {plain(command)}")


def _say_failed(call: Call, record: Record, folder: str, error: ContextError | None) -> None:
    out = call.out
    known = error or closing_error(record.closing)
    out.complain(f"{known.message} [{known.code}]")
    if known.hint:
        out.complain(known.hint)
    match standing(COURSE, record):
        case "finished":
            out.complain("Nothing was done.")
        case "closed":
            out.complain(f"Your session is untouched; {_left(record, folder)}.")
        case _:
            out.complain("Your session is untouched. The operation is kept; to end it:")
            for command in _ends(call, record, folder):
                out.complain("  " + plain(command))


def _left(record: Record, folder: str) -> str:
    """Say what is left of an operation that was closed: what somebody wrote to since is not ours to remove."""
    target = find_target(folder, facts_of(record))
    return (
        "nothing of the operation is left"
        if target.state == "missing"
        else f"its new session was left as it is: {plain(target.path)}"
    )


def _ends(call: Call, record: Record, folder: str) -> list[str]:
    """Give the commands that bring an unfinished operation to an end, the likeliest first."""
    found = find_source(folder, facts_of(record))
    session = found.path if found.state != "missing" else find_target(folder, facts_of(record)).path
    options = ["--recover"] if record.closing or committed(COURSE, record) else ["--recover", "--abandon"]
    return [typed(call, option, record.operation_id, session=session) for option in options]
