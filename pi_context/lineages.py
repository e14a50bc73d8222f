"""The door's side of lineage: proves for recall where a session came from.

Only a session that begins with a link costs the import of what judges one.
"""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from foundation.marks import CHECKPOINT_TYPE, HANDOFF_TYPE, LINK_TYPE
from recall.descent import Descent, Generation, Locate
from sessions.reading import LONGEST_RECORD, open_log

if TYPE_CHECKING:
    from pi_context.surroundings import Surroundings
    from rebase.checkpoint import Origin

_HEAD_LINES = 32  # a link stands within the first records of its session
_MARKS = tuple(mark.encode() for mark in (CHECKPOINT_TYPE, LINK_TYPE, HANDOFF_TYPE))


def descend(around: "Surroundings", file: str, locate: Locate) -> Descent | None:
    """Prove the link of a session and each of its sources; None where it begins with no link.

    What was proved is remembered for later commands. Raises ContextError with `lineage-unverified` where the link does
    not hold or cannot be judged, and what `open_log` raises.
    """
    if not _may_begin_with_a_link(file):
        return None
    from pi_context import proofs, rebases
    from rebase.lineage import generations, head_link

    own = head_link(file, rebases.verifier(around))
    if own is None:
        return None

    def candidates(origin: "Origin") -> Iterable[str]:
        return locate(origin.sessionId, origin.file)

    proved = proofs.load(around)
    lineage = generations(own.origins, candidates, proved)
    proofs.keep(around, proved, lineage.proved)
    return Descent(
        own.handoff_id,
        tuple(
            Generation(found.origin.sessionId, found.origin.leafId, found.origin.size, found.file, found.state)
            for found in lineage.generations
        ),
    )


def _may_begin_with_a_link(file: str) -> bool:
    """Look for the names of our entries in the first lines, without reading these as JSON."""
    with open_log(file, buffering=1 << 16) as log:
        for raw in islice(iter(lambda: log.readline(LONGEST_RECORD), b""), _HEAD_LINES):
            if any(mark in raw for mark in _MARKS):
                return True
    return False
