"""`pi-context session list`: the sessions of the project, newest first, from the index and the folders."""

import os
from collections.abc import Container, Mapping
from functools import partial

import apsw

from foundation.canonical import Json
from foundation.clock import iso, timer
from foundation.errors import ContextError
from foundation.texts import RawText
from index.fresh import bring_up_to_date, with_index
from index.listing import SessionRow, branches, sessions
from memory.visibility import Visibility
from pi_context import environment
from pi_context.call import Call
from pi_context.exclusions import excluded_sessions
from pi_context.output import plain
from pi_context.showing import day, size
from pi_context.surroundings import Surroundings
from privacy.redaction import redact
from recall.scope import project_files
from recall.searching import CATCH_UP_MS
from sessions.locating import LogFile, canonical, read_header, session_id


def list_sessions(call: Call) -> int:
    """List the sessions."""
    if call.words["all"]:
        call.around.require_owner()
    found = _sessions(call.around, of_all=bool(call.words["all"]))
    if call.out.json:
        call.out.answer({"sessions": found})
    elif found:
        _show(call, found)
    else:
        call.out.say("This project has no session yet.")
    return 0


def _show(call: Call, found: list[Json]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("session", "last used", "entries", "size", "branches"):
        table.add_column(name, no_wrap=True, justify="left" if name in ("session", "last used") else "right")
    table.add_column("name", overflow="fold")  # gives way where the terminal is narrow; an id must stay whole
    for row in found:
        told = plain(row.get("name", ""))
        if row.get("from"):
            how = "rebased from" if row.get("rebasedFrom") else "from"
            told += f"  ({how} {plain(row.get('rebasedFrom') or row['from'])})"
        rebased = row.get("rebasedTo", [])
        others = [name for name in row.get("to", []) if name not in rebased]
        for how, names in (("rebased to", rebased), ("continued in", others)):
            if names:
                told += f"  ({how} {plain(', '.join(names))})"
        style = "bold" if row["current"] else ""
        table.add_row(
            Text(plain(row["sessionId"]), style), day(row["lastUsed"]), str(row.get("entries", "?")),
            size(row["bytes"]), str(row.get("branches", "?")), Text(told.strip()),
        )  # fmt: skip
    call.out.draw(table)
    if any("entries" not in row for row in found):
        call.out.note("? is not indexed yet; run `pi-context index update`.")


def _sessions(around: Surroundings, *, of_all: bool) -> list[Json]:
    seen = around.visibility_everywhere if of_all else around.visibility
    if seen.closed:
        raise ContextError("ledger-unreadable")
    rows = with_index(around.own_folder, around.disk, partial(_rows, around, of_all))
    hidden = seen.hidden_sessions | (excluded_sessions(around.own_folder) if around.mark else frozenset())
    return [_visible(row, seen, hidden) for row in rows if row["sessionId"] not in hidden]


def _visible(row: Json, seen: Visibility, hidden: Container[str]) -> Json:
    """Mask the name of a session, and leave out what would name a hidden one."""
    shown = {name: value for name, value in row.items() if name not in ("from", "rebasedFrom") or value not in hidden}
    for name in ("to", "rebasedTo"):
        left = [each for each in shown.pop(name, []) if each not in hidden]
        shown |= {name: left} if left else {}
    if shown.get("name"):
        shown["name"] = seen.mask(redact(RawText(shown["name"])).text).text
    return shown


def _rows(around: Surroundings, of_all: bool, db: apsw.Connection | None, _warnings: tuple[str, ...]) -> list[Json]:
    chosen = around.files if of_all else project_files(around.files, db, canonical(around.project))
    known: Mapping[str, SessionRow] = {}
    counted: Mapping[int, int] = {}
    if db is not None:
        bring_up_to_date(db, chosen, expired=timer(environment.clock, CATCH_UP_MS), masks=around.masks)
        known, counted = sessions(db), branches(db)
    rows = [_row(around, file, known, counted) for file in chosen]
    if around.owner and around.audience.local:
        _add_rebases(around, rows)
    return rows


def _add_rebases(around: Surroundings, rows: list[Json]) -> None:
    """Tell the owner which sessions were rebased from which: those whose own link proves it."""
    continued = [row for row in rows if row.get("from")]
    if not continued:
        return
    from pi_context import rebases_seen

    known = {row["sessionId"]: row for row in rows}
    for row in continued:
        source = rebases_seen.rebased_from(around, row["file"])
        if source:
            row["rebasedFrom"] = source
            if source in known:
                known[source].setdefault("rebasedTo", []).append(row["sessionId"])


def _row(around: Surroundings, file: LogFile, known: Mapping[str, SessionRow], counted: Mapping[int, int]) -> Json:
    """Tell one session; a file that is not indexed yet only by what its folder says."""
    found = known.get(file.path)
    row: Json = {
        "sessionId": found.id if found else _id_of(file), "file": around.told_path(file.path),
        "bytes": file.stat.st_size, "lastUsed": iso(file.stat.st_mtime_ns // 1_000_000),
        "current": around.session is not None and around.session.path == file.path,
    }  # fmt: skip
    if found is None:
        return row
    ids = {each.path: each.id for each in known.values()}
    row |= {
        "name": found.name, "cwd": found.cwd, "entries": found.entries, "branches": counted.get(found.sid, 0),
    }  # fmt: skip
    if found.started is not None:
        row["started"] = iso(found.started)
    if found.active:
        row["lastUsed"] = iso(found.active)
    if found.parent:
        row["from"] = ids.get(os.path.realpath(found.parent), os.path.basename(found.parent))
    later = sorted(each.id for each in known.values() if each.parent and os.path.realpath(each.parent) == file.path)
    if later:
        row["to"] = later
    return row


def _id_of(file: LogFile) -> str:
    try:
        return session_id(file.path, read_header(file.path))
    except ContextError:
        return session_id(file.path, None)
