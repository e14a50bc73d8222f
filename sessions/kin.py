"""Which files may be the session that another one came from: of its id and its project, the likeliest first."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from foundation.errors import ContextError
from sessions import pi_files
from sessions.locating import Folders, LogFile, canonical, read_header, session_files


def project_of(path: str) -> str:
    """Give the canonical folder that a session names; empty, which is no project, where it names none."""
    try:
        return canonical(read_header(path).cwd)
    except (ContextError, OSError):
        return ""


def candidates(
    session: str, identity: str, name: str, files: Callable[[], Iterable[LogFile]], ids: Mapping[str, str]
) -> Iterator[str]:
    """Yield the files that may be the session `identity` that `session` came from, when its file was called `name`.

    First the one of that name beside it, then the others in this folder, then those of `files`, which is asked only
    then. `ids` are session ids that are known by path already, so that those files need not be opened.
    """
    project, folder = project_of(session), os.path.dirname(session)
    tried = {session}
    for path in _paths(folder, name, files):
        if path not in tried and ids.get(path, identity) == identity and _is_of(path, identity, project):
            yield path
        tried.add(path)


def _paths(folder: str, name: str, files: Callable[[], Iterable[LogFile]]) -> Iterator[str]:
    yield pi_files.real(os.path.join(folder, os.path.basename(name)))
    yield from (file.path for file in session_files(Folders((folder,), flat=True)))
    yield from (file.path for file in files())


def _is_of(path: str, identity: str, project: str) -> bool:
    """Tell whether a file is a session of this id, held in this project."""
    try:
        found = read_header(path)
    except (ContextError, OSError):
        return False
    return found.id == identity and bool(project) and canonical(found.cwd) == project
