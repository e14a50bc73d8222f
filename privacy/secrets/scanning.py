"""The scan: one RE2 pass over the bytes finds the places worth a look, the detectors judge them.

Clean text costs that one pass. Each look reads a bounded stretch, or one that becomes a span and is not read again,
so that the work grows with the length of the text, whatever is in it.
"""

import functools
from typing import Any

from privacy.secrets import (
    assignments,
    commands,
    cookies,
    escaped,
    headers,
    keyblocks,
    odd_forms,
    sk_keys,
    tokens,
    urls,
    web_tokens,
)
from privacy.secrets.aws import companion
from privacy.secrets.first_look import compiled
from privacy.secrets.forms import TRIGGER, is_escaped
from privacy.secrets.invisible import INVISIBLE, INVISIBLE_STARTS, cleaned, places
from privacy.secrets.model import Probe, Secret, Span

_PROBES: tuple[Probe, ...] = (
    *keyblocks.PROBES,
    *urls.PROBES,
    sk_keys.PROBE,
    web_tokens.PROBE,
    headers.PROBE,
    cookies.PROBE,
    *commands.PROBES,
    *odd_forms.PROBES,
    tokens.PROBE,
)
"""The first that recognises a match judges it; what none recognises is an assignment."""

MOST_LOOKS = 100_000
"""Places that are judged in one text; a text with more is made to hold us up, and its rest is redacted unseen."""

_LONGEST_PREFIX = 24
_GENERAL = (
    "bearer-token",
    "session-cookie",
    "url-password",
    "url-token",
    "password",
    "netrc-password",
    "pgpass-password",
)
_TRIGGER_REACH = 64
_BY_FIRST = {
    code: tuple(probe for probe in _PROBES if code in probe.first) for code in set(b"".join(p.first for p in _PROBES))
}


@functools.cache
def trigger() -> bytes:
    """Give the RE2 pattern of all places worth a look; `triggers` holds it ready."""
    return b"|".join([*(probe.trigger for probe in _PROBES), TRIGGER])


@functools.cache
def _compiled(pattern: bytes) -> Any:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern, options)


def judged(text: str, data: bytes, first: Any) -> list[Secret]:
    """Find the secrets of a text, given in characters and in UTF-8, from the first place worth a look on."""
    spans, dirty = _scan(data, first)
    if dirty:
        spans += _scan_cleaned(data)
    if not spans:
        return []
    merged = _merged(spans)
    return [Secret(*span) for span in merged] if len(data) == len(text) else _in_characters(data, merged)


def _scan_cleaned(data: bytes) -> list[Span]:
    """Find the spans that show once invisible parts are out and escapes read; such parts inside a span belong to it."""
    clean = cleaned(data)
    coded = _compiled(escaped.HINT).search(clean) is not None
    plain = escaped.decoded(clean) if coded else clean
    found = compiled(invisible=False).search(plain)
    spans = _merged(_scan(plain, found)[0]) if found else []
    shown = [place for span in spans for place in (span.start, span.end)]
    shown = [*escaped.places(clean, shown)] if coded else shown
    edges = places(data, [place - at % 2 for at, place in enumerate(shown)])
    return [Span(next(edges), next(edges) + 1, span.kind) for span in spans]


def _scan(data: bytes, found: Any) -> tuple[list[Span], bool]:
    """Follow the triggers from the first match on; give the spans, and whether something invisible was met."""
    search, dirty = compiled(invisible=True).search, False
    spans: list[Span] = []
    looks = 0
    while found:
        looks += 1
        if looks > MOST_LOOKS:
            spans.append(Span(found.start(), len(data), "unscanned"))
            break
        start, end = found.start(), found.end()
        matched = data[start:end]
        if matched.startswith(INVISIBLE_STARTS):
            search, dirty, at = compiled(invisible=False).search, True, start
        else:
            span, at = _judge(data, start, matched)
            dirty = dirty or is_escaped(matched) or _veiled_in(data, start, max(at, end))
            if span:
                spans.append(span)
                if span.kind == "aws-access-key-id" and (other := companion(data, span)):
                    spans.append(other)
        found = search(data, at)
    return spans, dirty


def _veiled_in(data: bytes, start: int, end: int) -> bool:
    return _compiled(INVISIBLE).search(data, start, end) is not None


def _judge(data: bytes, start: int, matched: bytes) -> tuple[Span | None, int]:
    """Let the probe that the match belongs to judge it; give its span, and where to go on."""
    end = start + len(matched)
    for probe in _BY_FIRST.get(matched[0], ()):
        if probe.recognises(matched):
            span = probe.look(data, start, end)
            if span is None:
                return None, _onward(start, end)
            span = _named(data, span) if span.kind in _GENERAL else span
            return span, max(span.end, start + 1)
    span = assignments.look(data, start, end, functools.partial(_specific, data))
    if span is None:
        return None, end - 1 if assignments.starts_a_name(matched) else _onward(start, end)
    return span, max(span.end, end - 1)


def _onward(start: int, end: int) -> int:
    """Give where to go on after a match that was nothing: a real prefix may start inside it."""
    return max(start + 1, end - _LONGEST_PREFIX)


def _named(data: bytes, span: Span) -> Span:
    """Give a find behind a general word its own kind, if a key of a known form starts there."""
    known = _specific(data, span.start, span.start)
    return Span(span.start, max(span.end, known.end), known.kind) if known else span


def _specific(data: bytes, at: int, until: int) -> Span | None:
    """Find the first key of a known form that starts between two places, both included."""
    triggers = compiled(invisible=True)
    found = triggers.match(data, at) if until <= at else triggers.search(data, at, until + _TRIGGER_REACH)
    if not found or found.start() > until:
        return None
    start, end = found.start(), found.end()
    matched = data[start:end]
    probe = next((probe for probe in _BY_FIRST.get(matched[0], ()) if probe.recognises(matched)), None)
    return probe.look(data, start, end) if probe else None


def _merged(spans: list[Span]) -> list[Span]:
    """Join spans that overlap; the kind of the longer one counts."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
        elif span.end > last.end:
            kind = last.kind if last.end - last.start >= span.end - span.start else span.kind
            merged[-1] = Span(last.start, span.end, kind)
    return merged


def _in_characters(data: bytes, spans: list[Span]) -> list[Secret]:
    """Map bytes to characters, each stretch of the text decoded once."""
    secrets, at, count = [], 0, 0
    for span in spans:
        count += len(data[at : span.start].decode("utf-8", "surrogatepass"))
        width = len(data[span.start : span.end].decode("utf-8", "surrogatepass"))
        secrets.append(Secret(count, count + width, span.kind))
        count, at = count + width, span.end
    return secrets
