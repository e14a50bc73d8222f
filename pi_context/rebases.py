"""The door's side of planning a rebase: what surrounds one command becomes what a plan takes.

Nothing here prints or writes; this installation's key is read where a link has to be judged, and never made.
"""

import os
from collections.abc import Iterator

from foundation.errors import ContextError
from journal.keys import Verdict, load_keys
from pi_context import adoptions, environment, proofs
from pi_context.surroundings import Surroundings
from rebase.checkpoint import Origin
from rebase.gates import Standing, check_standing
from rebase.lineage import Locate
from rebase.plan import Plan, make_plan
from rebase.sealing import Verify
from sessions import pi_files
from sessions.kin import candidates
from sessions.locating import LogFile


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
    """Give what finds the sources of a session."""

    def locate(origin: Origin) -> Iterator[str]:
        return candidates(file, origin.sessionId, origin.file, lambda: around.files, {})

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
    visible = around.visibility
    if visible.closed:
        raise ContextError("ledger-unreadable")
    return make_plan(
        file,
        leaf=leaf,
        values=around.configuration.values,
        visibility=visible,
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
