"""Finds the secret access key that stands near an AWS access key id without a name of its own."""

import functools
import re

from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Span
from privacy.secrets.shapes import is_hex

_NEAR = 160
_KEY = rb"(?:\\[nrt]|\n[+-]|[^A-Za-z0-9+/])([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=_-])"


@functools.cache
def _compiled() -> re.Pattern[bytes]:
    return re.compile(_KEY)


def companion(data: bytes, key_id: Span) -> Span | None:
    """Give the 40 random base64 characters within 160 bytes after the id, if any."""
    for found in _compiled().finditer(data, key_id.end, key_id.end + _NEAR):
        text = found[1].decode("ascii")
        if surprise(text) > 0 and not is_hex(text):
            return Span(*found.span(1), "aws-secret-access-key")
    return None


DETECTORS = (
    Detector(
        "aws-secret-access-key",
        "AWS secret access key next to its access key id",
        "40 random base64 characters within 160 bytes after an access key id",
        ("«AKIA{b32:16}»,«{b64:40}»", "«AKIA{b32:16}» «{b64:40}»\n", "id «ASIA{b32:16}»\nkey «{b64:40}»"),
        ("{hex:40}",),
    ),
)
