"""Decide which sessions, and which entries of them, a question may look into: the only maker of `AuthorisedScope`.

A scope is decided in two steps. First the files, so that the index can catch up with just these; then, on the index as
it is now, the entries. A refusal is one code and tells nothing about what exists.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw

from foundation.errors import ContextError
from foundation.settings import SCOPES, Values
from index.ancestors import Intervals, ancestry, is_ancestor, omitted_on, rid_of
from index.listing import SessionRow, sessions
from index.querying import AuthorisedScope, Part
from index.schema import CLASS_CODE, id_key
from privacy.classes import highest
from recall.here import Here
from recall.lineage import DEGRADED, UNVERIFIED, Lineage, lineage_of, parts_of
from sessions.entries import Header
from sessions.locating import LogFile, canonical, read_header, session_id

BRANCH, SESSION, LINEAGE, PROJECT, EVERYWHERE = SCOPES
PROJECT_WIDE = (PROJECT, EVERYWHERE)

EQUALS_BRANCH = "lineage-equals-branch"


class Sources(NamedTuple):
    """The files of a scope, the current session's first, then the newest first; `name` is the scope in effect.

    `project` is the canonical folder that all of them must name, None where any will do. With a `lineage` whether the
    branch comes through it is only known when its entries are; where it does not, the scope in effect is the branch.
    """

    name: str
    files: tuple[LogFile, ...]
    warnings: tuple[str, ...] = ()
    project: str | None = None
    lineage: Lineage | None = None

    def warnings_of(self, scope: str) -> tuple[str, ...]:
        """Give the warnings where this is the scope that came into effect."""
        return self.warnings if scope == self.name else (EQUALS_BRANCH,)


class Standing(NamedTuple):
    """How an entry stands to the live leaf: whether it is an ancestor, and whether a context edit took it out."""

    ancestor: bool
    edited: bool


class View(NamedTuple):
    """A scope on the index: what may be searched, the ancestors of the live leaf, and what a context edit took out.

    `edited` are the entries that are found all the same, with a label; in a branch they are no part of the scope.
    """

    scope: AuthorisedScope
    ancestors: Intervals
    edited: frozenset[int]

    def only(self, part: Part) -> "View":
        """Give the view of one of its sessions."""
        return self._replace(scope=self.scope._replace(parts=(part,)))

    def standing(self, rid: int) -> Standing:
        """Tell how an entry stands to the live leaf."""
        return Standing(is_ancestor(self.ancestors, rid), rid in self.edited)


def sources(here: Here, scope: str, db: apsw.Connection | None) -> Sources:
    """Choose the files of a scope. Raises ContextError where the scope is not allowed, or there is no session."""
    if scope == EVERYWHERE:
        if not here.owner:
            raise ContextError("owner-act-required")
        return Sources(scope, _ordered(here, _visible(here, here.files(), db)))
    if scope == PROJECT:
        return _project(here, db)
    if here.session is None:
        raise ContextError("no-session")
    return _lineage(here, here.session, db) if scope == LINEAGE else Sources(scope, (here.session,))


def authorise(here: Here, chosen: Sources, rows: Mapping[str, SessionRow], db: apsw.Connection) -> View:
    """Turn a scope's files into entries, as the index has them now. Raises ContextError with `entry-not-found`.

    Of a lineage the branch alone is left where it does not come through the handoff.
    """
    own = rows.get(here.session.path) if here.session else None
    leaf = _leaf(here, db, own) if own else None
    ancestors = ancestry(db, leaf) if leaf else ()
    edited = omitted_on(db, ancestors, own.sid) if own else ()
    if chosen.name in (BRANCH, LINEAGE):
        parts: tuple[Part, ...] = (Part(own.sid, leaf, own.newest),) if own and leaf else ()
        name, omitted = BRANCH, edited
        if chosen.lineage and own and _comes_through(db, chosen.lineage, own, ancestors):
            older, gone = parts_of(db, chosen.lineage, rows)
            name, parts, omitted = LINEAGE, (*parts, *older), (*edited, *gone)
        return View(AuthorisedScope(name, parts, omitted), ancestors, frozenset(edited))
    known = [rows[file.path] for file in chosen.files if file.path in rows]
    if chosen.name == PROJECT:  # the index may just have learnt that a file is another project's now
        known = [row for row in known if canonical(row.cwd) == here.project]
    whole = tuple(Part(row.sid, None, row.newest) for row in known)
    return View(AuthorisedScope(chosen.name, whole), ancestors, frozenset(edited))


def whole_sessions(parts: Sequence[Part]) -> AuthorisedScope:
    """Give the scope of the owner's own count over whole sessions of the project; no text comes out of it."""
    return AuthorisedScope(PROJECT, tuple(parts))


