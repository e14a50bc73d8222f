"""Finds the secret access key that stands near an AWS access key id without a name of its own."""

from privacy.secrets.edges import is_word
from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Span
from privacy.secrets.runs import piece_end
from privacy.secrets.shapes import is_hex

_NEAR, _LENGTH = 160, 40


def companion(data: bytes, key_id: Span) -> Span | None:
    """Give the 40 random base64 characters within 160 bytes after the id, if any."""
    at, limit = key_id.end, min(len(data), key_id.end + _NEAR)
    while at < limit:
        stop = piece_end(data, at, "base64")
        if stop - at == _LENGTH and not is_word(data, stop):
            text = data[at:stop].decode("ascii")
            if surprise(text) > 0 and not is_hex(text):
                return Span(at, stop, "aws-secret-access-key")
        at = max(stop, at + 1)
    return None


DETECTORS = (
    Detector(
        "aws-secret-access-key", "AWS secret access key next to its access key id",
        "40 random base64 characters within 160 bytes after an access key id",
        ("«AKIA{b32:16}»,«{b64:40}»", "«AKIA{b32:16}» «{b64:40}»\n", "id «ASIA{b32:16}»\nkey «{b64:40}»"),
        ("{hex:40}",),
    ),
)
