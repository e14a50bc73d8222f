"""The door's side of carrying a rebase out: the journal of a session folder, and what the steps take."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from foundation.errors import ContextError
from journal.keys import load_keys, own_keys, sign
from journal.places import Journal
from journal.writing import HeldJournal, locked
from pi_context import environment
from pi_context.pending import JOURNAL
from pi_context.rebases import plan_at, verifier
from pi_context.surroundings import Surroundings
from rebase.facts import Facts
from rebase.looking import find_source, find_target
from rebase.plan import Plan
from rebase.sealing import LINEAGE, Signer
from rebase.steps import COURSE, Site, make_newest
from sessions.kin import project_of
from sessions.locating import canonical


def folder_of(around: Surroundings) -> str:
    """Give the folder whose journal is meant: that of the current session. Raises ContextError `no-session`."""
    if around.session is None:
        raise ContextError("no-session")
    return os.path.dirname(around.session.path)


def journal_in(around: Surroundings, folder: str) -> Journal:
    """Give the journal of a session folder to read; no key is made for that."""
    return Journal(os.path.join(folder, JOURNAL), COURSE, load_keys(around.keys_folder))


@contextmanager
def holding(around: Surroundings, folder: str) -> Iterator[HeldJournal]:
    """Hold the journal of a session folder. Raises BusyError, code `rebase-busy`."""
    journal = journal_in(around, folder)
    with locked(journal, disk=around.disk, clock=environment.clock, pid=os.getpid(), busy="rebase-busy") as held:
        yield held._replace(journal=journal_in(around, folder))  # whoever held it before may have made the key


def signing(around: Surroundings, held: HeldJournal) -> HeldJournal:
    """Give a held journal with this installation's key, which is made now where there is none."""
    return held.signing(own_keys(around.keys_folder, around.disk, os.urandom))


def new_operation_id() -> str:
    """Give an id that no other operation has."""
    return f"rebase_{os.urandom(16).hex()}"


def site_of(around: Surroundings, held: HeldJournal, plan: Plan | None) -> Site:
    """Give what the steps of an operation work with; without a plan they finish one that was begun before."""
    folder = os.path.dirname(held.journal.folder)

    def again(facts: Facts, source: str) -> Plan:
        if plan is not None:
            return plan
        return plan_at(around, source, leaf=facts.leaf, fitted=facts.fitted, size=facts.source_size)

    def activate(target: str, source: str) -> None:
        make_newest(around.disk, target, source, now_ns=environment.clock() * 1_000_000)

    return Site(
        folder=folder,
        disk=around.disk,
        signer=Signer(held.keys.key_id, partial(sign, held.keys, LINEAGE)),
        verify=verifier(around),
        replan=again,
        activate=activate,
        recovering=plan is None,
    )


def check_project(around: Surroundings, folder: str, facts: Facts) -> None:
    """Refuse an operation whose sessions are of another project; raises ContextError `other-project`."""
    for found in (find_target(folder, facts), find_source(folder, facts)):
        if found.state != "missing" and project_of(found.path) not in ("", canonical(around.project)):
            raise ContextError("other-project")
