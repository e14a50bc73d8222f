"""Judges the name on the left of a value: whether it says that the value is a secret, and of which kind.

A name is split into words at underscores, dashes, dots and capitals. Its last telling word decides: `dbPassword`
and `CLIENT_SECRET_2` name a secret, `password_file`, `secretName`, `max_tokens` and `csrf_token` do not.
"""

import functools
import re
from typing import NamedTuple

_HUMP = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_WHOLE = {
    "password": "password", "passwords": "password", "passwd": "password", "passwort": "password", "pwd": "password",
    "passphrase": "password", "passcode": "password", "passw": "password", "kennwort": "password", "pass": "password",
    "pw": "password", "userpass": "password", "sshpass": "password",
    "secret": "secret", "secrets": "secret",
    "token": "token", "tokens": "token", "jwt": "token", "bearer": "token",
    "apikey": "api-key", "apikeys": "api-key", "accesskey": "api-key", "authkey": "api-key", "secretkey": "secret",
    "privatekey": "secret", "signingkey": "secret", "encryptionkey": "secret", "masterkey": "secret",
    "accountkey": "secret", "sharedkey": "secret", "sharedaccesskey": "secret", "servicekey": "secret",
    "credential": "credential", "credentials": "credential", "cred": "credential", "creds": "credential",
    "auth": "credential", "authorization": "credential",
}  # fmt: skip
_ENDINGS = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey")
_KEY_MAKERS = {
    "api": "api-key", "access": "api-key", "auth": "api-key", "app": "api-key", "application": "api-key",
    "service": "api-key", "license": "api-key", "subscription": "api-key", "account": "secret", "storage": "secret",
    "secret": "secret", "private": "secret", "shared": "secret", "signing": "secret", "signature": "secret",
    "encryption": "secret", "encrypt": "secret", "master": "secret", "deploy": "secret", "webhook": "secret",
    "client": "secret", "admin": "secret", "hmac": "secret", "jwt": "secret", "aes": "secret", "session": "secret",
    "cookie": "secret", "function": "secret", "ingestion": "secret", "write": "secret",
}  # fmt: skip
_NO_SECRET_KEYS = frozenset(
    ("public", "cache", "primary", "foreign", "sort", "partition", "routing", "hash", "index", "group", "object", "env")
)
_HOSTS = frozenset(("github", "gh", "gitlab", "azure", "ado", "devops"))
_NEUTRAL_WORDS = (
    "value text plain plaintext raw prod production dev development staging stage test live old new current backup "
    "main primary secondary default root admin db str string base base64 b64 hex data content v"
)
_NEUTRAL = frozenset(_NEUTRAL_WORDS.split())
_HARMLESS_WORDS = (
    "csrf xsrf authenticity next page pagination continuation continue sync cursor cancel cancellation max min num "
    "number count total prompt completion input output usage public publishable parse parser lexer syntax design "
    "color css theme starting change update export import unit request idempotency verification amz mask unmask pad "
    "commit eos bos sep cls unk stop start end no without is has"
)
_HARMLESS = frozenset(_HARMLESS_WORDS.split())


class Meaning(NamedTuple):
    """What a name promises: the kind of secret, and how much the name is worth.

    `human`: a person may have thought the secret up. `uuid`: it may be a UUID. `vague`: it counts only in settings,
    as `ACME_KEY=` does.
    """

    kind: str
    human: bool
    uuid: bool
    vague: bool


@functools.lru_cache(4096)
def meaning(name: str) -> Meaning | None:
    """Tell what secret the name promises; None where it promises none."""
    words = [word.lower() for word in _humps().findall(name)]
    while words and (words[-1].isdigit() or (words[-1] in _NEUTRAL and len(words) > 1)):
        words.pop()
    if not words or _HARMLESS.intersection(words[:-1]):
        return None
    kind = _kind(words)
    if kind is None:
        vague = name.isupper() and words[-1] == "key" and len(words) > 1 and words[-2] not in _NO_SECRET_KEYS
        return Meaning("api-key", human=False, uuid=False, vague=True) if vague else None
    human = words[-1] not in ("key", "keys") and kind in ("password", "secret")
    return Meaning(kind, human, uuid=kind in ("password", "secret", "api-key"), vague=False)


@functools.cache
def _humps() -> re.Pattern[str]:
    return re.compile(_HUMP)


def _kind(words: list[str]) -> str | None:
    last = words[-1]
    if last in ("key", "keys") and len(words) > 1:
        before = words[-2]
        if "secret" in words:
            return "secret"
        return _KEY_MAKERS.get(before) or ("password" if before in _WHOLE and before != "pass" else None)
    if last in _WHOLE and (last != "pw" or len(words) > 1):
        return _WHOLE[last]
    if last == "pat" and _HOSTS.intersection(words):
        return "token"
    ending = next((ending for ending in _ENDINGS if last.endswith(ending)), None)
    return _WHOLE[ending] if ending else None
