"""A rebase as an operation: begun from a plan, brought to its end after any crash, or taken back.

Whoever calls holds the journal; what an earlier operation left for the same source is asked for first.
"""

import os
from typing import NamedTuple

from foundation.durable import can_publish
from foundation.errors import ContextError
from journal import lifecycle, operations
from journal.lifecycle import Record
from journal.operations import Outcome
from journal.places import Journal
from journal.reading import SetAside, find, listed
from journal.writing import HeldJournal
from rebase.facts import Facts, facts_of, of_plan, versions
from rebase.looking import find_source, find_target
from rebase.plan import Plan
from rebase.steps import COURSE, Site, verify_target, work

RECOVERABLE, ALREADY_REBASED = "recoverable", "already-rebased"


class Earlier(NamedTuple):
    """An operation on the same source and leaf that stands in the way of another one, and in which of both ways."""

    record: Record
    status: str


def earlier(journal: Journal, plan: Plan, *, again: bool) -> Earlier | None:
    """Find an unfinished operation of this source and leaf, or unless `again`, one whose target still stands for it.

    An operation that may still take back its target stands in the way of rebasing that, too.
    """
    folder = os.path.dirname(journal.folder)
    finished: Earlier | None = None
    for record in listed(journal):
        facts = None if isinstance(record, SetAside) else _readable(record)
        if facts is None or isinstance(record, SetAside):
            continue
        same = facts.source_session == plan.source.sessionId and facts.leaf == plan.source.leafId
        match lifecycle.standing(COURSE, record):
            case "open" | "closing" if _may_go(record, facts, plan) or (same and not _spoilt(folder, record, facts)):
                return Earlier(record, RECOVERABLE)
            case "finished" if not again and (_is_target(facts, plan) or (same and _stands(folder, facts, plan))):
                finished = Earlier(record, ALREADY_REBASED)
            case _:
                pass
    return finished


def check_place(journal: HeldJournal) -> None:
    """Pass the last gate, before a key is made to sign with. Raises ContextError."""
    folder = journal.journal.folder
    if not os.access(os.path.dirname(folder), os.W_OK | os.X_OK):
        raise ContextError("permission-denied")
    if os.stat(folder).st_dev != os.stat(os.path.dirname(folder)).st_dev:
        raise ContextError("install-unsupported")  # what is tried out there says nothing about the sessions' disk
    can_publish(journal.disk, folder)


def begin(journal: HeldJournal, site: Site, plan: Plan, operation_id: str) -> Outcome:
    """Carry out a plan that has no refusal, after all gates.

    Raises ContextError and OSError where its intent could not be recorded for sure: then nothing, or an intent that
    can be recovered or abandoned, is left.
    """
    return operations.run(journal, operation_id, work(site), versions=versions(), facts=of_plan(plan))


def recover(journal: HeldJournal, site: Site, operation_id: str) -> Outcome:
    """Bring an operation to its end: verified, or nothing visible. One that was verified is looked at again.

    Raises ContextError: `operation-unknown`, the code of a record that does not count.
    """
    before = find(journal.journal, operation_id)
    outcome = operations.recover(journal, operation_id, work(site))
    if lifecycle.standing(COURSE, before) == "finished":
        try:
            verify_target(site, outcome.record)
        except ContextError as error:
            return Outcome(outcome.record, error)
    return outcome


def abandon(journal: HeldJournal, site: Site, operation_id: str) -> Outcome:
    """Take back an operation that has not been activated; one in whose target somebody went on is left alone.

    Raises what `check_abandonable` raises.
    """
    check_abandonable(journal.journal, operation_id)
    return operations.abandon(journal, operation_id, work(site))


def check_abandonable(journal: Journal, operation_id: str) -> Record:
    """Give the record of an operation that can be taken back, or was.

    Raises ContextError: `operation-committed`, `operation-unknown`, the code of a record that does not count.
    """
    record = find(journal, operation_id)
    target = find_target(os.path.dirname(journal.folder), facts_of(record))
    if not record.closing and (lifecycle.committed(COURSE, record) or target.state == "grown"):
        raise ContextError("operation-committed")
    return record


def _readable(record: Record) -> Facts | None:
    try:
        return facts_of(record)
    except ContextError:
        return None


def _is_target(facts: Facts, plan: Plan) -> bool:
    """Tell whether what is to be rebased is the target of an operation, and nothing was said in it since."""
    return (facts.target_size, facts.target_sha256) == (plan.source.size, plan.source.sha256)


def _may_go(record: Record, facts: Facts, plan: Plan) -> bool:
    """Tell whether what is to be rebased is the target of an operation that may still take it back."""
    return _is_target(facts, plan) and not lifecycle.committed(COURSE, record)


def _spoilt(folder: str, record: Record, facts: Facts) -> bool:
    """Tell whether an operation took effect and can never be verified, for its source was edited since.

    It can be neither finished nor taken back, so it stands in nobody's way.
    """
    return lifecycle.committed(COURSE, record) and find_source(folder, facts).state == "changed"


def _stands(folder: str, facts: Facts, plan: Plan) -> bool:
    """Tell whether the source is what was rebased then, and the target is still there."""
    same = facts.source_size == plan.source.size and facts.source_sha256 == plan.source.sha256
    return same and find_target(folder, facts).state in ("same", "grown")
