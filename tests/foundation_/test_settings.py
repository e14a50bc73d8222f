"""The table of settings says what is valid, what is the default, and which changes could show more than before."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.settings import CLASSES, SETTINGS, defaults, loosens


@pytest.mark.parametrize("key", SETTINGS)
def test_a_default_is_valid_and_described(key: str) -> None:
    """Every key has a value to start from, its kind in words, and a meaning that is a sentence."""
    setting = SETTINGS[key]
    assert setting.accepts(setting.default)
    assert setting.kind
    assert setting.meaning.endswith(".")
    assert defaults()[key] == setting.default


VALID: dict[str, list[Any]] = {
    "historyTools.defaultScope": ["current-branch", "current-session", "current-lineage"],
    "historyTools.maxResults": [1, 12],
    "historyTools.maxOutputTokens": [256, 6000],
    "historyTools.maxProjectSessions": [1, 500],
    "sessionRebase.mode": ["manual"],
    "sessionRebase.preserveSource": [True],
    "sessionRebase.checkpointTargetTokens": [512, 24_000],
    "privacy.defaultClassification": list(CLASSES),
    "privacy.localProviders": [[], ["ollama"]],
    "privacy.remoteDefaultAllowed": [[], ["normal", "internal", "sensitive"]],
    "privacy.remoteProviders": [{}, {"p": []}, {"p": ["normal"]}],
    "memory.maxPinChars": [1, 20_000],
    "memory.maxClaimChars": [1, 20_000],
    "memory.maxPinnedTokens": [1, 64_000],
}
INVALID: dict[str, list[Any]] = {
    "historyTools.defaultScope": ["project", "everywhere", "", None, ["current-branch"]],
    "historyTools.maxResults": [0, 13, 6.0, "6", True, None],
    "historyTools.maxOutputTokens": [255, 6001],
    "historyTools.maxProjectSessions": [0, 501],
    "sessionRebase.mode": ["auto", None],
    "sessionRebase.preserveSource": [False, 1, None],
    "sessionRebase.checkpointTargetTokens": [511, 24_001],
    "privacy.defaultClassification": ["secret", "", None, 1],
    "privacy.localProviders": ["ollama", [""], [" "], [5], None, {}],
    "privacy.remoteDefaultAllowed": [["local-only"], ["normal", "normal"], ["secret"], [5], [[]], "normal", None],
    "privacy.remoteProviders": [{"p": ["local-only"]}, {" ": []}, {"p": "normal"}, [], None],
    "memory.maxPinChars": [0, 20_001],
    "memory.maxClaimChars": [0, 20_001],
    "memory.maxPinnedTokens": [0, 64_001],
}
BOOLEAN = [key for key, setting in SETTINGS.items() if setting.kind == "true or false"]


def test_these_cases_and_the_booleans_are_all_settings() -> None:
    """No key is left without its range being held."""
    assert set(VALID) == set(INVALID) == set(SETTINGS) - set(BOOLEAN)


@pytest.mark.parametrize("key", VALID)
def test_the_range_of_a_setting_is_exact(key: str) -> None:
    """What the documentation allows is accepted, the next value beyond it is not."""
    assert all(SETTINGS[key].accepts(value) for value in VALID[key])
    assert not any(SETTINGS[key].accepts(value) for value in INVALID[key])


@pytest.mark.parametrize("key", BOOLEAN)
def test_a_switch_is_on_or_off(key: str) -> None:
    """Nothing but true and false is a switch."""
    assert SETTINGS[key].accepts(True)
    assert SETTINGS[key].accepts(False)
    others: list[Any] = [0, 1, "true", None, []]
    assert not any(SETTINGS[key].accepts(value) for value in others)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=3), x, max_size=3),
)


@given(st.sampled_from(sorted(SETTINGS)), JSON)
def test_any_value_is_judged_without_an_error(key: str, value: Any) -> None:
    """A settings file may hold anything."""
    assert SETTINGS[key].accepts(value) in (True, False)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("historyTools.allowProjectScope", False, True),
        ("memory.crossSession", False, True),
        ("memory.promptBlock", False, True),
        ("owner.scripts", False, True),
        ("historyTools.maxProjectSessions", 100, 101),
        ("historyTools.defaultScope", "current-branch", "current-session"),
        ("historyTools.defaultScope", "current-session", "current-lineage"),
        ("privacy.defaultClassification", "sensitive", "normal"),
        ("privacy.localProviders", ["a"], ["a", "b"]),
        ("privacy.localProviders", ["a"], ["b"]),
        ("privacy.remoteDefaultAllowed", ["normal"], ["normal", "internal"]),
        ("privacy.remoteProviders", {}, {"p": []}),
        ("privacy.remoteProviders", {"p": ["normal"]}, {}),
        ("privacy.remoteProviders", {"p": ["normal"]}, {"p": ["normal", "internal"]}),
    ],
)
def test_a_change_that_could_show_more_loosens(key: str, old: Any, new: Any) -> None:
    """Such a change is the owner's alone."""
    assert loosens(key, old, new)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("historyTools.allowProjectScope", True, False),
        ("historyTools.maxProjectSessions", 100, 99),
        ("historyTools.defaultScope", "current-lineage", "current-branch"),
        ("privacy.defaultClassification", "normal", "sensitive"),
        ("privacy.localProviders", ["A", "b"], ["a"]),
        ("privacy.remoteDefaultAllowed", ["normal", "internal"], ["internal"]),
        ("privacy.remoteProviders", {"p": ["normal", "internal"]}, {"p": ["normal"]}),
        ("historyTools.enabled", False, True),
        ("historyTools.maxResults", 1, 12),
        ("memory.maxPinChars", 1, 20_000),
    ],
)
def test_a_change_that_shows_no_more_does_not_loosen(key: str, old: Any, new: Any) -> None:
    """To tighten needs no owner, nor does a key that guards nothing."""
    assert not loosens(key, old, new)


@given(st.sampled_from(sorted(SETTINGS)))
def test_no_change_is_no_loosening(key: str) -> None:
    """To save the same value again is always allowed."""
    values: list[Any] = [SETTINGS[key].default, *VALID.get(key, [True, False])]
    for value in values:
        assert not loosens(key, value, value)


def test_only_the_owners_own_file_can_let_scripts_act() -> None:
    """A project can never give itself the owner's acts."""
    assert [key for key, setting in SETTINGS.items() if setting.global_only] == ["owner.scripts"]
