"""What of the sessions' summaries may become a name: the owner's `memory.yaml`, and defaults for the rest.

A key that nobody knows is an error with its line, for a filter that is misspelt would filter nothing. A value of the
wrong type falls back to the default with a warning.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from foundation.errors import ContextError
from memory.names import SUFFIXES, Fold
from memory.shapes import SHAPES

FILE = "memory.yaml"

DEFAULTS: Mapping[str, Any] = {
    "fold.aliases": {},
    "fold.suffixes": sorted(SUFFIXES),
    "summary.sections": ["Referenced"],
    "summary.emptyItems": ["none", "n/a", "-"],
    "mentions.minSessions": 2,
    "mentions.shapes": sorted(SHAPES),
    "mentions.neverDraw": [],
    "mentions.exceptions": ["Node.js", "Vue.js", "Next.js", "Nuxt.js", "D3.js", "ASP.NET", "HTTP/2", "HTTP/3", "TCP/IP",
                            "CI/CD", "I/O", "PL/SQL", "OS/2", "S/MIME"],
    "sessions.ephemeralPrefixes": ["playground", "eval", "test", "smoke", "probe", "mut"],
    "sessions.realPatterns": [],
    "sessions.fewTurns": 4,
}  # fmt: skip
"""Every key with its default; in the file a dot is a level."""

MEANINGS: Mapping[str, str] = {
    "fold.aliases": "Other names: a name in small letters, and the one that it stands for.",
    "fold.suffixes": "Words at the end of a name that tell nothing apart.",
    "summary.sections": "The labels of the lines of a summary whose items are names.",
    "summary.emptyItems": "Items that say that there is none.",
    "mentions.minSessions": "In how many sessions a name must be listed that no fact is about.",
    "mentions.shapes": "Shapes that are never drawn: " + ", ".join(sorted(SHAPES)) + ".",
    "mentions.neverDraw": "Further regular expressions (RE2) of what is never drawn.",
    "mentions.exceptions": "Names that are drawn whatever their shape.",
    "sessions.ephemeralPrefixes": "Beginnings of ids of sessions that count for nobody but themselves.",
    "sessions.realPatterns": "Regular expressions (RE2) of the ids of real sessions, for `memory test-sessions`.",
    "sessions.fewTurns": "So many turns are few, for `memory test-sessions`.",
}


class Filters(NamedTuple):
    """The filters in force, and what was wrong with the file."""

    values: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def fold(self) -> Fold:
        """Give how names are folded."""
        aliases = {str(name).lower(): str(stands) for name, stands in self.values["fold.aliases"].items()}
        return Fold(aliases, frozenset(str(word).lower() for word in self.values["fold.suffixes"]))

    def is_ephemeral(self, session_id: str) -> bool:
        """Tell whether a session counts for nobody but itself."""
        return session_id.lower().startswith(tuple(self.values["sessions.ephemeralPrefixes"]) or ("\0",))


def read(text: str) -> Filters:
    """Read the file. Raises ContextError `filters-invalid` with the line of what nobody knows."""
    if not text.strip():
        return Filters(DEFAULTS)
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        known = dict(_checked(root, ""))
        given = _flat(yaml.safe_load(text), "")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise ContextError(
            "filters-invalid", f"It is no YAML{f', in line {mark.line + 1}' if mark else ''}."
        ) from error
    values, warnings = dict(DEFAULTS), []
    for name, value in given.items():
        if _fits(value, DEFAULTS[name]):
            values[name] = value
        else:
            warnings.append(f"{name} in line {known[name]} is no {_kind(DEFAULTS[name])}; the default counts")
    return Filters(values, tuple(warnings))


def _checked(node: Any, path: str) -> list[tuple[str, int]]:
    """Give each key with its line. Raises ContextError for one that nobody knows."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise ContextError("filters-invalid", "It is no mapping of keys to values.")
    found: list[tuple[str, int]] = []
    for key, value in node.value:
        name = f"{path}{key.value}"
        line = key.start_mark.line + 1
        if name in DEFAULTS:
            found.append((name, line))
        elif any(known.startswith(f"{name}.") for known in DEFAULTS):
            found += _checked(value, f"{name}.")
        else:
            raise ContextError("filters-invalid", f"Line {line} has a key that nobody knows.")
    return found


def _flat(value: Any, path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{path}{key}"
        found |= {name: inner} if name in DEFAULTS else _flat(inner, f"{name}.")
    return found


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, int):
        return isinstance(value, int) and not isinstance(value, bool) and value >= 1
    if isinstance(default, list):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, dict) and all(isinstance(each, str) for pair in value.items() for each in pair)


def _kind(default: Any) -> str:
    return {int: "whole number above 0", list: "list of texts"}.get(type(default), "mapping of texts")
