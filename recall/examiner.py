"""Read places in logs for one question: verified, as the audience may see them, and judged."""

from hashlib import sha256

from foundation.errors import ContextError
from recall.evidence import Evidence, Gate, Logs, Place, entry_of, evidence
from recall.judging import Verdict, judge
from recall.query import Query
from sessions.entries import Entry


class Examiner:
    """Reads places and judges what the audience may see of them; remembers what could not be read."""

    def __init__(self, query: Query, gate: Gate, logs: Logs) -> None:
        self.query, self.gate, self.logs = query, gate, logs
        self.changed: set[str] = set()
        self.gone: set[str] = set()

    def look(self, place: Place) -> tuple[Evidence, Verdict] | None:
        """Read, verify and judge an entry; None where it is no match for this audience."""
        seen = self._seen(place)
        verdict = judge(self.query, seen.text) if seen else None
        return (seen, verdict) if seen and verdict else None

    def look_closely(self, place: Place, *, anywhere: bool) -> tuple[Evidence, Verdict] | None:
        """Look at an entry that was chosen by its raw line: a `[redacted:…]`, which that lacks, matches nothing.

        Else a query that is part of one would tell whether it is part of the secret too.
        """
        seen = self._seen(place)
        verdict = judge(self.query, seen.text, anywhere=anywhere, in_redactions=not seen.redactions) if seen else None
        return (seen, verdict) if seen and verdict else None

    def peek(self, place: Place) -> bytes:
        """Read an entry's line unverified, to pass it over; empty where it cannot be read, which is remembered."""
        try:
            return self.logs.peek(place)
        except ContextError as error:
            self._note(place, error.code)
            return b""

    def entry_at(self, place: Place) -> Entry | None:
        """Read an entry for what it is, not to show it; None where it cannot be read."""
        try:
            return entry_of(self.logs.line(place), place)
        except ContextError as error:
            self._note(place, error.code)
            return None

    def is_there(self, place: Place, raw: bytes) -> bool:
        """Tell whether the bytes at a place are those on record, and remember where they are not."""
        there = sha256(raw).digest() == place.sha
        if not there and place.path not in self.gone:
            self.changed.add(place.path)
        return there

    def problems(self) -> list[str]:
        """Give the codes of what could not be read."""
        return ["source-changed"] * bool(self.changed) + ["source-unavailable"] * bool(self.gone)

    def _seen(self, place: Place) -> Evidence | None:
        try:
            return evidence(self.logs.line(place), place, self.gate)
        except ContextError as error:
            self._note(place, error.code)
            return None

    def _note(self, place: Place, code: str) -> None:
        (self.changed if code == "source-changed" else self.gone).add(place.path)
