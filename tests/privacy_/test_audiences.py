"""Who may receive which classes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.settings import CLASSES, defaults
from privacy.audiences import LOCAL, REMOTE, Audience, allowed_classes, audience_of


def _values(**changes: Any) -> dict[str, Any]:
    return defaults() | {f"privacy.{key}": value for key, value in changes.items()}


def test_the_owner_may_see_every_class() -> None:
    """Nothing is hidden from the owner at a terminal."""
    assert allowed_classes(LOCAL, defaults()) == CLASSES


def test_an_unknown_provider_gets_the_remote_default() -> None:
    """Unknown means remote: normal and internal, as the settings have it."""
    assert allowed_classes(REMOTE, defaults()) == ("normal", "internal")
    assert allowed_classes(audience_of("anthropic", defaults()), defaults()) == ("normal", "internal")


@pytest.mark.parametrize("name", ["ollama", "Ollama", "  OLLAMA ", "llama-cpp", "faux", "lmstudio"])
def test_a_local_provider_may_receive_every_class(name: str) -> None:
    """Names of local providers count in any letter case and with blanks around them."""
    audience = audience_of(name, defaults())
    assert audience.local
    assert allowed_classes(audience, defaults()) == CLASSES


def test_local_providers_are_asked_again_when_classes_are_given() -> None:
    """The settings decide, not a flag that was set before they changed."""
    values = _values(localProviders=[" MyBox "])
    assert allowed_classes(Audience("mybox", local=False), values) == CLASSES


def test_a_named_rule_replaces_the_default() -> None:
    """A rule for a remote provider may narrow or widen what it gets, in any spelling of its name."""
    values = _values(remoteProviders={"OpenAI": ["normal"], "corp": ["sensitive", "normal", "internal"]})
    assert allowed_classes(audience_of("openai", values), values) == ("normal",)
    assert allowed_classes(audience_of(" CORP", values), values) == ("normal", "internal", "sensitive")
    assert allowed_classes(audience_of("other", values), values) == ("normal", "internal")


def test_two_spellings_of_one_provider_allow_what_both_allow() -> None:
    """Contradicting rules for one name fail closed."""
    values = _values(remoteProviders={"openai": ["normal", "sensitive"], "OpenAI": ["normal", "internal"]})
    assert allowed_classes(audience_of("OPENAI", values), values) == ("normal",)


def test_an_empty_rule_allows_nothing() -> None:
    """A provider can be shut out altogether."""
    values = _values(remoteProviders={"openai": []})
    assert allowed_classes(audience_of("openai", values), values) == ()


@pytest.mark.parametrize("name", ["", "   "])
def test_no_name_is_an_unknown_remote_provider(name: str) -> None:
    """Whoever does not say who asks is remote, even if the settings hold an empty name."""
    assert audience_of(name, _values(localProviders=[""])) == REMOTE
    assert allowed_classes(REMOTE, _values(localProviders=[""], remoteProviders={"": list(CLASSES)})) == (
        "normal",
        "internal",
    )


@pytest.mark.parametrize("name", ["local", "Local", " LOCAL "])
def test_local_is_the_owner(name: str) -> None:
    """The word local names the owner at a terminal."""
    assert audience_of(name, defaults()) == LOCAL


_CLASS_LISTS = st.lists(st.sampled_from(CLASSES), max_size=5)


@given(
    st.sampled_from(["openai", "corp", "x"]),
    _CLASS_LISTS,
    st.dictionaries(st.sampled_from(["openai", "corp"]), _CLASS_LISTS),
)
def test_local_only_never_goes_to_a_remote_provider(name: str, default: list[str], rules: dict[str, list[str]]) -> None:
    """Not even settings that no check has seen can give the strictest class to a remote audience."""
    values = _values(remoteDefaultAllowed=default, remoteProviders=rules)
    allowed = allowed_classes(audience_of(name, values), values)
    assert "local-only" not in allowed
    assert list(allowed) == sorted(set(allowed), key=CLASSES.index)
