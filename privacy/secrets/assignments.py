r"""Finds values behind names that promise a secret: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `Password=…;`.

Works on .env, JSON, YAML, TOML, INI, XML, source code, command lines and connection strings, and on the same inside
strings where each quote carries backslashes. Only the value is the span.
"""

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

from privacy.secrets.edges import line_ends
from privacy.secrets.letters import surprise
from privacy.secrets.model import Span
from privacy.secrets.names import meaning
from privacy.secrets.quoted import read
from privacy.secrets.runs import after_break, piece_end
from privacy.secrets.values import is_random, is_secret

_WORD = (
    rb"(?i:passw(?:or)?d|passwort|passphrase|passcode|pwd|secret|token|credential|api[_-]?key|"
    rb"(?:access|private|account|shared|storage|signing|signature|encryption|encrypt|master|service|auth|app|license|"
    rb"subscription|deploy|webhook|client|admin|hmac|jwt|aes|session|cookie|function)[_-]?key|authorization)"
    rb"[A-Za-z0-9_.-]*"
    rb"|(?i:auth|pass|creds?|jwt|_pw|_pat)(?:[0-9A-Z_.-][A-Za-z0-9_.-]*)?"
)
_SIGN = rb"(?:=>|:=|\?=|\|\|=|===?|[:=])"
_BETWEEN = (
    rb"(?:(?:\\*[\"'`])?[\])]?[ \t]*" + _SIGN + rb"|>|\\*[\"']?,?(?:\s|\\+[nr])*\\*[\"']?(?i:value)\\*[\"']?[ \t]*[:=])"
)
_FLAG = rb"--[a-z-]*(?:password|passwd|passphrase|token|secret|api-?key|access-?key)[a-z-]*(?:[ \t]+|\\*[\"'],[ \t]*)"
TRIGGER = b"(?:" + _WORD + b")" + _BETWEEN + b"|" + _FLAG
_LOOK_BACK, _LONGEST_HUMAN, _LEAST_PIECE = 64, 256, 6
_MOST_OF_IT = 0.7
_BARE = rb"[^\s\"'`<>(){}\[\],;|&\\]+"
_WHOLE_LINE = rb"[^\s\"'`\\${<][^\s\"'`\\]*(?=[ \t]*(?:\r?\n|\\n|\\r|\Z))"
_NAME = rb"[A-Za-z0-9_.-]*"
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_LEAD = (
    rb"[ \t]*(?:[A-Za-z_][A-Za-z0-9_.<>\[\]| ]{0,60}=[ \t]*(?=\\*[\"'])|"
    rb"(?:new[ ])?[A-Za-z_][A-Za-z0-9_.:]{0,40}!?\((?=\\*[\"']))"
)
_SCHEME = rb"(?i:bearer|basic|token|apikey|api-key|bot|key|digest)[ \t]+"
_ELEMENT = rb"(?:<!\[CDATA\[)?([^<>\s]+?)(?:\]\]>)?</"


@functools.cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


class Place(NamedTuple):
    """A name with its value: where it is (`lead` before, `start` behind a word such as Bearer), how it is written."""

    name: str
    lead: int
    start: int
    end: int
    text: str
    quoted: bool
    config: bool


def look(data: bytes, start: int, end: int, specific: Callable[[int, int], Span | None]) -> Span | None:
    """Judge the value behind the name that was matched; `specific` finds a key of a known form between two places."""
    place = _place(data, start, end)
    if place is None or place.end <= place.start:
        return None
    known = specific(place.start, place.start) or specific(place.lead, place.start)
    named = meaning(place.name)
    if named is None:
        return known
    if not is_secret(place.text[:_LONGEST_HUMAN], human=named.human, config=place.config, quoted=place.quoted):
        return known
    stop = place.end if place.quoted else _joined(data, place)
    known = known or specific(place.start, stop)
    if known and known.end - known.start >= (stop - place.start) * _MOST_OF_IT:
        return Span(min(known.start, place.start), max(known.end, stop), known.kind)
    return Span(place.start, stop, named.kind)


