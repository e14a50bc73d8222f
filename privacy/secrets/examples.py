"""Makes the examples of the detectors: templates in, made-up text and the exact span out.

Nothing that looks like a key stands in the code. The characters are drawn from SHA-256 of the template and the place,
so that every run gets the same ones and none is anybody's credential.
"""

import base64
import hashlib
import json
import re
import string
from collections.abc import Callable
from typing import NamedTuple

_ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "al": string.ascii_letters,
    "b36": string.ascii_lowercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "b64": string.ascii_letters + string.digits + "+/",
    "dec": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "UP": string.ascii_uppercase + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "x": "x",
}
_FIELD = r"\{([A-Za-z0-9]+)(?::([^}]*))?\}"


class Example(NamedTuple):
    """A text, and each `[start, end)` in it that must be found."""

    text: str
    spans: tuple[tuple[int, int], ...]


def made(template: str) -> Example:
    """Make the text of a template; each `«` and `»` around a span disappears."""
    count = 0

    def fill(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return _field(found[1], found[2] or "", f"{template}#{count}") or found[0]

    text, spans = "", []
    for piece in re.split("(«[^»]*»)", re.sub(_FIELD, fill, template)):
        inner = piece.strip("«»")
        if piece != inner:
            spans.append((len(text), len(text) + len(inner)))
        text += inner
    return Example(text, tuple(spans))


def drawn(alphabet: str, count: int, seed: str) -> str:
    """Draw characters; the last is a letter or digit, so that no sentence mark can be mistaken for it."""
    letters = _ALPHABETS[alphabet]
    stream = b"".join(hashlib.sha256(f"{seed}/{block}".encode()).digest() for block in range(count // 32 + 1))
    text = "".join(letters[byte % len(letters)] for byte in stream[:count])
    return text if not text or text[-1].isalnum() else text[:-1] + "Z"


def _field(name: str, detail: str, seed: str) -> str | None:
    if name in _ALPHABETS and detail.isdigit():
        return drawn(name, int(detail), seed)
    maker = _MAKERS.get(name)
    return maker(seed) if maker else _block(name, detail, seed) if name in _BLOCKS else None


def _uuid(seed: str) -> str:
    digits = drawn("hex", 32, seed)
    return "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:]))


def _user_and_password(seed: str) -> str:
    return base64.b64encode(f"{drawn('b36', 8, seed)}:{drawn('an', 16, seed)}".encode()).decode()


def _bot_number(seed: str) -> str:
    return base64.b64encode(drawn("dec", 18, seed).encode()).decode()


def web_token(seed: str) -> str:
    """Make a JSON Web Token that nobody signed."""
    pieces = (
        json.dumps({"alg": "HS256", "typ": "JWT"}).encode(),
        json.dumps({"sub": drawn("dec", 10, seed), "iat": 1_700_000_000}).encode(),
        hashlib.sha256(seed.encode()).digest(),
    )
    return ".".join(base64.urlsafe_b64encode(piece).rstrip(b"=").decode() for piece in pieces)


def _block(name: str, detail: str, seed: str) -> str:
    kind = {"pgp": "PGP PRIVATE KEY BLOCK", "pgppublic": "PGP PUBLIC KEY BLOCK", "cert": "CERTIFICATE"}.get(name)
    kind = kind or ("PUBLIC KEY" if detail == "PUBLIC" else f"{detail}PRIVATE KEY")
    lines = [drawn("b64", 64, f"{seed}/{at}") for at in range(6)] + [drawn("b64", 22, seed) + "=="]
    head = [] if name == "pemtail" else [f"-----BEGIN {kind}-----"]
    if name.startswith("pgp"):
        head += ["Version: GnuPG v2", ""]
        lines.append("=" + drawn("b64", 4, seed))
    return "\n".join([*head, *lines, *([] if name == "pemcut" else [f"-----END {kind}-----"])])


_MAKERS: dict[str, Callable[[str], str]] = {
    "uuid": _uuid,
    "jwt": web_token,
    "basic": _user_and_password,
    "discord": _bot_number,
}
_BLOCKS = ("pem", "pemcut", "pemtail", "pgp", "pgppublic", "cert")
