"""`pi-context rebase --list`, `--recover`, `--abandon` and `--adopt`: what earlier operations left."""

import os

from foundation.canonical import Json
from foundation.clock import iso
from foundation.errors import ContextError
from journal.keys import Verdict
from journal.lifecycle import Record
from journal.operations import adopt as adopt_record
from journal.places import Journal
from journal.reading import SetAside, find, listed
from journal.reading import read as read_record
from pi_context import adoptions, operations, rebases, rebases_seen
from pi_context.asking import agreed
from pi_context.call import Call
from pi_context.commands import rebase_answer
from pi_context.commands.rebase_outcome import VERIFIED, of_record, standing_of, tell, tell_abandoned
from pi_context.output import plain
from pi_context.showing import day
from rebase import operation
from rebase.facts import facts_of
from rebase.lineage import MISSING, Own, generations, head_link, sourceless
from rebase.operation import RECOVERABLE

ADOPTED, ADOPTABLE, SET_ASIDE = "adopted", "adoptable", "set-aside"

_STANDINGS = {RECOVERABLE: "to be finished", "closed": "taken back", SET_ASIDE: "set aside"}


def list_operations(call: Call) -> int:
    """List all operations of the session folder, finished ones too."""
    try:
        folder = operations.folder_of(call.around)
        found = listed(operations.journal_in(call.around, folder))
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)
    rows = [row for each in found if (row := _row(call, each, folder))]
    if call.out.json:
        call.out.answer({"schema": rebase_answer.SCHEMA, "operations": rows})
        return 0
    for row in rows:
        _say(call, row)
    if not rows:
        call.out.say("There was no rebase in this session folder.")
    return 0


def recover(call: Call) -> int:
    """Bring an operation to its end: verified, or nothing visible. To do it again changes nothing."""
    around, operation_id = call.around, call.words["recover"]
    try:
        rebases.checked(around, owner=around.owner)
        folder = folder_with(call, operation_id)
        with operations.holding(around, folder) as held:
            signing = operations.signing(around, held)
            outcome = operation.recover(signing, operations.site_of(around, signing, None), operation_id)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)
    return tell(call, outcome, folder)


def abandon(call: Call) -> int:
    """Take an operation back that has not taken effect."""
    around, operation_id = call.around, call.words["abandon"]
    try:
        folder = folder_with(call, operation_id)
        if not operation.check_abandonable(operations.journal_in(around, folder), operation_id).closed:
            agreed(call, "Take this operation back? The session that it was making is removed.")
        with operations.holding(around, folder) as held:
            signing = operations.signing(around, held)
            outcome = operation.abandon(signing, operations.site_of(around, signing, None), operation_id)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)
    return tell_abandoned(call, outcome, folder)


def adopt(call: Call) -> int:
    """Let a rebased session count here that bears another installation's seals, or none; the owner has looked at it."""
    around = call.around
    try:
        around.require_owner()
        path = around.other_session(call.words["adopt"]).path
        folder = os.path.dirname(path)
        own, seals = _seals(call, path)
        journal = _record_state(operations.journal_in(around, folder), own.checkpoint.operationId)
        if seals or journal == ADOPTABLE:
            agreed(call, f"Trust this session as made by a rebase, signed by key {plain(own.checkpoint.keyId[:16])}?")
            journal = _adopt(call, folder, own, seals)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)
    if call.out.json:
        told: Json = {"schema": rebase_answer.SCHEMA, "status": ADOPTED, "operationId": own.checkpoint.operationId}
        call.out.answer(told | {"targetFile": path, "adoptedSeals": len(seals), "journal": journal})
    elif seals or journal == ADOPTED:
        call.out.say("The session counts as rebased here from now on.")
    else:
        call.out.say("The session counts already; nothing was done.")
    return 0


