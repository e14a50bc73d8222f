"""The one table of settings: it drives loading, `config` and `docs/settings.md`.

A bad value is rejected alone and never loosens privacy: the value before it stays.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

CLASSES = ("normal", "internal", "sensitive", "local-only")
"""Classifications, from open to closed."""

LOCAL_ONLY = "local-only"

SCOPES = ("current-branch", "current-session", "current-lineage", "project", "everywhere")
"""Where a search may look, from narrow to wide."""


class Setting(NamedTuple):
    """A key with its default, its kind in words, its check, and what it does.

    `guards` tells how a change could loosen privacy or scope (then it is an owner act, and a project that is
    not trusted may not make it): "" never; "true" when it becomes so; "any" with every change;
    "more" when it grows. `global_only` keys count in the owner's own file alone.
    """

    default: Any
    kind: str
    accepts: Callable[[Any], bool]
    meaning: str
    guards: str = ""
    global_only: bool = False


def _boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _between(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value)


def _remote_classes(value: Any) -> bool:
    """Accept a list of classes without repeats; `local-only` never leaves the machine."""
    if not isinstance(value, list) or any(not isinstance(name, str) for name in value):
        return False
    return len(set(value)) == len(value) and all(name in CLASSES and name != LOCAL_ONLY for name in value)


def _remote_providers(value: Any) -> bool:
    return isinstance(value, dict) and all(name.strip() and _remote_classes(allowed) for name, allowed in value.items())


def _is_true(value: Any) -> bool:
    return value is True


_FLAG = "true or false"

SETTINGS: dict[str, Setting] = {
    "historyTools.enabled": Setting(
        True,
        _FLAG,
        _boolean,
        "Recall as a whole. Off takes the tools out of Pi's active set; their names stay reserved.",
    ),
    "historyTools.defaultScope": Setting(
        "current-branch",
        "current-branch, current-session or current-lineage",
        _one_of("current-branch", "current-session", "current-lineage"),
        "Where a search looks when it names no scope.",
        guards="any",
    ),
    "historyTools.maxResults": Setting(6, "1 to 12", _between(1, 12), "The most hits of one answer."),
    "historyTools.maxOutputTokens": Setting(
        3000, "256 to 6000", _between(256, 6000), "The most tokens of one answer, its envelope included."
    ),
    "historyTools.allowProjectScope": Setting(
        False, _FLAG, _boolean, "Allow the scope `project`: the sessions with the same working folder.", guards="true"
    ),
    "historyTools.includeSummaries": Setting(
        False, _FLAG, _boolean, "Search the summaries of compactions and branches too."
    ),
    "historyTools.maxProjectSessions": Setting(
        100,
        "1 to 500",
        _between(1, 500),
        "The most sessions that the scope `project` looks into, newest first.",
        guards="more",
    ),
    "retrieval.exact": Setting(True, _FLAG, _boolean, "Look for literal terms."),
    "retrieval.fts": Setting(True, _FLAG, _boolean, "Look for words."),
    "sessionRebase.enabled": Setting(True, _FLAG, _boolean, "Rebase as a whole; it never runs by itself."),
    "sessionRebase.mode": Setting("manual", "manual", _one_of("manual"), "How a rebase starts: only by hand."),
    "sessionRebase.preserveSource": Setting(True, "true", _is_true, "The source of a rebase is kept: always."),
    "sessionRebase.checkpointTargetTokens": Setting(
        8000, "512 to 24000", _between(512, 24_000), "The most tokens that a handoff may have."
    ),
    "privacy.defaultClassification": Setting(
        "normal", ", ".join(CLASSES), _one_of(*CLASSES), "The class of an entry without a marker.", guards="any"
    ),
    "privacy.localProviders": Setting(
        ["faux", "ollama", "llama-cpp", "lmstudio"],
        "a list of names",
        _names,
        "Providers that run on this machine and may receive every class.",
        guards="any",
    ),
    "privacy.remoteDefaultAllowed": Setting(
        ["normal", "internal"],
        "a list of classes, never local-only",
        _remote_classes,
        "What a remote provider may receive.",
        guards="any",
    ),
    "privacy.remoteProviders": Setting(
        {},
        "provider: list of classes, never local-only",
        _remote_providers,
        "What a named remote provider may receive instead.",
        guards="any",
    ),
    "memory.enabled": Setting(True, _FLAG, _boolean, "Pins, session memory and claims."),
    "memory.crossSession": Setting(
        False, _FLAG, _boolean, "Use memory of the project's other sessions.", guards="true"
    ),
    "memory.promptBlock": Setting(False, _FLAG, _boolean, "Put confirmed memory into the prompt.", guards="true"),
    "memory.maxPinChars": Setting(4000, "1 to 20000", _between(1, 20_000), "The longest pin."),
    "memory.maxClaimChars": Setting(2000, "1 to 20000", _between(1, 20_000), "The longest claim."),
    "memory.maxPinnedTokens": Setting(16_000, "1 to 64000", _between(1, 64_000), "The most tokens of all pins."),
    "owner.scripts": Setting(
        False,
        _FLAG,
        _boolean,
        "Let the owner's own scripts do owner acts without a terminal.",
        guards="true",
        global_only=True,
    ),
}

Values = Mapping[str, Any]
"""Every key of `SETTINGS` with its value in force."""


def defaults() -> dict[str, Any]:
    """Give every key its default."""
    return {key: setting.default for key, setting in SETTINGS.items()}


def loosens(key: str, old: Any, new: Any) -> bool:
    """Tell whether a change of this key could show more, to more, than before."""
    guards = SETTINGS[key].guards
    if old == new or not guards:
        return False
    if guards == "more":
        return bool(new > old)
    if guards == "true":
        return new is True
    return not _tightens(key, old, new)


def _tightens(key: str, old: Any, new: Any) -> bool:
    """Tell whether a value with `any` guard is plainly narrower than the one before."""
    match key:
        case "privacy.defaultClassification":
            return CLASSES.index(new) > CLASSES.index(old)
        case "privacy.localProviders" | "privacy.remoteDefaultAllowed":
            return {str(name).lower() for name in new} <= {str(name).lower() for name in old}
        case "historyTools.defaultScope":
            return bool(new == "current-branch")
        case "privacy.remoteProviders":  # a named rule may widen or narrow the default: only fewer classes narrow
            return all(name in old and set(allowed) <= set(old[name]) for name, allowed in new.items()) and set(
                old
            ) <= set(new)
        case _:
            return False
