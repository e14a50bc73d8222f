"""Finds JSON Web Tokens: three base64url pieces, of which the first decodes to a JSON header."""

from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.prefixes import broken, unbroken
from privacy.secrets.runs import LONGEST, gather, piece_end

_LONGEST_HEADER = 8192
_SIGNATURES = {"HS256": 43, "HS384": 64, "HS512": 86, "ES256": 86, "ES384": 128, "ES512": 176, "EdDSA": 86}
_RSA_SIGNATURE = 342
_LEAST_PAYLOAD = 8


def _look(data: bytes, start: int, _end: int) -> Span | None:
    if start and data[start - 1 : start].isalnum() and data[start - 2 : start - 1] not in (b"\\", b"%"):
        return None
    head = gather(data, start, "url64", wanted=_LONGEST_HEADER, most=_LONGEST_HEADER, far=_LONGEST_HEADER)
    if data[head.end : head.end + 1] != b".":
        return None
    header = _json_header(head.body)
    if header is None:
        return None
    signature = next((count for name, count in _SIGNATURES.items() if name in header), _RSA_SIGNATURE)
    payload = gather(data, head.end + 1, "url64", wanted=_LEAST_PAYLOAD, most=0, far=LONGEST)
    if len(payload.body) < _LEAST_PAYLOAD:
        return None
    stop = payload.end
    while data[stop : stop + 1] == b"." and stop < len(data):  # encrypted tokens have five pieces
        more = gather(data, stop + 1, "url64", wanted=signature, most=signature)
        following = max(more.end, piece_end(data, stop + 1, "url64"))
        if following == stop + 1:
            break
        stop = following
    return Span(start, stop, "jwt")


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
