"""Finds JSON Web Tokens: three base64url pieces, of which the first decodes to a JSON header."""

from privacy.secrets.edges import opens
from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.prefixes import broken, unbroken
from privacy.secrets.runs import LONGEST, after_break, gather, piece_end

_LONGEST_HEADER = 8192
_SIGNATURES = {"HS256": 43, "HS384": 64, "HS512": 86, "ES256": 86, "ES384": 128, "ES512": 176, "EdDSA": 86}
_RSA_SIGNATURE = 342
_LEAST_PAYLOAD = 8


def _look(data: bytes, start: int, _end: int) -> Span | None:
    if not opens(data, start, joiners=b""):
        return None
    dot, body = _up_to_dot(data, start, wanted=_LONGEST_HEADER, most=_LONGEST_HEADER)
    header = _json_header(body) if data[dot : dot + 1] == b"." else None
    if header is None:
        return None
    signature = next((count for name, count in _SIGNATURES.items() if name in header), _RSA_SIGNATURE)
    stop, payload = _up_to_dot(data, dot + 1, wanted=_LEAST_PAYLOAD, most=0)
    if len(payload) < _LEAST_PAYLOAD:
        return None
    while data[stop : stop + 1] == b".":  # encrypted tokens have five pieces
        more = gather(data, stop + 1, "url64", wanted=signature, most=signature)
        following = max(more.end, piece_end(data, stop + 1, "url64"))
        if following == stop + 1:
            break
        stop = following
    return Span(start, stop, "jwt")


def _up_to_dot(data: bytes, at: int, *, wanted: int, most: int) -> tuple[int, str]:
    """Give where a piece of the token ends and its characters; what stands between a break and a dot belongs to it."""
    run = gather(data, at, "url64", wanted=wanted, most=most, far=LONGEST)
    start = after_break(data, run.end, at) if data[run.end : run.end + 1] != b"." else None
    if start is None:
        return run.end, run.body
    stop = piece_end(data, start, "url64")
    if data[stop : stop + 1] != b".":
        return run.end, run.body
    return stop, run.body + data[start:stop].decode("ascii")


def _json_header(piece: str) -> str | None:
    """Give the decoded header if the piece is one; None for other base64, such as that of a source map."""
    import base64
    import binascii

    try:
        header = base64.urlsafe_b64decode(piece + "=" * (-len(piece) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return header if header.startswith("{") and ('"alg"' in header or '"typ"' in header) else None


PROBE = Probe(broken([b"eyJ"]), b"e", lambda matched: unbroken(matched) == b"eyJ", _look)

DETECTORS = (
    Detector(
        "jwt",
        "JSON Web Token, signed or encrypted",
        "`eyJ…`, a dot, eight or more base64url characters, and what follows after more dots; the first piece must "
        "decode to JSON with `alg` or `typ`",
        ("«{jwt}»", "Authorization: Bearer «{jwt}»", '{"access_token":"«{jwt}»"}', "Cookie: session=«{jwt}»; Path=/"),
        ("eyJ", "eyJhbGciOi...", "data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=", "eyJx.eyJy.zz"),
    ),
)
