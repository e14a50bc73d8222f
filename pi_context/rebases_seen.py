"""What of rebases may be told to whom: which operations are unfinished, and where a session was rebased from."""

import os

from foundation.errors import ContextError
from journal import lifecycle
from journal.reading import SetAside, listed
from pi_context.operations import journal_in
from pi_context.rebases import verifier
from pi_context.surroundings import Surroundings
from rebase.facts import Facts, facts_of
from rebase.lineage import head_link
from rebase.steps import COURSE
from sessions.kin import project_of
from sessions.locating import canonical


def unfinished(around: Surroundings, folder: str, *, of_all: bool = False) -> list[str]:
    """Give the ids of the operations in a session folder that were not brought to an end, oldest first.

    Of this project, unless `of_all`, and only those that may be spoken of. Raises ContextError `key-damaged`, OSError.
    """
    project = canonical(around.project)
    found: list[str] = []
    for record in listed(journal_in(around, folder)):
        if isinstance(record, SetAside) or lifecycle.standing(COURSE, record) not in ("open", "closing"):
            continue
        facts = facts_of(record)
        source = os.path.join(folder, facts.source_file)
        if may_be_told(around, folder, facts) and (of_all or project_of(source) in ("", project)):
            found.append(record.operation_id)
    return found


def may_be_told(around: Surroundings, folder: str, facts: Facts) -> bool:
    """Tell whether an operation may be spoken of: to an agent only where its sessions may be named."""
    if not around.mark:
        return True
    paths = [os.path.join(folder, name) for name in (facts.source_file, facts.target_file) if name]
    there = [path for path in paths if os.path.lexists(path)]
    return bool(there) and all(map(around.may_be_named, there))


def rebased_from(around: Surroundings, file: str) -> str:
    """Give the id of the session that a session was rebased from; empty where no link of its own proves that it was."""
    try:
        own = head_link(file, verifier(around))
    except (ContextError, OSError):
        return ""
    return own.checkpoint.source.sessionId if own else ""