def _place(data: bytes, start: int, end: int) -> Place | None:
    """Find the name around the match and the value behind it."""
    flag = data.startswith(b"--", start)
    first = start if flag else _name_start(data, start)
    found = _compiled(_NAME).match(data, first, end)
    name = (found[0] if found else b"").decode("ascii")
    if data[first - 1 : first] in (b":", b"/") and first:
        return None
    between = data[first + len(name) : end]
    at = _value_start(data, end, between)
    if between.endswith(b">") and not between.endswith(b"=>"):
        return _element(data, at, name)
    text = read(data, at)
    if text:
        scheme = _scheme_end(data, text.start, name)
        if scheme > text.start:
            return _bare(data, text.start, scheme, name, config=False)
        if not text.closed and text.end < len(data):
            return None
        config = flag or (_is_shouted(name) and between == b"=")
        return Place(name, text.start, text.start, text.end, text.text, quoted=True, config=config)
    scheme = _scheme_end(data, at, name)
    return _bare(data, at, scheme, name, config=flag or _is_config(data, first, scheme, name, between))


def _name_start(data: bytes, at: int) -> int:
    r"""Step back to where the name begins; the `n` of a `\n` before it is no part of it."""
    floor = max(0, at - _LOOK_BACK)
    window = data[floor:at]
    kept = len(window) - len(window.rstrip(_NAME_BYTES))
    first = at - kept
    if first < at and data[first - 1 : first] == b"\\" and data[first : first + 1] in b"nrtbf":
        first += 1
    return first


def _value_start(data: bytes, end: int, between: bytes) -> int:
    """Step over blanks, a type annotation, and a call that wraps a literal."""
    found = _compiled(_LEAD).match(data, end, end + 120) if between.rstrip().endswith((b":", b"=")) else None
    at = found.end() if found else end
    while data[at : at + 1] in (b" ", b"\t"):
        at += 1
    return at


def _scheme_end(data: bytes, at: int, name: str) -> int:
    """Step over `Bearer`, `Basic`, `Token` and the like in front of the value of an authorisation."""
    found = _compiled(_SCHEME).match(data, at, at + 40) if "auth" in name.lower() else None
    return found.end() if found else at


def _element(data: bytes, at: int, name: str) -> Place | None:
    """`<password>value</password>`"""
    found = _compiled(_ELEMENT).match(data, at, at + _LONGEST_HUMAN)
    if not found:
        return None
    text = found[1].decode("utf-8", "replace")
    return Place(name, found.start(1), found.start(1), found.end(1), text, quoted=True, config=True)


def _bare(data: bytes, lead: int, at: int, name: str, *, config: bool) -> Place | None:
    found = _compiled(_WHOLE_LINE if config and _is_shouted(name) else _BARE).match(data, at)
    found = found or _compiled(_BARE).match(data, at)
    if not found:
        return None
    value = found[0].rstrip(b".:" if not config else b"")
    end = at + len(value)
    if not config and data[end : end + 1] in (b"(", b"[", b"{"):
        return None
    return Place(name, lead, at, end, value.decode("utf-8", "replace"), quoted=False, config=config)


def _is_shouted(name: str) -> bool:
    return name.isupper()


def _is_config(data: bytes, first: int, at: int, name: str, between: bytes) -> bool:
    """Tell whether this is no code: `NAME=value`, a whole line `name=value` or `name: value`, or a `;` behind it."""
    if between == b"=" and _is_shouted(name):
        return True
    found = _compiled(_BARE).match(data, at)
    if not found or not between.strip().endswith((b"=", b":")):
        return False
    if (
        between == b"="
        and data[found.end() : found.end() + 1] == b";"
        and data[first - 1 : first] in (b";", b'"', b"'")
    ):
        return True
    if not _starts_line(data, first) or not line_ends(data, found.end()):
        return False
    return between == b"=" or (between == b":" and found[0][:1].islower() and meaning(name) is not None)


def _starts_line(data: bytes, first: int) -> bool:
    return first == 0 or data[first - 1 : first] == b"\n" or data[first - 2 : first] == b"\\n"


def _joined(data: bytes, place: Place) -> int:
    """Follow a random value over the line breaks that a terminal put into it."""
    end = place.end
    if not is_random(place.text, config=place.config):
        return end
    while True:
        start = after_break(data, end, place.start)
        if start is None:
            return end
        stop = piece_end(data, start, "dotted64")
        piece = data[start:stop].decode("ascii")
        if len(piece) < _LEAST_PIECE or surprise(piece) <= 0 or data[stop : stop + 1] in (b":", b"("):
            return end
        end = stop
