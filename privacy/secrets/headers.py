"""Finds credentials behind the words `Bearer` and `Basic`, as in HTTP headers."""

from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.runs import FAR, further, gather
from privacy.secrets.shapes import is_hex, is_mask, is_placeholder, is_template, is_uuid

_BEARER = rb"(?i:bearer)(?:[ \t]+|%20)[A-Za-z0-9+/_=.~-]{4}"
_BASIC = rb"(?i:basic)[ \t]+[A-Za-z0-9+/]{4}"
_TRIGGER_BODY = 4
_LEAST_BEARER, _LEAST_BASIC = 16, 24
_TRUSTED_BITS = -8.0


def _look(data: bytes, start: int, end: int) -> Span | None:
    begin = end - _TRIGGER_BODY
    return _basic(data, begin) if data[start : start + 2].lower() == b"ba" else _bearer(data, begin)


def _bearer(data: bytes, begin: int) -> Span | None:
    run = gather(data, begin, "dotted64", wanted=_LEAST_BEARER, most=0)
    body = run.body.rstrip(".")
    if len(body) < _LEAST_BEARER or is_mask(body) or is_template(body):
        return None
    if not is_uuid(body) and not is_hex(body) and surprise(body) < (_TRUSTED_BITS if len(body) > 30 else 0):  # noqa: PLR2004
        return None
    stop = run.end - (len(run.body) - len(body)) if len(body) < FAR else further(data, run.end, "dotted64")
    return Span(begin, stop, "bearer-token")


def _basic(data: bytes, begin: int) -> Span | None:
    run = gather(data, begin, "dotted64", wanted=_LEAST_BASIC, most=0)
    return Span(begin, run.end, "basic-auth") if is_user_and_password(run.body) else None


def is_user_and_password(encoded: str) -> bool:
    """Tell whether base64 decodes to a user and a password that is no filler."""
    import base64
    import binascii

    if not encoded.rstrip("=").replace("+", "a").replace("/", "a").isalnum():
        return False
    try:
        plain = base64.b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return False
    password = plain.partition(":")[2]
    return plain.isprintable() and bool(password) and not is_placeholder(password)


PROBE = Probe(_BEARER + b"|" + _BASIC, b"bB", lambda matched: matched[:2].lower() in (b"be", b"ba"), _look)

DETECTORS = (
    Detector(
        "bearer-token",
        "token behind the word Bearer",
        "`Bearer` and 16 or more characters that look random",
        (
            "Authorization: Bearer «{an:40}»",
            '-H "Authorization: Bearer «{url:43}»"',
            "bearer «{hex:32}»",
            "Bearer «{uuid}»",
        ),
        (
            "Bearer authentication-is-required",
            "bearer token",
            "Authorization: Bearer $TOKEN",
            "Bearer <your token>",
            "Authorization: Bearer xxxxxxxxxxxxxxxxxxxx",
            "Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
            "Bearer ${token}",
        ),
    ),
    Detector(
        "basic-auth",
        "user and password behind the word Basic",
        "`Basic` and base64 that decodes to `user:password`",
        ("Authorization: Basic «{basic}»",),
        ("Basic authentication", "basic understanding of it", "Basic QmFzaWM="),
    ),
)
