"""Read an entry back in full: what a reference stands for, verified and redacted whole, then paged.

The reference is asked again whether its scope still holds, under the scope, the exclusions and the removals as they
are now. Lines too long for the budget are paged too, by columns.
"""

import os
from functools import partial
from hashlib import sha256
from typing import NamedTuple, Unpack

import apsw

from foundation.canonical import UNITS_PER_TOKEN, Json, dumps, utf16_units
from foundation.clock import timer
from foundation.errors import ContextError
from foundation.texts import VisibleText
from index.ancestors import rid_at
from index.fresh import bring_up_to_date, with_index
from index.listing import sessions_at
from index.querying import holds
from index.sql import snapshot
from recall import wire
from recall.budget import ENVELOPE, shorter_id
from recall.evidence import Logs, Place, evidence
from recall.excerpts import longest_start, serialised
from recall.here import Here
from recall.references import Reference
from recall.request import AskedToRead, ReadRequest, read_request
from recall.scanning import omitted
from recall.scope import EVERYWHERE, PROJECT_WIDE, SESSION, Sources, Standing, authorise, relation, sources
from recall.searching import CATCH_UP_MS
from sessions.locating import LogFile
from sessions.tree import outline

_FAR = 1_000_000_000
_LEAST_ROOM = 80  # UTF-16 units of text, below which long ids must give way
_LINE_BREAK = "\\n"  # as it stands in JSON


class Page(NamedTuple):
    """A piece of a text: where it starts, and where the next one does; `next_line` 0 at the end."""

    text: str
    next_line: int
    next_column: int


class Found(NamedTuple):
    """How an entry that may be read stands to the live leaf, and the project that its log must name, None for any."""

    standing: Standing
    project: str | None


def read(here: Here, reference: str, **asked: Unpack[AskedToRead]) -> Json:
    """Answer a read with `context-history-read-v1`; a refusal or failure is an answer too, with its code."""
    try:
        request = read_request(here.values, reference, **asked)
        if not here.values["historyTools.enabled"]:
            raise ContextError("history-disabled")
        target = here.references.find(request.reference)
        if target is None or target.asking != here.asking:
            raise ContextError("reference-unavailable")
        if target.scope == EVERYWHERE and here.owner:
            here = here._replace(visibility=here.everywhere())
        found = with_index(here.index_folder, here.disk, partial(_authorised, here, target))
        return _read(here, request, target, found)
    except ContextError as error:
        return wire.unavailable(wire.READ, error.code)


def _read(here: Here, request: ReadRequest, target: Reference, found: Found) -> Json:
    place, standing = target.place, found.standing
    with Logs(found.project) as logs:
        raw = logs.line(place)
        seen = evidence(raw, place, here.gate)
    if seen is None:
        raise ContextError("privacy-omitted" if here.audience.local else "reference-unavailable")
    related = relation(here, place.path, target.scope, ancestor=standing.ancestor)
    fields = wire.entry_fields(request.reference, place, seen, relation=related, edited=standing.edited)
    answer = wire.reading(fields, start_line=request.start_line, digest=sha256(raw).hexdigest())
    room = _room(answer, request.budget)
    if room < _LEAST_ROOM:
        answer |= {name: shorter_id(answer[name]) for name in ("sessionId", "entryId")}
        room = _room(answer, request.budget)
    page = _page(seen.text, request, room)
    return wire.paged(answer, page.text, page.next_line, page.next_column)


def _authorised(here: Here, target: Reference, db: apsw.Connection | None, _warnings: tuple[str, ...]) -> Found:
    """Ask again whether an entry lies within the scope of its reference; say how it stands to the live leaf.

    Raises ContextError with `reference-unavailable`, `source-unavailable` or `source-changed`.
    """
    path = target.place.path
    try:
        chosen = sources(here, target.scope, db)
        file = next((file for file in chosen.files if file.path == path), None)
        if file is None:
            raise ContextError(_why_not(chosen, target.place))
        if here.session is None or path != here.session.path:
            if chosen.lineage and not _within_source(here, db, chosen, target.place):
                raise ContextError("reference-unavailable")
            return Found(Standing(ancestor=False, edited=False), chosen.project)  # every entry of another session
        standing = _within_session(here, db, chosen, file, target.place)
        if chosen.name not in (SESSION, *PROJECT_WIDE) and (standing.edited or not standing.ancestor):
            raise ContextError("reference-unavailable")
        return Found(standing, chosen.project)
    except ContextError as error:
        if error.code.startswith("source-"):
            raise
        raise ContextError("reference-unavailable") from error


def _why_not(chosen: Sources, place: Place) -> str:
    """Say why a file is in no scope any more: it is gone, it is not what was proved, or it may not be looked into."""
    if not os.path.exists(place.path):
        return "source-unavailable"
    changed = chosen.lineage is not None and place.session_id in chosen.lineage.changed
    return "source-changed" if changed else "reference-unavailable"


def _within_source(here: Here, db: apsw.Connection | None, chosen: Sources, place: Place) -> bool:
    """Tell whether an entry of a source lies within what the current branch comes from; the index has to know that."""
    if db is None:
        return False
    bring_up_to_date(db, chosen.files, expired=timer(here.clock, CATCH_UP_MS), masks=here.masks)
    with snapshot(db):
        rows = sessions_at(db, [file.path for file in chosen.files])
        row = rows.get(place.path)
        rid = rid_at(db, row.sid, place.id_key, place.offset) if row else None
        return rid is not None and holds(db, authorise(here, chosen, rows, db).scope, rid)


def _within_session(here: Here, db: apsw.Connection | None, chosen: Sources, file: LogFile, place: Place) -> Standing:
    """Tell how an entry of the current session stands to the live leaf."""
    expired = timer(here.clock, CATCH_UP_MS)
    if db is not None and not bring_up_to_date(db, [file], expired=expired, masks=here.masks).behind:
        with snapshot(db):
            rows = sessions_at(db, [file.path])
            rid = rid_at(db, rows[file.path].sid, place.id_key, place.offset) if rows else None
            if rid is not None:
                return authorise(here, chosen, rows, db).standing(rid)
    session = outline(file.path, leaf=here.leaf)  # the index does not have it: look at the log itself
    if all(node.offset != place.offset for node in session.entries):
        raise ContextError("source-changed")
    with Logs() as logs:
        path = {node.offset for node in session.path_to(session.leaf)}
        return Standing(place.offset in path, place.offset in omitted(logs, session, path))


def _room(answer: Json, budget: int) -> int:
    """Give the UTF-16 units that the text may take, once serialised."""
    return (budget - ENVELOPE) * UNITS_PER_TOKEN - utf16_units(dumps(wire.paged(answer, "", _FAR, _FAR)))


def _page(text: VisibleText, request: ReadRequest, room: int) -> Page:
    """Take as many lines as fit; of a line that does not fit alone, as many characters."""
    lines = text.split("\n")
    at, column = request.start_line - 1, request.start_column - 1
    if at >= len(lines) or column > len(lines[at]):
        raise ContextError("range-out-of-bounds")
    taken: list[str] = []
    for line in lines[at : at + request.most_lines]:
        rest = line[column:]
        size = serialised(rest) + (len(_LINE_BREAK) if taken else 0)
        if size > room:
            break
        taken.append(rest)
        room -= size
        column = 0
    if taken:
        ends = at + len(taken) >= len(lines)
        return Page("\n".join(taken), 0 if ends else at + len(taken) + 1, 0)
    piece = longest_start(lines[at][column:], room)
    return Page(piece, at + 1, column + len(piece) + 1)
