"""The one gate between redacted text and an audience: what the owner removed is masked or hidden here.

There is no removal ledger yet, so nothing is hidden; the gate stands already, for the types make every reader pass it.
"""

from typing import NamedTuple

from foundation.texts import RedactedText, VisibleText


class Masked(NamedTuple):
    """Text that an audience may see, and how many names in it were masked."""

    text: VisibleText
    count: int  # type: ignore[assignment]  # as in `Redacted`


class Visibility(NamedTuple):
    """One generation of the removal ledger, read once per answer."""

    hidden_sessions: frozenset[str] = frozenset()

    def mask(self, text: RedactedText) -> Masked:
        """Replace removed names by a fixed mark."""
        return Masked(VisibleText(text), 0)

    def hides(self, session_id: str) -> bool:
        """Tell whether a session was removed."""
        return session_id in self.hidden_sessions


def load() -> Visibility:
    """Read the ledger."""
    return Visibility()
