"""A rebase inside the running Pi: this process holds the lock, Pi is asked to stand still and then to switch.

What is refused is an answer like any other, in the shape that the shell gives. Activation counts only when Pi says,
from its fresh context, that it now has the very file that was made.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

from foundation.canonical import Json
from foundation.errors import ContextError
from journal.lifecycle import Record
from journal.operations import Outcome
from pi_context import environment, operations, rebases
from pi_context.call import Call
from pi_context.captured import Captured
from pi_context.commands import rebase_answer, rebase_operations, rebase_outcome
from pi_context.commands.rebase_preview import answer_of, looked_at
from pi_context.server.around import InsidePi
from pi_context.server.live_text import outcome_text, plan_text, refusal_text
from pi_context.server.methods import Ask
from pi_context.server.overview import estimated
from pi_context.server.protocol import Switched
from pi_context.server.typed_lines import call_of
from pi_context.verbs import VERBS, Words, nothing_given
from privacy.redaction import redact_value
from rebase import operation
from rebase.facts import facts_of
from rebase.lineage import VERIFIED, generations, head_link
from rebase.looking import find_source
from rebase.operation import Earlier
from rebase.plan import Plan
from rebase.steps import Site, make_newest
from sessions.context import resolve
from sessions.locating import canonical, read_header

_SWITCH_SECONDS = 300.0
_WIDE = 160  # an operation's id stays on one line
_REBASE = next(verb for verb in VERBS if verb.words == ("rebase",))


def run(ask: Ask) -> Json:
    """Carry out a plan that a person agreed to, and let Pi switch to the new session."""
    return _answered(ask, {"fit": ask.params.fit, "again": ask.params.again}, lambda call: _run(ask, call))


def recover(ask: Ask) -> Json:
    """Bring an operation to its end; where its target is not active yet, Pi is asked to switch to it."""

    def recovered(call: Call) -> Json:
        around, identity = _owner(call), ask.params.operation_id
        folder = rebase_operations.folder_with(call, identity)
        with operations.holding(around, folder) as held:
            signing = operations.signing(around, held)
            site = _Live(ask, around, identity).site(operations.site_of(around, signing, None))
            outcome = operation.recover(signing, site, identity)
        return _ended(call, outcome, folder)

    return _answered(ask, {"recover": ask.params.operation_id}, recovered)


def abandon(ask: Ask) -> Json:
    """Take an operation back that has not taken effect."""

    def abandoned(call: Call) -> Json:
        around, identity = _owner(call), ask.params.operation_id
        folder = rebase_operations.folder_with(call, identity)
        with operations.holding(around, folder) as held:
            signing = operations.signing(around, held)
            outcome = operation.abandon(signing, operations.site_of(around, signing, None), identity)
        rebase_outcome.tell_abandoned(call, outcome, folder)
        answer = _kept(call)
        return {"answer": answer, "text": outcome_text(answer)}

    return _answered(ask, {"abandon": ask.params.operation_id}, abandoned)


def list_operations(ask: Ask) -> Json:
    """List all operations of the session folder."""

    def listed(call: Call) -> Json:
        rebase_operations.list_operations(call)
        answer = _kept(call)
        shown = Call(call.words, call.around, Captured(call.words, columns=_WIDE))
        rebase_operations.list_operations(shown)
        return {"answer": answer, "text": shown.out.text if isinstance(shown.out, Captured) else ""}

    return _answered(ask, {"list": True}, listed)


def back(ask: Ask) -> Json:
    """Give the session that the current one was made from, proved byte by byte."""

    def source(call: Call) -> Json:
        around = call.around
        if around.session is None:
            raise ContextError("no-session")
        own = head_link(around.session.path, rebases.verifier(around))
        if own is None:
            raise ContextError("not-rebased")
        locate = rebases.locator(around, around.session.path)
        nearest = generations(own.origins[:1], locate, {}).generations[0]
        if nearest.state != VERIFIED:
            raise ContextError("lineage-unverified", "The session that this one continues is gone or was changed.")
        told = {"file": nearest.file, "sessionId": nearest.origin.sessionId}
        return {"source": told, "text": "Back to the session that this one was made from; both stay as they are."}

    return _answered(ask, {}, source)


class _Live(NamedTuple):
    """The side of an operation that Pi is on."""

    ask: Ask
    around: InsidePi
    operation_id: str

    def site(self, site: Site) -> Site:
        """Let Pi activate, and be asked what stands against going on."""
        leaf = not site.recovering
        return site._replace(activate=self._activate, obstacle=lambda: self._obstacle(leaf=leaf))

    def _obstacle(self, *, leaf: bool) -> str:
        return self.ask.stop.reason or self.around.obstacle(leaf=leaf)

    def _activate(self, target: str, source: str) -> None:
        """Let Pi switch, unless it has; raises ContextError with what came of it."""
        pi, identity = self.around.pi, read_header(target).id
        if canonical(pi.session_file or "") != canonical(target):
            asked = {
                "operationId": self.operation_id, "targetFile": target, "targetSessionId": identity,
                "sourceFile": source,
            }  # fmt: skip
            given = self.ask.state.client.ask("activate", asked, Switched, seconds=_SWITCH_SECONDS)
            if not given.ok:
                raise ContextError("activation-cancelled" if given.reason == "cancelled" else "activation-failed")
            if canonical(given.session_file or "") != canonical(target) or given.session_id != identity:
                raise ContextError("activation-failed", "Pi has another session than the one that was made.")
        make_newest(self.around.disk, target, source, now_ns=environment.clock() * 1_000_000)


def _run(ask: Ask, call: Call) -> Json:
    around = _owner(call)
    file, _ = rebases.checked(around, owner=True)
    folder = os.path.dirname(file.path)
    with operations.holding(around, folder) as held:
        found = looked_at(call)
        if found.refusal:
            return {"answer": _shown(call, found, None), "text": plan_text(call, found)}
        before = operation.earlier(held.journal, found, again=bool(call.words["again"]))
        if before is not None:
            rebase_outcome.tell_earlier(call, before, folder)
            answer = _kept(call)
            return {"answer": answer, "text": outcome_text(answer)} | _files(before.record, folder)
        if found.plan_id != ask.params.plan_id:
            raise ContextError("plan-changed")
        operation.check_place(held)
        signing = operations.signing(around, held)
        identity = operations.new_operation_id()
        site = _Live(ask, around, identity).site(operations.site_of(around, signing, found))
        outcome = operation.begin(signing, site, found, identity)
    window = ask.params.window_tokens or estimated(resolve(found.file, leaf=found.source.leafId))
    return _ended(call, outcome, folder, found, window)


def _ended(
    call: Call, outcome: Outcome, folder: str, plan: Plan | None = None, window_tokens: int | None = None
) -> Json:
    rebase_outcome.tell(call, outcome, folder, plan)
    answer = _kept(call)
    told: Json = {"answer": answer, "text": outcome_text(answer, window_tokens)}
    return told | (_files(outcome.record, folder) if answer["status"] == rebase_outcome.VERIFIED else {})


def _files(record: Record, folder: str) -> Json:
    """Tell Pi which files an operation is about; it needs whole paths, whoever the audience is."""
    facts = facts_of(record)
    told: Json = {"source": {"file": find_source(folder, facts).path, "sessionId": facts.source_session}}
    if facts.target_file:
        target = os.path.join(folder, facts.target_file)
        told["target"] = {"file": target, "sessionId": facts.target_session}
    return told


def _answered(ask: Ask, given: Words, do: Callable[[Call], Json]) -> Json:
    """Do something about a rebase for a person; a refusal is an answer in the same shape."""
    confirmed = bool(getattr(ask.params, "confirmed", False))
    call = call_of(ask, nothing_given(_REBASE) | given, confirmed=confirmed, as_json=True)
    try:
        _around(call).require_user()
        return do(call)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw is raised again
        rebase_answer.refuse(call, error)
        answer = _kept(call)
        return {"answer": answer, "text": refusal_text(answer)}


def _shown(call: Call, found: Plan, met: Earlier | None) -> Json:
    safe = redact_value(answer_of(call, found, met))
    assert isinstance(safe, dict)
    return safe


def _kept(call: Call) -> Json:
    """Give what was told as JSON."""
    assert isinstance(call.out, Captured)
    kept = call.out.kept
    assert isinstance(kept, dict)
    return kept


def _around(call: Call) -> InsidePi:
    assert isinstance(call.around, InsidePi)
    return call.around


def _owner(call: Call) -> InsidePi:
    around = _around(call)
    around.require_owner()
    return around
