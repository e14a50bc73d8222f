"""The door's side of a rebase: what surrounds one command becomes what a plan takes.

Nothing here prints. Only what holds a journal writes; a dry run reads this installation's key where a link has to be
judged, and never makes one.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from foundation.errors import ContextError
from journal.keys import load_keys, own_keys, sign
from journal.places import Journal
from journal.writing import HeldJournal, locked
from memory import visibility
from pi_context import adoptions, environment, proofs
from pi_context.pending import JOURNAL
from pi_context.surroundings import Surroundings
from rebase.checkpoint import Origin
from rebase.facts import Facts
from rebase.gates import Standing, check_standing
from rebase.lineage import Locate
from rebase.looking import find_source, find_target
from rebase.plan import Plan, make_plan
from rebase.sealing import Signer, Verdict, Verify
from rebase.steps import COURSE, Site, make_newest
from sessions import pi_files
from sessions.locating import Folders, LogFile, canonical, of_project, read_header, session_files, sessions

LINEAGE = "lineage"
"""What checkpoints and links are signed for; a journal's records are signed for something else."""


def verifier(around: Surroundings) -> Verify:
    """Give what judges checkpoints and links; the key is read when the first one is judged, and none is made."""
    known: list[Verify] = []

    def verify(data: bytes, key_id: str, mac: str) -> Verdict:
        if not known:
            known.append(adoptions.counting(around.keys_folder, load_keys(around.keys_folder)))
        return known[0](data, key_id, mac)

    return verify


def source(around: Surroundings) -> LogFile | None:
    """Give the session that is to be rebased, by its canonical path; None where it has no file yet.

    Pi names the session it runs before it has written its file. Raises ContextError where one was named that is not
    there.
    """
    running = around.variables.get("PI_SESSION_FILE")
    if running and not around.words["session"]:
        path = pi_files.absolute(running, base=around.current_folder, home=around.home)
        if not os.path.lexists(path):
            return None
    return around.session


def standing(around: Surroundings, file: LogFile | None, *, owner: bool) -> Standing:
    """Tell how things stand; `owner` tells whether this is an owner act or needs none.

    Where Pi can be asked whether it is at rest, a session that changed just now is no reason to warn.
    """
    resting = around.at_rest() if file is not None else None
    return Standing(
        values=around.configuration.values,
        trusted=around.trusted,
        owner=owner,
        file=file.path if file else None,
        idle=resting is not False,
        modified=file.stat.st_mtime_ns // 1_000_000 if file and resting is None else None,
        now=environment.clock(),
    )


def checked(around: Surroundings, *, owner: bool) -> tuple[LogFile, list[str]]:
    """Pass the gates that the door answers: give the session and warnings; raises ContextError with the first code."""
    file = source(around)
    try:
        warnings = check_standing(standing(around, file, owner=owner))
    except ContextError as error:
        if error.code == "session-unsaved" and not around.variables.get("PI_SESSION_FILE"):
            raise ContextError("no-session") from error  # no Pi runs here that could be about to write one
        raise
    assert file is not None  # a gate
    return file, warnings


def locator(around: Surroundings, file: str) -> Locate:
    """Give what finds the sources of a session: files of its project by their ids, those beside it first.

    Of these the file with the name that the source had comes first. The headers are read when it is first asked.
    """
    known: dict[str, list[str]] = {}

    def locate(origin: Origin) -> Sequence[str]:
        if not known:
            for found in _of_its_project(around, file):
                known.setdefault(found[0], []).append(found[1])
        return sorted(known.get(origin.sessionId, ()), key=lambda path: not _is_named(path, file, origin.file))

    return locate


def plan_at(
    around: Surroundings,
    file: str,
    *,
    leaf: str | None,
    fitted: bool,
    size: int | None = None,
) -> Plan:
    """Plan the rebase of any session, the gates of the door passed or not needed; raises what `make_plan` raises."""
    return make_plan(
        file,
        leaf=leaf,
        values=around.configuration.values,
        visibility=visibility.load(),
        fitted=fitted,
        verify=verifier(around),
        locate=locator(around, file),
        proved=proofs.load(around),
        size=size,
    )


def planned(around: Surroundings, *, leaf: str | None, fitted: bool, owner: bool) -> Plan:
    """Plan the rebase of the current session, after all gates; its warnings are those of the gates too.

    `owner` tells whether this is an owner act or needs none, as a dry run. Raises ContextError with the code of the
    first gate that does not hold; a handoff over budget is told in the plan. Writes nothing.
    """
    file, warnings = checked(around, owner=owner)
    plan = plan_at(around, file.path, leaf=leaf, fitted=fitted)
    return plan._replace(warnings=(*warnings, *plan.warnings))


def _of_its_project(around: Surroundings, file: str) -> list[tuple[str, str]]:
    """Give id and path of the sessions of the same project, those in the same folder first."""
    beside = session_files(Folders((os.path.dirname(file),), flat=True))
    near = {found.path for found in beside}
    others = [found for found in around.files if found.path not in near]
    project = canonical(read_header(file).cwd)
    return [(found.header.id, found.file.path) for found in of_project(sessions([*beside, *others]), project)]


def _is_named(path: str, beside: str, name: str) -> bool:
    return path == os.path.join(os.path.dirname(beside), name)


# --- operations -----------------------------------------------------------------------------------------------------


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
        if found.state != "missing" and project_of(found.path) not in (None, canonical(around.project)):
            raise ContextError("other-project")


def project_of(path: str) -> str | None:
    """Give the project of a session; None where it is no session any more, which the steps of an operation find too."""
    try:
        return canonical(read_header(path).cwd)
    except ContextError:
        return None
