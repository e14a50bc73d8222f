"""Finds passwords in the words of well-known commands and files: curl, sshpass, .netrc and .pgpass."""

import functools
import re

from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.quoted import read
from privacy.secrets.values import is_secret

_NETRC = rb"(?i:login)(?:\s|\\+n)+[^\s\\]+(?:\s|\\+n)+(?:[+-][ \t]*)?(?i:password)(?:[ \t]|\\+t)+"
_USER = rb"[ \t](?:-u|--user|--proxy-user)(?:[ \t]+|=)?\\*[\"']?[A-Za-z0-9._@%+-]+:[^\s\"'\\]"
_SSHPASS = rb"sshpass[ \t]+-p[ \t]*"
_PGPASS = rb":(?:5432|5433|6432):[^:/\s\\]+:[^:/\s\\]+:"
_BARE = rb"[^\s\x00-\x1f\x7f\"'`<>|\\]{1,256}"


@functools.cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def _value(data: bytes, at: int, kind: str) -> Span | None:
    text = read(data, at, 256)
    if text:
        start, end, value = text.start, text.end, text.text
    else:
        bare = _compiled(_BARE).match(data, at)
        if not bare:
            return None
        start, end, value = at, bare.end(), bare[0].decode("utf-8", "replace")
    return Span(start, end, kind) if is_secret(value, human=True, config=True, quoted=False) else None


def _look_netrc(data: bytes, _start: int, end: int) -> Span | None:
    return _value(data, end, "netrc-password")


def _look_user(data: bytes, start: int, end: int) -> Span | None:
    """`-u` has a hundred meanings: a web client must stand before it on the line."""
    line = data[max(data.rfind(b"\n", 0, start), start - 400, 0) : start]
    if not any(word in line for word in (b"curl", b"wget", b"http", b"xh ")):
        return None
    bare = _compiled(rb"[^\s\"'\\]{1,256}").match(data, end - 1)
    value = bare[0].decode("utf-8", "replace") if bare else ""
    good = bare and is_secret(value, human=True, config=True, quoted=False)
    return Span(end - 1, bare.end(), "password") if bare and good else None


def _look_sshpass(data: bytes, _start: int, end: int) -> Span | None:
    return _value(data, end, "password")


def _look_pgpass(data: bytes, _start: int, end: int) -> Span | None:
    return _value(data, end, "pgpass-password")


PROBES = (
    Probe(_NETRC, b"lL", lambda matched: matched[:5].lower() == b"login", _look_netrc),
    Probe(_USER, b" \t", lambda matched: matched[1:3] in (b"-u", b"--"), _look_user),
    Probe(_SSHPASS, b"s", lambda matched: matched.startswith(b"sshpass"), _look_sshpass),
    Probe(_PGPASS, b":", lambda matched: matched.startswith(b":") and matched.endswith(b":"), _look_pgpass),
)

DETECTORS = (
    Detector(
        "netrc-password",
        "password of a .netrc file",
        "`login NAME password VALUE`, judged as in configuration",
        (
            "machine api.example.com login me password «{an:14}»",
            "machine x.example\n  login bob\n  password «hunter2-Kx9»",
        ),
        ("login form password field", "Login with password authentication", "login me password ${PASSWORD}"),
    ),
    Detector(
        "password",
        "password behind `curl -u user:` or `sshpass -p`",
        "judged as in configuration",
        ("curl -s -u admin:«{an:12}x7» https://api.example.com", "sshpass -p '«hunter2-Kx9»' ssh me@host"),
        (
            "docker run -u 1000:1000 image",
            "curl -u user:password https://example.com",
            "curl -u $USER:$PASS https://x.y",
            'sshpass -p "$PASS" ssh host',
        ),
    ),
    Detector(
        "pgpass-password",
        "password of a .pgpass file",
        "`host:5432:database:user:VALUE`, judged as in configuration",
        ("db.example.com:5432:app:svc:«hunter2-Kx9»",),
        ("host:5432:db:user:password", "a.js:5432:12:"),
    ),
)
