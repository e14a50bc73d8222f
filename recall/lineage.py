"""The sources of a rebased session, as far as a question may look into them.

Only files of the session's own project are offered for proof. What is proved is searched up to the leaf and within the
bytes that the rebase recorded: nothing that was appended later, none of the source's other branches.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple

import apsw

from index.ancestors import ancestry, last_within, omitted_on, rid_of
from index.listing import SessionRow, sessions
from index.querying import Part
from index.schema import id_key
from recall.descent import CHANGED, VERIFIED
from recall.here import Here
from sessions.kin import candidates, project_of
from sessions.locating import LogFile

UNVERIFIED, DEGRADED = "lineage-unverified", "lineage-degraded"


class Source(NamedTuple):
    """A proved source: its file, and the leaf and the first bytes that count."""

    file: LogFile
    leaf: str
    size: int


class Lineage(NamedTuple):
    """Where a session came from: the entry that its branch must pass, and the sources to search, the nearest first.

    `project` is the folder that all of them name; of `generations` in all, `verified` are what they were, and `changed`
    are the sessions that are there and are not. What the owner keeps out is in none of these.
    """

    handoff: str
    project: str
    sources: tuple[Source, ...]
    generations: int
    verified: int
    changed: frozenset[str]


def lineage_of(here: Here, session: LogFile, db: apsw.Connection | None) -> Lineage | None:
    """Prove where a session came from; None where it has no link. Raises ContextError where its link does not hold."""
    ids = {path: row.id for path, row in sessions(db).items()} if db is not None else {}
    descent = here.descend(
        session.path, lambda identity, name: candidates(session.path, identity, name, here.files, ids)
    )
    if descent is None:
        return None
    known = [found for found in descent.generations if not here.keeps_out(found.session_id)]
    found = {file.path: Source(file, one.leaf, one.size) for one in reversed(known) if (file := _file(one.file))}
    return Lineage(
        handoff=descent.handoff,
        project=project_of(session.path),
        sources=tuple(reversed(found.values())),
        generations=len(known),
        verified=sum(one.state == VERIFIED for one in known),
        changed=frozenset(one.session_id for one in known if one.state == CHANGED),
    )


def parts_of(
    db: apsw.Connection, lineage: Lineage, rows: Mapping[str, SessionRow]
) -> tuple[tuple[Part, ...], tuple[int, ...]]:
    """Give what the index has of the sources, and what context edits took out of their branches."""
    parts: list[Part] = []
    omitted: list[int] = []
    for source in lineage.sources:
        row = rows.get(source.file.path)
        if row is None:
            continue
        until = last_within(db, row.sid, source.size)
        leaf = rid_of(db, row.sid, id_key(source.leaf), until)
        if leaf is not None:
            parts.append(Part(row.sid, leaf, row.newest, until))
            omitted += omitted_on(db, ancestry(db, leaf, until), row.sid, until)
    return tuple(parts), tuple(omitted)


def _file(path: str) -> LogFile | None:
    try:
        return LogFile(path, os.stat(path)) if path else None
    except OSError:  # it went just now
        return None
