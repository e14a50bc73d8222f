r"""Finds private keys that are written as blocks: PEM, OpenSSH, PGP and PuTTY, always with their bodies.

A block is followed line by line, through indents, line numbers, quotes, diff signs, comment signs and the `\n` of
escaped text, for as long as the lines are base64. So a missing or cut END line saves nothing, and code that merely
names the BEGIN line is no key. What stands before an END line without its BEGIN is found too.
"""

import functools
import re

from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.runs import further, gather

_BEGIN = rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY"
_END = rb"-----END [A-Z0-9 ]*PRIVATE KEY"
_PUTTY = rb"Private-Lines: [0-9]"
_JWK = rb"\\?\"(?:d|p|q|dp|dq|qi|k)\\*\"[ \t]*:[ \t]*\\*\"[A-Za-z0-9_-]{8}"
_TRIGGER_BODY, _LEAST_MEMBER, _NEAR = 8, 22, 2048
_GAP = (  # what may stand between two lines of a block
    rb"(?:[\s\"'`,;+|>#*()\[\]-]|\\+[nrt\"']|\\+(?=[\r\n])|<br ?/?>|\x1b\[[0-9;]*m"
    rb"|(?<![A-Za-z0-9+/=])[0-9]{1,6}(?:[\t:|)-]|\\t|[ ]{1,4}(?=[A-Za-z0-9+/]{16})|\xe2\x86\x92|\xe2\x94\x82)"
    rb"|(?<![A-Za-z0-9+/=])[\w./-]{1,200}[:-][0-9]{1,6}[:-]){0,200}"
)
_HEADER = (
    rb"(?:Proc-Type|DEK-Info|Version|Comment|MessageID|Hash|Charset|Encryption|Key-Derivation)[ \t]*:[^\n\\\"']{0,200}"
)
_LINE = rb"[A-Za-z0-9+/]{1,8192}={0,2}"
_BARE_LINE = rb"[ \t\"'`,+>|#*-]{0,40}(?:[0-9]{1,6}[\t:|]{1,2} ?)?([A-Za-z0-9+/]{0,256})={0,2}[ \t\r\"'`,+|\\-]{0,40}"
_CRC = rb"=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])"
_LEAST_LINE, _SHORT_LINE, _LEAST_BODY, _ENOUGH_BODY = 16, 6, 32, 512
_BACK, _LONGEST_LINE = 16_384, 256
_TRAILING = rb"([A-Za-z0-9+/]{16,})={0,2}\Z"


@functools.cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def _look(data: bytes, start: int, end: int) -> Span | None:
    if data.startswith(b"-----E", start):
        return _before_end(data, start, end)
    kind = "pgp-private-key" if data.startswith(b"PGP", start + len("-----BEGIN ")) else "private-key"
    at = _after_dashes(data, end)
    stop, body = _follow(data, at)
    if len(body) < _LEAST_BODY or surprise(body[:200].decode("ascii")) < 0:
        return None
    return Span(start, stop, kind)


def _after_dashes(data: bytes, at: int) -> int:
    """Step over ` BLOCK`, the dashes and whatever quotes close the BEGIN line."""
    if data.startswith(b" BLOCK", at):
        at += len(" BLOCK")
    while data[at : at + 1] == b"-":
        at += 1
    return at


def _follow(data: bytes, at: int) -> tuple[int, bytes]:
    """Follow the lines of a body from `at`; give where the block ends, and the first base64 in it."""
    stop, body, short = at, b"", False
    while True:
        gap = _compiled(_GAP).match(data, stop)
        place = gap.end() if gap else stop
        ending = _compiled(_END).match(data, _dashes_before(data, place))
        if ending:
            return _after_dashes(data, ending.end()), body
        header = None if body else _compiled(_HEADER).match(data, place)
        if header:
            stop = header.end()
            continue
        line = _compiled(_CRC).match(data, place) or _compiled(_LINE).match(data, place)
        if line is None or short or not _fits(line[0], body):
            return stop, body
        short = len(line[0]) < _SHORT_LINE
        body = body if len(body) > _ENOUGH_BODY else body + line[0].rstrip(b"=")  # not all: a block may be megabytes
        stop = line.end()


def _dashes_before(data: bytes, at: int) -> int:
    """Step back over the dashes of the END line, which the gap may have swallowed."""
    while at and data[at - 1 : at] == b"-":
        at -= 1
    return at


def _fits(line: bytes, body: bytes) -> bool:
    """Tell whether a line can belong to a key: it is long, or it is short and no word."""
    if len(line) >= _LEAST_LINE:
        return True
    text = line.rstrip(b"=").decode("ascii")
    return bool(body) and (line.endswith(b"=") or surprise(text) > 0)


