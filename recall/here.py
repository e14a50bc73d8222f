"""What a door hands in for a question: where, who, when, and under which settings. Recall asks nobody else."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from foundation.clock import Clock
from foundation.durable import Files
from foundation.settings import Values
from index.masks import Masks, no_masks
from memory.visibility import Visibility
from privacy.audiences import Audience
from recall.descent import Descend, no_descent
from recall.evidence import Gate, gate
from recall.references import References
from sessions.locating import LogFile


def _never(_identity: str) -> bool:
    return False


class Here(NamedTuple):
    """Everything around a question.

    `files` lists the session files of the folders in force and `trusted` tells whether Pi trusts the project, each when
    it is called; `project` is the canonical working folder; `session` the current session's file, or None where there
    is none; `leaf` the id of the live leaf, or None for the last entry; `excluded` are the ids of sessions that the
    owner keeps out; `owner` says whether owner acts are allowed, `reveal` that the owner wants to see secrets as they
    are; `visibility` is that of the project, `everywhere` gives that of all projects when it is called; `descend`
    proves where a session came from; `masks` gives what is masked before it is indexed; `is_ephemeral` tells whether a
    session counts for nobody but itself; `pending` gives, when it is called, the ids of rebases of this project that
    were not finished.
    """

    index_folder: str
    disk: Files
    clock: Clock
    values: Values
    audience: Audience
    owner: bool
    files: Callable[[], list[LogFile]]
    project: str
    trusted: Callable[[], bool]
    session: LogFile | None
    leaf: str | None
    excluded: frozenset[str]
    visibility: Visibility
    references: References
    reveal: bool = False
    pending: Callable[[], Sequence[str]] = tuple
    descend: Descend = no_descent
    everywhere: Callable[[], Visibility] = Visibility
    masks: Masks = no_masks
    is_ephemeral: Callable[[str], bool] = _never

    @property
    def asking(self) -> str:
        """The path of the current session's file, empty where there is none."""
        return self.session.path if self.session else ""

    @property
    def gate(self) -> Gate:
        """What decides on the text of an entry for this audience."""
        return gate(self.audience, self.values, self.visibility, reveal=self.reveal)

    def keeps_out(self, identity: str) -> bool:
        """Tell whether a session is excluded or removed, or counts for nobody but itself."""
        return identity in self.excluded or self.visibility.hides(identity) or self.is_ephemeral(identity)
