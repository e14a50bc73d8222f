"""The door's side of a rebase: what surrounds one command becomes what a plan takes.

Nothing here prints or writes, but for `signer`, which makes this installation's key on first use and is for real runs
alone. A dry run reads the key where a link has to be judged, and never makes one.
"""

import os
from collections.abc import Sequence
from functools import partial

from foundation.errors import ContextError
from journal.keys import Keys, judge, load_keys, own_keys, sign
from memory import visibility
from pi_context import environment, proofs
from pi_context.surroundings import Surroundings
from rebase.checkpoint import Origin
from rebase.gates import Standing, check_standing
from rebase.lineage import Locate
from rebase.plan import Plan, make_plan
from rebase.sealing import Signer, Verdict, Verify
from sessions import pi_files
from sessions.locating import Folders, LogFile, canonical, of_project, read_header, session_files, sessions

LINEAGE = "lineage"
"""What checkpoints and links are signed for; a journal's records are signed for something else."""


def verifier(around: Surroundings) -> Verify:
    """Give what judges checkpoints and links; the key is read when the first one is judged, and none is made."""
    known: list[Keys | None] = []

    def verify(data: bytes, key_id: str, mac: str) -> Verdict:
        if not known:
            known.append(load_keys(around.keys_folder))
        return judge(known[0], LINEAGE, data, key_id, mac)

    return verify


def signer(around: Surroundings) -> Signer:
    """Give what signs, with a key that is made now where there is none: never in a dry run."""
    keys = own_keys(around.keys_folder, around.disk, os.urandom)
    return Signer(keys.key_id, partial(sign, keys, LINEAGE))


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
    """Tell how things stand; `owner` tells whether this is an owner act or needs none. No Pi can be asked here."""
    return Standing(
        values=around.configuration.values,
        trusted=around.trusted,
        owner=owner,
        file=file.path if file else None,
        idle=True,
        modified=file.stat.st_mtime_ns // 1_000_000 if file else None,
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
