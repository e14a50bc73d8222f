"""`pi-context rebase --list`, `--recover`, `--abandon` and `--adopt`: what earlier operations left."""

import os

from foundation.canonical import Json
from foundation.clock import iso
from foundation.errors import ContextError
from journal.lifecycle import Record
from journal.operations import adopt as adopt_record
from journal.reading import SetAside, find, listed
from journal.reading import read as read_record
from journal.writing import HeldJournal
from pi_context import adoptions, rebases
from pi_context.asking import agreed
from pi_context.call import Call
from pi_context.commands import rebase_answer
from pi_context.commands.rebase_outcome import of_record, standing_of, tell, tell_abandoned
from pi_context.output import plain
from pi_context.showing import day
from rebase import operation
from rebase.facts import facts_of
from rebase.lineage import Own, head_link
from rebase.sealing import Verdict


def list_operations(call: Call) -> int:
    """List all operations of the session folder, finished ones too."""
    folder = rebases.folder_of(call.around)
    rows = [row for found in listed(rebases.journal_in(call.around, folder)) if (row := _row(call, found, folder))]
    if call.out.json:
        call.out.answer({"schema": rebase_answer.SCHEMA, "operations": rows})
        return 0
    if not rows:
        call.out.say("There was no rebase in this session folder.")
        return 0
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("operation", "status", "phase", "begun", "failed", "target"):
        table.add_column(name, overflow="fold", justify="right" if name == "failed" else "left")
    for row in rows:
        target = os.path.basename(row.get("targetFile") or "")
        cells = (row["operationId"], row["status"], row.get("phase", ""), day(row.get("createdAt", "")),
                 str(row.get("attempts", "")), target)  # fmt: skip
        table.add_row(*(Text(plain(cell)) for cell in cells))
    call.out.draw(table)
    return 0


def recover(call: Call) -> int:
    """Bring an operation to its end: verified, or nothing visible. To do it again changes nothing."""
    around, operation_id = call.around, call.words["recover"]
    try:
        around.require_owner()
        folder = rebases.folder_of(around)
        with rebases.holding(around, folder) as held:
            signing = of_this_project(call, held, operation_id, folder)
            outcome = operation.recover(signing, rebases.site_of(around, signing, None), operation_id)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)
    return tell(call, outcome, folder)


def abandon(call: Call) -> int:
    """Take an operation back that has not taken effect."""
    around, operation_id = call.around, call.words["abandon"]
    try:
        around.require_owner()
        folder = rebases.folder_of(around)
        with rebases.holding(around, folder) as held:
            signing = of_this_project(call, held, operation_id, folder)
            agreed(call, "Take this operation back? Its new session is removed.")
            outcome = operation.abandon(signing, rebases.site_of(around, signing, None), operation_id)
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
        agreed(call, f"Trust this session as made by a rebase, signed by {_signer(own)}?" if seals else "Go on?")
        with rebases.holding(around, folder) as held:
            signing = rebases.signing(around, held)
            if seals:
                adoptions.adopt_seals(around.keys_folder, signing.keys, around.disk, seals)
            journal = _adopted_record(signing, own.checkpoint.operationId)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        return rebase_answer.refuse(call, error)
    if call.out.json:
        call.out.answer({
            "schema": rebase_answer.SCHEMA, "status": "adopted", "operationId": own.checkpoint.operationId,
            "targetFile": path, "adoptedSeals": len(seals), "journal": journal,
        })  # fmt: skip
    else:
        call.out.say("The session counts as rebased here now." if seals else "It counted already.")
    return 0


def _row(call: Call, found: Record | SetAside, folder: str) -> Json | None:
    """Tell of one operation; None where an agent may not hear of its sessions."""
    if isinstance(found, SetAside):
        return (
            {"operationId": found.operation_id, "status": "set-aside", "code": found.code}
            if call.around.owner
            else None
        )
    try:
        facts = facts_of(found)
    except ContextError as error:
        return {"operationId": found.operation_id, "status": "set-aside", "code": error.code}
    named = [os.path.join(folder, name) for name in (facts.source_file, facts.target_file) if name]
    if not any(map(call.around.may_be_named, named)):
        return None
    told = of_record(call, found, folder) | {"status": standing_of(found)}
    if found.closing:
        told["code"] = found.closing
    if found.attempts:
        told["lastAttempt"] = {"at": iso(found.attempts[-1].at), "code": found.attempts[-1].code}
    return told


def of_this_project(call: Call, held: HeldJournal, operation_id: str, folder: str) -> HeldJournal:
    """Give the journal to write to, where the operation is there and its sessions are of this project."""
    if held.journal.keys is None:
        find(held.journal, operation_id)  # what there is was signed elsewhere, and no key is made to say so
    signing = rebases.signing(call.around, held)
    rebases.check_project(call.around, folder, facts_of(find(signing.journal, operation_id)))
    return signing


def _seals(call: Call, path: str) -> tuple[Own, list[str]]:
    """Give the link of a target and the digests of those of its seals that do not count here yet.

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
    return own, seals


def _signer(own: Own) -> str:
    return f"key {own.checkpoint.keyId[:16]}"


def _adopted_record(held: HeldJournal, operation_id: str) -> str:
    """Take the operation's record over too, where only its signature is another's; say how it stands."""
    try:
        found = read_record(held.journal, operation_id)
    except ContextError:
        return "missing"
    if isinstance(found, SetAside) and found.claim is None:
        return found.code
    adopt_record(held, operation_id)
    return "adopted" if isinstance(found, SetAside) else "ours"
