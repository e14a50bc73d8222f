"""Where session logs lie, whose they are, and which one is meant.

Folder names are lossy and a file's name is free: the header of a file alone says its id and its project. Nothing here
waits on a pipe or fails over one bad file; the environment and the home folder come from the door.
"""

import os
import stat
from collections.abc import Container, Iterable, Iterator
from typing import BinaryIO, NamedTuple

from foundation.canonical import dumps
from foundation.errors import ContextError
from sessions import pi_files
from sessions.entries import Header, header
from sessions.reading import open_log, records

_HEADER_RECORDS = 64
_HEADER_BYTES = 1 << 20
_HEADER_BUFFER = 4096
_MOST_CANDIDATES, _LONGEST_SHOWN = 5, 80
_CHUNK = 1 << 20


class Folders(NamedTuple):
    """The folders that hold session logs directly; `flat` where all projects share one."""

    paths: tuple[str, ...]
    flat: bool


class LogFile(NamedTuple):
    """A session log by its canonical path; `stat` is that of the file itself, behind any link."""

    path: str
    stat: os.stat_result


class Session(NamedTuple):
    """A session log whose header was read."""

    file: LogFile
    header: Header


def session_folders(*, agent_dir: str, override: str | None, cwd: str, home: str) -> Folders:
    """Find the folders in Pi's order: an override by option or environment, then Pi's `sessionDir`, then its own.

    Pi reads `sessionDir` of the project before it asks for trust, and the project's wins over the global one. A
    relative folder starts at `cwd`.
    """
    wanted = override
    if not wanted:
        project = pi_files.settings(os.path.join(cwd, pi_files.PROJECT_FOLDER))
        wanted = {**pi_files.settings(agent_dir), **project}.get("sessionDir")
    if isinstance(wanted, str) and wanted:
        return Folders((pi_files.absolute(wanted, base=cwd, home=home),), flat=True)
    root = os.path.join(pi_files.absolute(agent_dir, base=cwd, home=home), "sessions")
    return Folders(tuple(sorted(_subfolders(root))), flat=False)


def session_files(folders: Folders) -> list[LogFile]:
    """List the `*.jsonl` files, each once however many links lead to it, the most recently written first."""
    found: list[LogFile] = []
    seen: set[tuple[int, int]] = set()
    for folder in map(pi_files.real, folders.paths):
        for item in _listed(folder):
            if not item.name.endswith(".jsonl"):
                continue
            try:
                known = os.stat(item.path) if os.name == "nt" else item.stat()  # on Windows the list lacks numbers
            except OSError:
                continue
            identity = (known.st_dev, known.st_ino)
            if not stat.S_ISREG(known.st_mode) or (identity in seen and known.st_ino):
                continue
            seen.add(identity)
            found.append(LogFile(pi_files.real(item.path) if item.is_symlink() else item.path, known))
    return sorted(found, key=_recency)


def read_header(path: str) -> Header:
    """Read the header of a session log, and no more of the file than that takes.

    Garbage, blank lines and records of another kind before it are passed over, up to 64 records or a megabyte; the
    header itself may be as long as any record. Raises ContextError with `not-a-session` and what `open_log` raises.
    """
    with open_log(path, buffering=_HEADER_BUFFER) as log:
        found = header_in(log)
    if found is None:
        raise ContextError("not-a-session")
    return found


def header_in(log: BinaryIO) -> Header | None:
    """Give the header of an open session log, by the same rule; None where there is none."""
    for number, record in enumerate(records(log)):
        found = header(record.value) if record.value else None
        if found or number >= _HEADER_RECORDS or record.offset + record.length > _HEADER_BYTES:
            return found
    return None


def session_id(path: str, found: Header | None) -> str:
    """Give the id of a session: its header's, or the name of a file that has no header."""
    return found.id if found else os.path.basename(path).removesuffix(".jsonl")


def sessions(files: Iterable[LogFile]) -> Iterator[Session]:
    """Read the headers of files in turn; those that are no session or cannot be read are passed over."""
    for file in files:
        try:
            found = read_header(file.path)
        except (ContextError, OSError):
            continue
        yield Session(file, found)


