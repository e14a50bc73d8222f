"""The dry run of a rebase as it is typed, with the whole home held before and after; and targets of this machine."""

from pathlib import Path
from typing import Any

from shelled import Said, Shell

from pi_context import rebases
from pi_context.surroundings import Surroundings
from pi_context.verbs import VERBS, nothing_given
from rebase.plan import Plan

SECRET = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
_REBASE = next(verb for verb in VERBS if verb.words == ("rebase",))


def tree(folder: Path) -> dict[str, tuple[int, int, bytes | None]]:
    """Give every name below a folder with its mode, its time and its bytes."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        seen = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        found[str(path)] = seen.st_mode, seen.st_mtime_ns, content
    return found


class Dry:
    """The dry run, as it is typed; holds the whole home before and after against each other."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def __call__(self, *words: object, expect: int = 0, terminal: bool = False) -> Said:
        """Ask as a person."""
        before = tree(self.shell.home)
        said = self.shell("rebase", "--dry-run", *words, expect=expect, terminal=terminal)
        assert tree(self.shell.home) == before
        return said

    def json(self, *words: object, expect: int = 0, terminal: bool = False) -> Any:
        """Ask as a program."""
        answer = self(*words, "--json", expect=expect, terminal=terminal).json
        assert answer["schema"] == "context-rebase-result-v1"
        return answer


def plan_of(file: Path) -> Plan:
    """Plan as the door does."""
    return rebases.planned(_around(file), leaf=None, fitted=False, owner=True)


def rebased(shell: Shell, file: Path) -> Path:
    """Rebase a session, as the owner does in a script, and give the new one."""
    made = shell("rebase", "--yes", "--session", file, "--json", expect=0, terminal=True).json
    return Path(made["targetFile"])


def _around(file: Path) -> Surroundings:
    return Surroundings(nothing_given(_REBASE) | {"session": str(file)}, {}, terminal=True)
