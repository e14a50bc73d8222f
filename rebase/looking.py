"""How the files of an operation stand to what was recorded of them, told from their bytes and from nothing else."""

import os
import stat
from collections.abc import Iterator
from typing import Literal, NamedTuple

from foundation.errors import ContextError
from rebase.facts import Facts
from sessions import fingerprint
from sessions.locating import read_header
from sessions.reading import open_log

State = Literal["missing", "changed", "grown", "same"]
"""`grown`: the recorded bytes are still its beginning; `changed`: they are not."""


class Found(NamedTuple):
    """A file, and how it stands; of one that is missing, the path at which it should be."""

    path: str
    state: State


def look(path: str, size: int, sha256: str) -> State:
    """Hold the first bytes of a file against what was recorded. Raises what `open_log` raises for one that is there."""
    if not os.path.lexists(path):
        return "missing"
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return "changed"  # whatever a link or a pipe leads to, it is not the file that was recorded
    with open_log(path) as log:
        length = os.fstat(log.fileno()).st_size
        found = fingerprint.prefix(log, size) if length >= size else None
        if found is None or found.sha256 != sha256:
            return "changed"
        return "same" if length == size else "grown"


def find_source(folder: str, facts: Facts) -> Found:
    """Find the source of an operation in its folder: by its name, or where that is another's now, by its session id.

    A copy beside it never stands for one that was edited.
    """
    named = os.path.join(folder, facts.source_file)
    best = Found(named, look(named, facts.source_size, facts.source_sha256))
    if best.state == "missing" or (best.state == "changed" and not _is(named, facts)):
        for path in _renamed(folder, facts):
            best = Found(path, look(path, facts.source_size, facts.source_sha256))
            if best.state != "changed":
                break
    return best


def find_target(folder: str, facts: Facts) -> Found:
    """Look at the target of an operation, which is missing while none was composed."""
    if not facts.target_file:
        return Found("", "missing")
    path = os.path.join(folder, facts.target_file)
    return Found(path, look(path, facts.target_size, facts.target_sha256))


def _renamed(folder: str, facts: Facts) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".jsonl") and name not in (facts.source_file, facts.target_file) and _is(path, facts):
            yield path


def _is(path: str, facts: Facts) -> bool:
    try:
        return read_header(path).id == facts.source_session
    except (ContextError, OSError):
        return False
