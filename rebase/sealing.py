"""How records of a rebase are signed: a keyed MAC over their canonical text, without the MAC itself.

Keys belong to the door; here they are only used. A purpose stands before the text, so that no record can pass for one
of another kind.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from foundation.canonical import as_logged
from journal.keys import Verdict

Verify = Callable[[bytes, str, str], Verdict]
"""Judges a text, a key id and a MAC; the last two are empty where a record has none. What the owner adopted is good."""

LINEAGE = "lineage"
"""What the keys of checkpoints and links are derived for; a journal's records are signed for something else."""

SEAL = ("keyId", "mac")


class Signer(NamedTuple):
    """A key in use: its public name, and what signs bytes, in hexadecimal digits."""

    key_id: str
    sign: Callable[[bytes], str]


class Sealed(NamedTuple):
    """A signed record in its canonical form, and the SHA-256 of that."""

    text: str
    sha256: str


def sealed(purpose: str, record: Mapping[str, Any], signer: Signer) -> Sealed:
    """Write the record with the name of the key and its MAC at the end."""
    written = canonical({**record, SEAL[0]: signer.key_id})
    mac = signer.sign(f"{purpose}\n".encode() + written)
    whole = written[:-1] + f',"{SEAL[1]}":"{mac}"}}'.encode()  # written once: a checkpoint may be large
    return Sealed(whole.decode(), sha256(whole).hexdigest())


def judged(purpose: str, record: Mapping[str, Any], verify: Verify) -> Verdict:
    """Judge the MAC of a record as it was read."""
    key_id, mac = (record.get(name) for name in SEAL)
    if not isinstance(key_id, str) or not isinstance(mac, str) or not mac:
        return verify(payload(purpose, record), "", "")
    return verify(payload(purpose, record), key_id, mac)


def payload(purpose: str, record: Mapping[str, Any]) -> bytes:
    """Give the bytes that are signed."""
    return f"{purpose}\n".encode() + canonical({name: value for name, value in record.items() if name != SEAL[1]})


def canonical(value: Any) -> bytes:
    """Write a record as it stands in a session file, and as `JSON.stringify` would write it.

    That holds for records as we make them, of texts, integers and words for keys. Of anything else the form does not
    matter, for it was never signed. Raises ValueError or RecursionError for what cannot be written.
    """
    return as_logged(value).encode()


def digest(value: Any) -> str:
    """Give the SHA-256 of a record in its canonical form."""
    return sha256(canonical(value)).hexdigest()


def text_digest(text: str) -> str:
    """Give the SHA-256 of a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
