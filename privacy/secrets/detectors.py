"""All detectors as people read about them: the source of `docs/privacy-detectors.md` and of the tests.

The scan itself does not need this module.
"""

from privacy.secrets import (
    assignments,
    aws,
    commands,
    cookies,
    headers,
    keyblocks,
    odd_forms,
    sk_keys,
    tokens,
    urls,
    web_tokens,
)
from privacy.secrets.model import Detector, Token


def detectors() -> tuple[Detector, ...]:
    """Give every detector, those of the catalogues first."""
    catalogued = [
        Detector(rule.kind, rule.what, _how(rule), rule.examples, rule.counterexamples) for rule in tokens.TOKENS
    ]
    return (
        *catalogued,
        *sk_keys.DETECTORS,
        *odd_forms.DETECTORS,
        *aws.DETECTORS,
        *web_tokens.DETECTORS,
        *keyblocks.DETECTORS,
        *headers.DETECTORS,
        *cookies.DETECTORS,
        *urls.DETECTORS,
        *commands.DETECTORS,
        *assignments.DETECTORS,
    )


def _how(rule: Token) -> str:
    """Say in words how a rule of the catalogues finds its keys."""
    prefixes = ", ".join(f"`{prefix}`" for prefix in rule.prefixes)
    count = (
        str(rule.low) if rule.low == rule.high else f"{rule.low} to {rule.high}" if rule.high else f"{rule.low} or more"
    )
    if rule.plain:
        return f"a word that starts with {prefixes}, then {count} random characters of {rule.alphabet}"
    return f"{prefixes}, then {count} characters of {rule.alphabet}, from {tokens.CUT} random ones on if cut off"
