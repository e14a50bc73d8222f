"""Finds keys that show themselves by their first characters: the catalogues, and the `sk-` family."""

from privacy.secrets import catalogue_clouds, catalogue_code, catalogue_models, catalogue_services
from privacy.secrets.edges import is_word, opens
from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Probe, Span, Token
from privacy.secrets.prefixes import broken, joined, literal, unbroken
from privacy.secrets.runs import ALPHABETS, gather, piece_end
from privacy.secrets.shapes import is_mask, is_placeholder, is_sequence

TOKENS = catalogue_code.TOKENS + catalogue_clouds.TOKENS + catalogue_models.TOKENS + catalogue_services.TOKENS
_CUT = 12  # random characters behind a distinctive prefix that make a key even if the rest is missing
_TRUSTED_BITS = -8.0  # a whole key may by chance look a little like words, this much and no more
_CUT_BITS = -6.0
_LONG = 30
_GUARD = 6  # characters that must follow a plain prefix before anybody looks

_BY_PREFIX = {prefix.encode(): rule for rule in TOKENS for prefix in rule.prefixes}


def _trigger() -> bytes:
    """Plain prefixes come with a guard of characters behind them, the longer prefix first; the others in one index."""
    plain = sorted((prefix for prefix, rule in _BY_PREFIX.items() if rule.plain), key=len, reverse=True)
    guarded = [literal(prefix) + b"[" + ALPHABETS[_BY_PREFIX[prefix].alphabet] + b"]{%d}" % _GUARD for prefix in plain]
    return b"|".join([broken([prefix for prefix, rule in _BY_PREFIX.items() if not rule.plain]), *guarded])


def _recognises(matched: bytes) -> bool:
    return joined(matched) in _BY_PREFIX or matched[:-_GUARD] in _BY_PREFIX


def _rule(matched: bytes) -> tuple[Token, int] | None:
    """Give the rule whose prefix was matched, and how many bytes of the match are the prefix."""
    rule = _BY_PREFIX.get(unbroken(matched))
    if rule and not rule.plain:
        return rule, len(matched)
    rule = _BY_PREFIX.get(matched[:-_GUARD])
    return (rule, len(matched) - _GUARD) if rule and rule.plain else None


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
        if len(body) < _CUT or is_mask(body) or is_placeholder(body) or "XMPL" in body:
            continue
        if _is_trusted_part(body) if cut else _is_trusted(body):
            return _without_tail(data, at, stop)
    return None


def _is_trusted(body: str) -> bool:
    """A whole body behind a distinctive prefix is a key unless it reads as words."""
    return surprise(body) > (-len(body) if len(body) >= _LONG else _TRUSTED_BITS) or is_sequence(body)


def _is_trusted_part(body: str) -> bool:
    """A body that was cut has to look random, since many a word has twelve letters too."""
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
    stop = piece_end(data, body_start, rule.alphabet)
    body = data[body_start:stop].decode("ascii").rstrip(".")
    if not rule.low <= len(body) <= (rule.high or len(body)):
        return None
    stop = body_start + len(body)
    if is_word(data, stop) or is_mask(body) or "XMPL" in body or surprise(body) <= 0:
        return None
    return Span(start, stop, rule.kind)


PROBE = Probe(_trigger(), _recognises, _look)


def how(rule: Token) -> str:
    """Say in words how a rule of the catalogues finds its keys."""
    prefixes = ", ".join(f"`{prefix}`" for prefix in rule.prefixes)
    count = (
        f"{rule.low}"
        if rule.low == rule.high
        else f"{rule.low} or more"
        if not rule.high
        else f"{rule.low} to {rule.high}"
    )
    if rule.plain:
        return f"a word that starts with {prefixes}, then {count} random characters of {rule.alphabet}"
    return f"{prefixes}, then {count} characters of {rule.alphabet}, from {_CUT} random ones on if cut off"


DETECTORS = tuple(Detector(rule.kind, rule.what, how(rule), rule.examples, rule.counterexamples) for rule in TOKENS)
