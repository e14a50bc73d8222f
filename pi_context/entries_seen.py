"""Look at the entries of one session as this audience may: verified, classified, redacted, masked.

The owner needs no reference to look at a session; an agent that asks through the shell passes the same gates as `read`.
"""

from hashlib import sha256
from typing import NamedTuple

from foundation.errors import ContextError
from foundation.texts import RawText
from index.schema import id_key
from pi_context.exclusions import excluded_sessions
from pi_context.surroundings import Surroundings
from privacy.redaction import redact, reveal
from recall.evidence import Evidence, Gate, Logs, Place, evidence, gate
from sessions.locating import LogFile
from sessions.tree import Node, Outline, outline


class Seen(NamedTuple):
    """An entry with the digest of its line; `evidence` is None where its class is not for this audience."""

    node: Node
    digest: str
    evidence: Evidence | None


class Viewer:
    """Reads entries of the current session, or of another one that was named."""

    def __init__(self, around: Surroundings, logs: Logs, session: LogFile | None = None) -> None:
        self.around = around
        file = session or current(around)
        self.outline: Outline = outline(file.path, leaf=None if session else around.words["leaf"])
        self.logs, self.session_id = logs, logs.session_id(file.path)
        if around.mark and self.session_id in excluded_sessions(around.own_folder):
            raise ContextError("session-not-found")
        self.gate = gate_of(around)
        self.name = self.safe(self.outline.name)
        self.labels = {identity: self.safe(label) for identity, label in self.outline.labels.items()}

    def safe(self, text: str) -> str:
        """Give a name or label as this audience may see it."""
        redacted = reveal(RawText(text)) if self.gate.reveal else redact(RawText(text))
        return self.gate.visibility.mask(redacted.text).text

    def look(self, node: Node) -> Seen:
        """Read one entry. Raises ContextError where the file has gone or changed under our feet."""
        place = Place(self.outline.path, self.session_id, node.offset, node.length, b"", id_key(node.id))
        raw = self.logs.peek(place)
        return Seen(node, sha256(raw).hexdigest(), evidence(raw, place, self.gate))


def current(around: Surroundings) -> LogFile:
    """Give the current session. Raises ContextError with `no-session`."""
    if around.session is None:
        raise ContextError("no-session")
    return around.session


def gate_of(around: Surroundings) -> Gate:
    """Give the gate of the audience that asks."""
    reveal = around.reveal  # the owner's right first: it is refused whatever the audience
    return gate(around.audience, around.configuration.values, around.visibility, reveal=reveal)