def relation(here: Here, path: str, scope: str, *, ancestor: bool) -> str:
    """Say how an entry of a session file stands to the current session and its live leaf, within a scope."""
    if here.session is None or path != here.session.path:
        return "lineage-ancestor" if scope == LINEAGE else "sibling-session"
    return "ancestor" if ancestor else "other-branch"


def _leaf(here: Here, db: apsw.Connection, own: SessionRow) -> int | None:
    """Give the live leaf of the current session: the one handed in, else the last entry of the file."""
    wanted = here.leaf or own.last_id
    found = rid_of(db, own.sid, id_key(wanted)) if wanted else None
    if found is None and here.leaf:
        raise ContextError("entry-not-found")
    return found


def class_filter(values: Values, allowed: Sequence[str]) -> tuple[str | None, ...]:
    """Give the classes that rows may carry for an audience; None stands for an entry without markers."""
    default = values["privacy.defaultClassification"]
    return tuple(name for name in CLASS_CODE if highest(default, name or default) in allowed)


def project_files(files: Sequence[LogFile], db: apsw.Connection | None, project: str) -> list[LogFile]:
    """Keep the files whose header names the project; `project` is canonical, and folder names count for nothing."""
    headers = _headers(db)
    cwds: dict[str, str] = {}
    kept = []
    for file in files:
        cwd = headers[file.path].cwd if file.path in headers else _cwd_of(file)
        if cwd and cwds.setdefault(cwd, canonical(cwd)) == project:
            kept.append(file)
    return kept


def _lineage(here: Here, session: LogFile, db: apsw.Connection | None) -> Sources:
    """Choose the session and its proved sources; of a session without any, or whose link does not hold, it alone."""
    try:
        found = lineage_of(here, session, db)
    except ContextError:
        return Sources(BRANCH, (session,), (UNVERIFIED,))
    if found is None:
        return Sources(BRANCH, (session,), (EQUALS_BRANCH,))
    files = (session, *(source.file for source in found.sources))
    warnings = (DEGRADED,) if found.verified < found.generations else ()
    return Sources(LINEAGE, files, warnings, found.project, found)


def _comes_through(db: apsw.Connection, lineage: Lineage, own: SessionRow, ancestors: Intervals) -> bool:
    handoff = rid_of(db, own.sid, id_key(lineage.handoff))
    return handoff is not None and is_ancestor(ancestors, handoff)


def _project(here: Here, db: apsw.Connection | None) -> Sources:
    if not here.values["historyTools.allowProjectScope"]:
        raise ContextError("project-scope-disabled")
    if not here.trusted():
        raise ContextError("project-not-trusted")
    ordered = _ordered(here, _visible(here, project_files(here.files(), db, here.project), db))
    most = here.values["historyTools.maxProjectSessions"]
    warnings = ("project-session-limit",) if len(ordered) > most else ()
    return Sources(PROJECT, ordered[:most], warnings, here.project)


def _visible(here: Here, files: Sequence[LogFile], db: apsw.Connection | None) -> list[LogFile]:
    """Leave out the sessions that the owner excluded or removed; the current one may always search itself."""
    headers = _headers(db)
    return [file for file in files if file.path == here.asking or not here.keeps_out(_id_of(file, headers))]


def _headers(db: apsw.Connection | None) -> dict[str, SessionRow]:
    return sessions(db) if db is not None else {}


def _id_of(file: LogFile, headers: Mapping[str, SessionRow]) -> str:
    return headers[file.path].id if file.path in headers else session_id(file.path, _header_of(file))


def _cwd_of(file: LogFile) -> str:
    found = _header_of(file)
    return found.cwd if found else ""


def _header_of(file: LogFile) -> Header | None:
    try:
        return read_header(file.path)
    except (ContextError, OSError):
        return None


def _ordered(here: Here, files: Sequence[LogFile]) -> tuple[LogFile, ...]:
    return tuple(sorted(files, key=lambda file: (file.path != here.asking, -file.stat.st_mtime_ns, file.path)))
