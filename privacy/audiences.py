"""Who will see an answer, and which classes that audience may receive.

Unknown means remote, and nothing in the settings can give `local-only` to a remote audience.
"""

from typing import NamedTuple

from foundation.settings import CLASSES, LOCAL_ONLY, Values

OMITTED = "[omitted: classified above what this audience may see]"
"""Stands for text that may not go to an audience."""


class Audience(NamedTuple):
    """A provider id, and whether what it receives stays on this machine."""

    provider: str
    local: bool


LOCAL = Audience("local", local=True)
"""The owner at a terminal."""

REMOTE = Audience("", local=False)
"""A provider that nobody named."""


def audience_of(name: str, values: Values) -> Audience:
    """Give the audience of that name: `local`, a provider of `privacy.localProviders`, or a remote one."""
    provider = name.strip()
    if not provider:
        return REMOTE
    if _same(provider) == LOCAL.provider:
        return LOCAL
    return Audience(provider, local=_runs_here(provider, values))


def provider_audience(name: str, values: Values) -> Audience:
    """Give the audience that a provider is, whatever it is called: one called `local` is not the owner."""
    provider = name.strip()
    return Audience(provider, local=_runs_here(provider, values)) if provider else REMOTE


def allowed_classes(audience: Audience, settings_values: Values) -> tuple[str, ...]:
    """Give the classes that the audience may receive, from open to closed."""
    if audience.local or _runs_here(audience.provider, settings_values):
        return CLASSES
    allowed = _rule_for(audience.provider, settings_values)
    return tuple(cls for cls in CLASSES if cls in allowed and cls != LOCAL_ONLY)


def _rule_for(provider: str, values: Values) -> set[str]:
    """Give the named rule, else the default; of several spellings of one name only what all of them allow."""
    wanted = _same(provider)
    rules = [set(allowed) for name, allowed in values["privacy.remoteProviders"].items() if _same(name) == wanted]
    if not wanted or not rules:
        return set(values["privacy.remoteDefaultAllowed"])
    return set.intersection(*rules)


def _runs_here(provider: str, values: Values) -> bool:
    wanted = _same(provider)
    return bool(wanted) and any(_same(name) == wanted for name in values["privacy.localProviders"])


def _same(name: str) -> str:
    return name.strip().lower()
