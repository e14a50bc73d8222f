"""Finds passwords and tokens inside URLs; only they are the span, host and user stay readable."""

import functools
import re

from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.prefixes import unbroken
from privacy.secrets.runs import gather
from privacy.secrets.shapes import is_mask, is_placeholder, is_sequence, is_template, is_uuid

_PART = rb"[^\s/@\"'<>`{}()|\\]*"
_NEXT_LINE = rb"(?:(?:\\+n|\\*\r?\n)[ \t]*" + _PART + rb")?"
_CREDENTIALS = rb"://" + _PART + rb"(?::[^\s@\"'<>`|\\]*)?" + _NEXT_LINE + rb"@"
_WEBHOOK = (
    rb"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]"
    rb"|webhook\.office\.com/webhookb2/[a-z0-9]"
)
_LEAST_PASSWORD = 6
_LEAST_TOKEN, _LONGEST_PATH = 12, 44


def _look(data: bytes, start: int, end: int) -> Span | None:
    user, colon, password = data[start + 3 : end - 1].partition(b":")
    if not colon:
        return _token(data, start + 3, end - 1)
    begin = start + 3 + len(user) + 1
    stop = _last_at(data, end - 1)
    whole = unbroken(data[begin:stop])
    text = whole.decode("utf-8", "replace")
    if len(whole) != stop - begin and (unbroken(user) != user or surprise(text) <= 0 or password[:5].strip().isdigit()):
        return None  # two lines that have no more to do with each other than a colon and an `@`
    if (b"/" in password and (b"?" in user or _is_port_and_path(password))) or not _is_password(text):
        return None
    return Span(begin, stop, "url-password")


def _is_password(text: str) -> bool:
    """In this place only a password can stand: all but filler and plain words counts."""
    if len(_escapes().sub("", text)) < _LEAST_PASSWORD or is_mask(text) or is_template(text) or is_placeholder(text):
        return False
    return not text.isalpha() or text.lower() != text or surprise(text) > 0


@functools.cache
def _escapes() -> re.Pattern[str]:
    return re.compile("%[0-9A-Fa-f]{2}")


def _last_at(data: bytes, at: int) -> int:
    """Step over an `@` inside the password: the last one before the host ends it."""
    stop = at
    for place in range(at + 1, min(len(data), at + 256)):
        char = data[place : place + 1]
        if char == b"@":
            stop = place
        elif not (char.isalnum() or char in b"!#$%^&*-_=+.~:"):
            break
    return stop


def _is_port_and_path(password: bytes) -> bool:
    port = password.partition(b"/")[0]
    return port.isdigit() or not port


def _token(data: bytes, start: int, stop: int) -> Span | None:
    """`https://TOKEN@host`: a user name alone is none, so the token has to look like one."""
    text = unbroken(data[start:stop]).decode("utf-8", "replace")
    if len(text) < _LEAST_TOKEN or is_sequence(text) or not text.replace("-", "").replace("_", "").isalnum():
        return None
    if surprise(text) <= 0 or (is_uuid(text) and not data.startswith(b"https", max(0, start - 8))):
        return None
    return Span(start, stop, "url-token")


def _look_webhook(data: bytes, _start: int, end: int) -> Span | None:
    run = gather(data, end - 1, "address", wanted=_LONGEST_PATH, most=0)
    longest = max(run.body.replace("@", "/").split("/"), key=len)
    if len(longest) < _LEAST_TOKEN or is_mask(longest) or surprise(longest) <= 0:
        return None
    return Span(end - 1, run.end, "webhook-url")


PROBES = (
    Probe(_CREDENTIALS, b":", lambda matched: matched.startswith(b"://"), _look),
    Probe(
        _WEBHOOK,
        b"hdw",
        lambda matched: matched.startswith((b"hooks.slack", b"discord", b"webhook.office")),
        _look_webhook,
    ),
)

DETECTORS = (
    Detector(
        "url-password",
        "password in a URL or connection URI",
        "between `://user:` and `@`, if it is no filler word, mask or template",
        (
            "postgres://svc_a:«{an:18}»@db.internal.example:5432/app",
            "redis://:«hunter2-Kx9»@cache:6379/0",
            "https://me:«{an:12}»@git.example.com/org/repo.git",
            "mongodb+srv://app:«p4ss!{an:6}»@c0.example.net/db",
            "amqp://svc:«a@b{an:8}»@mq.example/vhost",
            "mysql://root:«correct-horse»@127.0.0.1/x",
        ),
        (
            "postgres://user:password@localhost/db",
            "postgres://$USER:$PASS@host/db",
            "https://user@example.com/",
            "http://localhost:8080/path@2x.png",
            "ssh://git@github.com:22/a/b",
            "git@github.com:org/repo.git",
            "https://example.com/@scope/package",
            "redis://user:********@host",
            "https://host:443/x?mail=a@b.example",
            "postgres://{user}:{password}@{host}/db",
            "https://cdn.example.com/npm/a@1.2.3/b.js",
            "postgres://svc:[redacted:url-password]@host/db",
            "http://<user>:<password>@host",
        ),
    ),
    Detector(
        "url-token",
        "token in the place of the user name of a URL",
        "12 or more random characters between `://` and `@`",
        ("https://«{an:40}»@github.com/org/repo", "git clone https://«{hex:40}»@git.example/x.git"),
        ("https://someone@example.com/", "https://continuous-integration@git.example/x.git"),
    ),
    Detector(
        "webhook-url",
        "secret path of a Slack, Discord or Teams webhook",
        "the path after the service's webhook address",
        (
            "https://hooks.slack.com/services/«T{UP:8}/B{UP:10}/{an:24}»",
            "https://discord.com/api/webhooks/«{dec:18}/{url:68}»",
            "https://acme.webhook.office.com/webhookb2/«{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}»",
        ),
        (
            "https://hooks.slack.com/services/",
            "https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX",
            "https://discord.com/api/webhooks/1234",
        ),
    ),
)
