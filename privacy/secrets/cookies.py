"""Finds session cookies: who sends one is signed in, without a password."""

from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.runs import FAR, further, gather
from privacy.secrets.shapes import is_hex, is_mask, is_placeholder, is_template, is_uuid

_HEADER = rb"(?i:cookie)(?:\\*[\"'])?(?:[ \t]*[:=,]|[ \t])[ \t]*\\*[\"']?"
_NAME = rb"[A-Za-z0-9_.-]*(?i:sess|sid|auth|remember|login|jwt|ticket|identity)[A-Za-z0-9_.-]*"
_TRIGGER = b"(?:" + _HEADER + rb"|;[ \t]*)" + _NAME + rb"=(?:\\*\")?[A-Za-z0-9%]"
_LOOK_BACK = 2048
_LEAST = 16
_LEAST_HEX = 20
_LONG, _TRUSTED_BITS = 30, -8.0


def _look(data: bytes, start: int, end: int) -> Span | None:
    if data[start : start + 1] == b";" and not _in_cookies(data, start):
        return None
    run = gather(data, end - 1, "cookie", wanted=_LEAST, most=0)
    body = run.body.rstrip(".:")
    if not _is_session(body):
        return None
    stop = run.end - (len(run.body) - len(body)) if len(body) < FAR else further(data, run.end, "cookie")
    return Span(end - 1, stop, "session-cookie")


def _in_cookies(data: bytes, at: int) -> bool:
    """Tell whether the line up to `at` speaks of cookies; looks back 2048 bytes at most."""
    line = data[max(0, at - _LOOK_BACK) : at].rpartition(b"\n")[2]
    return b"ookie" in line or b"OOKIE" in line


def _is_session(body: str) -> bool:
    if len(body) < _LEAST or is_mask(body) or is_template(body) or is_placeholder(body):
        return False
    if is_hex(body):
        return len(body) >= _LEAST_HEX
    return is_uuid(body) or surprise(body) > (_TRUSTED_BITS if len(body) > _LONG else 0)


PROBE = Probe(
    _TRIGGER, b"cC;", lambda matched: matched[:1] == b";" or matched[:6].lower() == b"cookie", _look
)  # fmt: skip

DETECTORS = (
    Detector(
        "session-cookie",
        "value of a cookie that keeps somebody signed in",
        "in a line with `Cookie`: a name with sess, sid, auth, remember, login, jwt, ticket or identity, `=`, and 16 "
        "or more characters that look random",
        (
            "Set-Cookie: session=«{an:40}»; Path=/; HttpOnly",
            "Cookie: sessionid=«{b36:32}»",
            "Cookie: theme=dark; connect.sid=«s%3A{an:32}.{an:43}»; lang=de",
            "curl -H 'Cookie: PHPSESSID=«{b36:26}»' https://example.com",
            "JSESSIONID cookie: JSESSIONID=«{HEX:32}»",
            "curl --cookie 'user_session=«{url:48}»' https://example.com",
        ),
        (
            "Cookie: session=abc123",
            "Set-Cookie: session=; Max-Age=0",
            "Cookie: theme={an:32}",
            "cookie_session=sessionmaker",
            "Set-Cookie: sessionid=your-session-id-goes-here",
            "Cookie: session=${SESSION_ID}",
            "Cookie: SESSION=xxxxxxxxxxxxxxxxxxxxxxxx",
            "width: 1px; session={an:40}",
            "session={an:40}",
        ),
    ),
)
