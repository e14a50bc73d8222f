"""Finds keys that show themselves by their first characters: the rules of the catalogues."""

import functools
import re

from privacy.secrets import catalogue_clouds, catalogue_code, catalogue_models, catalogue_services
from privacy.secrets.edges import is_word, opens
from privacy.secrets.letters import surprise
from privacy.secrets.model import Probe, Span, Token
from privacy.secrets.prefixes import broken, guarded, index, unbroken, width_of
from privacy.secrets.runs import further, gather
from privacy.secrets.shapes import is_mask, is_padded, is_placeholder, is_sequence

TOKENS = catalogue_code.TOKENS + catalogue_clouds.TOKENS + catalogue_models.TOKENS + catalogue_services.TOKENS
_COMMON_KINDS = (
    "github-token gitlab-token npm-token pypi-token aws-access-key-id google-api-key google-oauth-secret slack-token "
    "google-oauth-token stripe-key sendgrid-key huggingface-token digitalocean-token vault-token age-secret-key"
)
_COMMON = frozenset(_COMMON_KINDS.split())
CUT = 12  # random characters behind a distinctive prefix that make a key even if the rest is missing
_TRUSTED_BITS = -8.0  # a whole key may by chance look a little like words, this much and no more
_CUT_BITS = -6.0
_LONG = 30

_BY_PREFIX = {prefix.encode(): rule for rule in TOKENS for prefix in rule.prefixes}
_GUARDED = tuple(sorted((prefix for prefix, rule in _BY_PREFIX.items() if rule.guard), key=len, reverse=True))


def _trigger() -> bytes:
    """Guarded prefixes come with their guard, the longer prefix first; the others in two indexes.

    Breaks inside the prefix are allowed for the keys that people have most: each costs time to compile.
    """
    common = [prefix for prefix, rule in _BY_PREFIX.items() if rule.kind in _COMMON]
    other = [prefix for prefix, rule in _BY_PREFIX.items() if rule.kind not in _COMMON and not rule.guard]
    return b"|".join([broken(common), index(other), *(guarded(prefix, *_guard(prefix)) for prefix in _GUARDED)])


def _guard(prefix: bytes) -> tuple[bytes, int, bytes]:
    characters, count, *then = _BY_PREFIX[prefix].guard or ("", 0)
    return characters.encode(), count, "".join(then).encode()


def _recognises(matched: bytes) -> bool:
    text = unbroken(matched)
    return text in _BY_PREFIX or (text.startswith(_GUARDED) and _guarded().fullmatch(text) is not None)


@functools.cache
def _guarded() -> re.Pattern[bytes]:
    """Compile what the guarded prefixes match, without breaks: a name may start with one too."""
    every = ((prefix, *_guard(prefix)) for prefix in _GUARDED)
    return re.compile(b"|".join(b"%b[%b]{%d}%b" % (re.escape(p), cs, n, re.escape(then)) for p, cs, n, then in every))


def _rule(matched: bytes) -> tuple[Token, int] | None:
    """Give the rule whose prefix was matched, and how many bytes of the match are the prefix."""
    rule = _BY_PREFIX.get(unbroken(matched))
    if rule:
        return rule, len(matched)
    prefix = next((prefix for prefix in _GUARDED if unbroken(matched).startswith(prefix)), b"")
    return (_BY_PREFIX[prefix], width_of(prefix, matched)) if prefix else None


def _look(data: bytes, start: int, end: int) -> Span | None:
    found = _rule(data[start:end])
    if found is None:
        return None
    rule, width = found
    body_start = start + width
    if rule.plain:
        return _plain(data, start, body_start, rule)
    if not opens(data, start, joiners=b""):
        return None
    stop = key_end(data, body_start, rule.alphabet, rule.low, rule.high)
    return Span(start, stop, rule.kind) if stop else None


def key_end(data: bytes, at: int, alphabet: str, low: int, high: int) -> int | None:
    """Give where the key ends whose body starts at `at`, or None if that body is no key's.

    A whole body is taken unless it is filler or plainly words; a shorter one from twelve random characters on.
    """
    run = gather(data, at, alphabet, wanted=low, most=high)
    if low == high and len(run.first) > high:
        return None
    for body, stop in ((run.body, run.end), (run.first, at + len(run.first))):
        cut = len(body) < low
        if len(body) < CUT or is_mask(body) or is_placeholder(body) or "XMPL" in body or "EXAMPLE" in body:
            continue
        if _is_trusted_part(body) if cut else _is_trusted(body):
            return _without_tail(data, at, further(data, stop, alphabet) if high == 0 else stop)
    return None


def _is_trusted(body: str) -> bool:
    """Tell whether a whole body behind a distinctive prefix is a key: it does not read as words."""
    return surprise(body) > (-len(body) if len(body) >= _LONG else _TRUSTED_BITS) or is_sequence(body)


def _is_trusted_part(body: str) -> bool:
    """Tell whether a body that was cut looks random, since many a word has twelve letters too."""
    bits = surprise(body)
    return not is_sequence(body) and bits > _CUT_BITS and (bits > 0 or any(char.isdigit() for char in body))


def _without_tail(data: bytes, at: int, stop: int) -> int:
    """Leave the full stop of a sentence or the slash of a path out of the key."""
    while stop > at + 1 and data[stop - 1 : stop] in (b".", b"/"):
        stop -= 1
    return stop


def _plain(data: bytes, start: int, body_start: int, rule: Token) -> Span | None:
    if not opens(data, start):
        return None
    run = gather(data, body_start, rule.alphabet, wanted=rule.low, most=rule.high)
    for body, stop in ((run.body, run.end), (run.first, body_start + len(run.first))):
        kept = body.rstrip(".")
        last = stop - (len(body) - len(kept))
        whole = rule.low <= len(kept) <= (rule.high or len(kept)) and not is_word(data, last)
        if whole and not is_padded(kept) and "EXAMPLE" not in kept and surprise(kept) > 0:
            return Span(start, further(data, last, rule.alphabet) if rule.high == 0 else last, rule.kind)
    return None


PROBE = Probe(_trigger(), bytes({prefix[0] for prefix in _BY_PREFIX}), _recognises, _look)
