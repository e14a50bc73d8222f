"""References: opaque, unguessable names for single entries, valid for ten minutes.

A reference carries where the entry lies and under which session and scope it was given out; reading it back asks
again whether that scope still holds. Only a digest of a reference is ever stored.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple, Protocol

from foundation.clock import Clock
from recall.evidence import Place

VALID_MS = 10 * 60 * 1000
MOST_LIVE = 512


class Reference(NamedTuple):
    """What a reference stands for: the session and leaf that asked, the scope, and where the entry lies."""

    asking: str  # path of the session that asked, empty where there is none
    scope: str
    place: Place


class References(Protocol):
    """A table of references, in memory for a server, in a private file for the shell."""

    def issue(self, targets: Sequence[Reference]) -> list[str]:
        """Give each target a reference."""

    def find(self, reference: str) -> Reference | None:
        """Give what a reference stands for; None where it is unknown or expired."""


class MemoryReferences:
    """The table of one process: gone with it, so a restart needs a fresh search."""

    def __init__(self, clock: Clock, token: Callable[[], str]) -> None:
        self._clock, self._token = clock, token
        self._live: dict[bytes, tuple[int, Reference]] = {}

    def issue(self, targets: Sequence[Reference]) -> list[str]:
        """Give each target a reference; the oldest ones make room."""
        names = [self._token() for _ in targets]
        now = self._clock()
        for name, target in zip(names, targets, strict=True):
            self._live[digest(name)] = (now + VALID_MS, target)
        self._live = {key: value for key, value in self._live.items() if value[0] > now}
        for key in list(self._live)[: max(len(self._live) - MOST_LIVE, 0)]:
            del self._live[key]
        return names

    def find(self, reference: str) -> Reference | None:
        """Give what a reference stands for; None where it is unknown or expired."""
        expires, target = self._live.get(digest(reference), (0, None))
        return target if expires > self._clock() else None


def digest(reference: str) -> bytes:
    """Give the key under which a reference is kept."""
    return sha256(reference.encode("utf-8", "surrogatepass")).digest()