def _before_end(data: bytes, start: int, end: int) -> Span | None:
    """Find the body of a key whose BEGIN line is missing: the base64 lines straight before its END line."""
    floor, first, body, stop = max(0, start - _BACK), None, b"", start
    while stop > floor:
        escaped = data.rfind(b"\\n", floor, stop)
        begin = max(data.rfind(b"\n", floor, stop) + 1, escaped + 2 if escaped >= 0 else 0, floor)
        line = _compiled(_BARE_LINE).fullmatch(data, min(begin, stop), stop)
        if line is None:  # the first line may follow something else
            line = _compiled(_TRAILING).search(data, max(begin, stop - _LONGEST_LINE), stop)
            if line:
                first, body = line.start(1), line[1] + body
            break
        if line[1]:
            if first is not None and len(line[1]) < _LEAST_LINE:
                break
            first, body = line.start(1), line[1] + body
        stop = begin - (2 if data[begin - 1 : begin] == b"n" else 1)
    if first is None or len(body) < _LEAST_BODY or surprise(body[:200].decode("ascii")) < 0:
        return None
    return Span(first, _after_dashes(data, end), "private-key")


def _look_putty(data: bytes, _start: int, end: int) -> Span | None:
    line = _compiled(rb"[0-9]{0,4}\r?(?:\n|(?:\\+r)?\\+n)").match(data, end)
    if line is None:
        return None
    gap = _compiled(_GAP).match(data, line.end())
    first = gap.end() if gap else line.end()
    stop, body = _follow(data, first)
    return Span(first, stop, "putty-private-key") if len(body) >= _LEAST_BODY else None


def _look_jwk(data: bytes, start: int, end: int) -> Span | None:
    """Judge a member of a JSON Web Key that only a private or secret key has."""
    begin = end - _TRIGGER_BODY
    near = data[max(0, start - _NEAR) : end + _NEAR]
    run = gather(data, begin, "url64", wanted=_LEAST_MEMBER, most=0)
    if not (b'"kty"' in near or b'\\"kty' in near) or len(run.body) < _LEAST_MEMBER or surprise(run.body) < 0:
        return None
    return Span(begin, further(data, run.end, "url64"), "private-key")


PROBES = (
    Probe(
        _BEGIN + b"|" + _END,
        b"-",
        lambda matched: matched.startswith((b"-----BEGIN", b"-----END")),
        _look,
    ),
    Probe(_JWK, b'\\"', lambda matched: matched.lstrip(b"\\")[:1] == b'"', _look_jwk),
    Probe(_PUTTY, b"P", lambda matched: matched.startswith(b"Private-Lines"), _look_putty),
)

DETECTORS = (
    Detector(
        "private-key",
        "private key in PEM form: PKCS#1, PKCS#8, EC, DSA, OpenSSH, encrypted or not",
        "`-----BEGIN … PRIVATE KEY`, then lines of base64 up to the END line or to the first line that is none; also "
        "the base64 lines straight before a lone END line",
        (
            "«{pem:RSA }»",
            "«{pem:}»",
            "«{pem:OPENSSH }»",
            "«{pem:EC }»",
            "«{pem:ENCRYPTED }»",
            "«{pemcut:RSA }»",
            "«{pemtail:RSA }»",
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
            'if text.startswith("-----BEGIN PRIVATE KEY-----") and text.endswith("-----END PRIVATE KEY-----"):',
            '"-----BEGIN RSA PRIVATE KEY-----\\n" + body + "\\n-----END RSA PRIVATE KEY-----"',
            "{pem:PUBLIC}",
            "{cert}",
        ),
    ),
    Detector(
        "private-key",
        "private or secret member of a JSON Web Key",
        "22 or more base64url characters behind `d`, `p`, `q`, `dp`, `dq`, `qi` or `k` in an object that has `kty`",
        ('{"kty":"EC","crv":"P-256","x":"{url:43}","y":"{url:43}","d":"«{url:43}»"}',),
        ('{"d":"{url:43}"}', '{"kty":"RSA","n":"{url:86}","e":"AQAB"}', '{"k":"kty","d":"M12 3h4v5"}'),
    ),
    Detector(
        "pgp-private-key",
        "PGP private key block",
        "`-----BEGIN PGP PRIVATE KEY BLOCK`, then headers and lines of base64, as for PEM",
        ("«{pgp}»",),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----", "{pgppublic}"),
    ),
    Detector(
        "putty-private-key",
        "private part of a PuTTY key file",
        "`Private-Lines: N`, then the lines of base64",
        ("PuTTY-User-Key-File-2: ssh-ed25519\nPrivate-Lines: 1\n«{b64:44}»\nPrivate-MAC: 00",),
        ("Private-Lines: 1",),
    ),
)