def canonical(cwd: str) -> str:
    """Give a folder the one name that it is compared by: links resolved as far as it exists, else only tidied.

    Empty for a path that is not absolute, which equals nothing. A Windows path is compared without case, wherever
    the log is read.
    """
    if ("\\" in cwd or cwd[1:3] == ":/") and os.name != "nt":
        import ntpath

        if ntpath.splitdrive(cwd)[0]:
            return ntpath.normcase(ntpath.normpath(cwd))
    if not os.path.isabs(cwd) or "\0" in cwd or len(cwd) > pi_files.LONGEST_PATH:
        return ""
    return os.path.normcase(pi_files.real(cwd))


def of_project(found: Iterable[Session], cwd: str) -> Iterator[Session]:
    """Keep the sessions whose header names this folder, whatever the folder that they lie in is called."""
    names: dict[str, str] = {}
    wanted = canonical(cwd)
    for session in found:
        recorded = session.header.cwd
        if recorded not in names:
            names[recorded] = canonical(recorded)
        if wanted and names[recorded] == wanted:
            yield session


def newest(files: Iterable[LogFile], cwd: str, *, without: Container[str] = ()) -> Session:
    """Give the project's most recently written session, but none of these ids; `files` are in that order.

    Raises ContextError with `no-session`.
    """
    for session in of_project(sessions(files), cwd):
        if session.header.id not in without:
            return session
    raise ContextError("no-session")


def find_session(wanted: str, *, files: Iterable[LogFile], cwd: str, home: str, project: str | None = None) -> LogFile:
    """Find a session by its file or by the start of its id; with `project`, among that project's sessions only.

    What holds a slash or ends in `.jsonl` is a file, relative to `cwd`. A whole id wins over one that only starts so.
    Copies that are equal byte for byte are one session, for whichever is read says the same; copies that differ are
    ambiguous. Raises ContextError: `session-not-found`, `session-ambiguous` with up to five candidates, and for files
    `not-a-session` and what `open_log` raises.
    """
    if os.sep in wanted or (os.altsep or "/") in wanted or wanted.endswith(".jsonl"):
        return _named(pi_files.absolute(wanted, base=cwd, home=home), project)
    found = sessions(files)
    candidates = [
        session
        for session in (found if project is None else of_project(found, project))
        if wanted and session.header.id.startswith(wanted)
    ]
    whole = [session for session in candidates if session.header.id == wanted]
    different = _different(whole or candidates)
    if not different:
        if wanted and os.path.exists(path := pi_files.absolute(wanted, base=cwd, home=home)):
            return _named(path, project)
        raise ContextError("session-not-found")
    if len(different) > 1:
        some = "\n".join(map(_shown, different[:_MOST_CANDIDATES]))
        raise ContextError("session-ambiguous", f"{len(different)} sessions have an id that starts so:\n{some}")
    return different[0].file


def _shown(session: Session) -> str:
    """Write a candidate on one line, whatever its id and path hold."""
    return f"  {dumps(session.header.id)[1:-1][:_LONGEST_SHOWN]}  {dumps(session.file.path)}"


def _named(path: str, project: str | None) -> LogFile:
    found = read_header(path)
    if project is not None and (not found.cwd or canonical(found.cwd) != canonical(project)):
        raise ContextError("session-not-found")
    return LogFile(pi_files.real(path), os.stat(path))


def _different(found: list[Session]) -> list[Session]:
    """Leave out what is a copy, byte for byte, of one before it."""
    kept: list[Session] = []
    for session in found:
        if not any(before.header.id == session.header.id and _equal(before.file, session.file) for before in kept):
            kept.append(session)
    return kept


def _equal(one: LogFile, other: LogFile) -> bool:
    if one.stat.st_size != other.stat.st_size:
        return False
    try:
        with open_log(one.path) as first, open_log(other.path) as second:
            while True:
                piece = first.read(_CHUNK)
                if piece != second.read(_CHUNK):
                    return False
                if not piece:
                    return True
    except (ContextError, OSError):
        return False


def _recency(file: LogFile) -> tuple[int, str]:
    return -file.stat.st_mtime_ns, file.path


def _subfolders(root: str) -> Iterator[str]:
    for item in _listed(root):
        try:
            if item.is_dir():
                yield item.path
        except OSError:  # a link that leads back to itself
            continue


def _listed(folder: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as items:
            return list(items)
    except (OSError, ValueError):
        return []
