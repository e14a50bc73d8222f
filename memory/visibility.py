"""The one gate between redacted text and an audience: what the owner removed is masked or hidden here.

Nothing else makes `VisibleText`. One generation of the ledger is read once for an answer (`seeing`); where it cannot be
read the gate is closed: no session but the one that asks is shown, for nobody knows which were removed.
"""

from typing import TYPE_CHECKING, NamedTuple, Optional

from foundation.texts import RedactedText, VisibleText

if TYPE_CHECKING:
    from memory.masking import Names


class Masked(NamedTuple):
    """Text that an audience may see, and how many names in it were masked."""

    text: VisibleText
    count: int  # type: ignore[assignment]  # as in `Redacted`


class Visibility(NamedTuple):
    """One generation of the removal ledger. `closed` where it could not be read, `digest` names what it hides.

    `deleted` are the names, and `deleted_sessions` the sessions, that were deleted for good: no index may hold them.
    """

    hidden_sessions: frozenset[str] = frozenset()
    names: Optional["Names"] = None
    digest: str = ""
    closed: bool = False
    deleted: Optional["Names"] = None
    deleted_sessions: frozenset[str] = frozenset()

    def mask(self, text: RedactedText) -> Masked:
        """Replace removed names by a fixed mark."""
        if self.names is None:
            return Masked(VisibleText(text), 0)
        masked, count = self.names.masked(text)
        return Masked(VisibleText(masked), count)

    def hides(self, session_id: str) -> bool:
        """Tell whether a session was removed, or might have been."""
        return self.closed or session_id in self.hidden_sessions

    def is_removed(self, session_id: str) -> bool:
        """Tell whether a session is known to be removed."""
        return session_id in self.hidden_sessions

    def suppresses(self, name: str) -> bool:
        """Tell whether a removed name stands in a name."""
        return self.names is not None and bool(self.names.spans(name))

    def touches(self, term: str) -> bool:
        """Tell whether a term of a query holds a word of a removed name, so that no index may be asked about it."""
        return self.names is not None and self.names.touches(term)


CLOSED = Visibility(digest="closed", closed=True)
"""Where the ledger cannot be read."""
