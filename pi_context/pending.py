"""Whether rebases are left unfinished, for commands that do without the modules of a journal where there is none."""

import os
from typing import TYPE_CHECKING

from foundation.errors import ContextError

if TYPE_CHECKING:
    from pi_context.surroundings import Surroundings

JOURNAL = ".ds4-rebase"
"""The folder beside the sessions in which operations are recorded."""

_RECORDS = os.path.join(JOURNAL, "operations")


def pending(around: "Surroundings") -> list[str]:
    """Give the ids of the unfinished operations of this project, beside its current session.

    What cannot be read or judged is none of these: `rebase --list` tells of it.
    """
    folder = os.path.dirname(around.session.path) if around.session else ""
    if not folder or not has_records(folder):
        return []
    from pi_context import rebases_seen

    try:
        return rebases_seen.unfinished(around, folder)
    except (ContextError, OSError):
        return []


def has_records(folder: str) -> bool:
    """Tell whether any operation was recorded beside the sessions in a folder."""
    try:
        with os.scandir(os.path.join(folder, _RECORDS)) as found:
            return next(found, None) is not None
    except OSError:
        return False