def _say(call: Call, row: Json) -> None:
    """Tell a person of one operation: its id whole, so that it can be copied, how it stands, and what it made."""
    told = [day(row["createdAt"])] if "createdAt" in row else []
    told.append(str(_STANDINGS.get(row["status"], row["status"])))
    if row["status"] == RECOVERABLE:
        told.append(f"after {row['phase']}")
    if row.get("attempts"):
        told.append(f"failed {row['attempts']} times, last {row['lastAttempt']['code']}")
    if row.get("code"):
        told.append(row["code"])
    call.out.say(f"{call.out.style(plain(row['operationId']), 'bold')}  {plain(', '.join(told))}")
    if row.get("targetFile"):
        call.out.say(f"  {plain(os.path.basename(row['targetFile']))}")


def _row(call: Call, found: Record | SetAside, folder: str) -> Json | None:
    """Tell of one operation; None where an agent may not hear of its sessions."""
    if isinstance(found, SetAside):
        return _set_aside(call, found.operation_id, found.code)
    try:
        facts = facts_of(found)
    except ContextError as error:
        return _set_aside(call, found.operation_id, error.code)
    if not rebases_seen.may_be_told(call.around, folder, facts):
        return None
    told = of_record(call, found, folder) | {"status": standing_of(found)}
    if found.closing:
        told["code"] = found.closing
    elif told["status"] == VERIFIED and not os.path.lexists(os.path.join(folder, facts.target_file)):
        told["code"] = "target-missing"
    if found.attempts:
        told["lastAttempt"] = {"at": iso(found.attempts[-1].at), "code": found.attempts[-1].code}
    return told


def _set_aside(call: Call, operation_id: str, code: str) -> Json | None:
    """Tell the owner of a record that does not count; nobody can say whose it is."""
    return {"operationId": operation_id, "status": SET_ASIDE, "code": code} if call.around.owner else None


def folder_with(call: Call, operation_id: str) -> str:
    """Give the folder that has an operation of this project, for its owner; nothing is made to say that it has not."""
    call.around.require_owner()
    folder = operations.folder_of(call.around)
    record = find(operations.journal_in(call.around, folder), operation_id)
    operations.check_project(call.around, folder, facts_of(record))
    return folder


def _seals(call: Call, path: str) -> tuple[Own, list[str]]:
    """Give the link of a target and the digests of what does not count here yet: its seals, or that its source is gone.

    Link, checkpoint and handoff must agree all the same, and a seal of our own key must hold.
    """
    counts = rebases.verifier(call.around)
    seals: list[str] = []

    def verify(data: bytes, key_id: str, mac: str) -> Verdict:
        verdict = counts(data, key_id, mac)
        if verdict in ("foreign", "unsigned"):
            seals.append(adoptions.seal_of(data))
            return "good"
        return verdict

    own = head_link(path, verify)
    if own is None:
        raise ContextError("not-rebased")
    nearest = generations(own.origins[:1], rebases.locator(call.around, path), {}).generations
    if nearest[0].state == MISSING and counts(sourceless(own), "", "") != "good":
        seals.append(adoptions.seal_of(sourceless(own)))  # it is gone for good, and the owner knows
    return own, seals


def _adopt(call: Call, folder: str, own: Own, seals: list[str]) -> str:
    """Make seals count here, and the record of the operation; say how that stands now."""
    around, operation_id = call.around, own.checkpoint.operationId
    with operations.holding(around, folder) as held:
        signing = operations.signing(around, held)
        if seals:
            adoptions.adopt_seals(around.keys_folder, signing.keys, around.disk, seals)
        state = _record_state(signing.journal, operation_id)
        if state != ADOPTABLE:
            return state
        adopt_record(signing, operation_id)
        return ADOPTED


def _record_state(journal: Journal, operation_id: str) -> str:
    """Say how the record of an operation stands: `ours`, `missing`, `adoptable`, or the code of one that is neither."""
    try:
        found = read_record(journal, operation_id)
    except ContextError:
        return "missing"
    if isinstance(found, SetAside):
        return found.code if found.claim is None else ADOPTABLE
    return "ours"
