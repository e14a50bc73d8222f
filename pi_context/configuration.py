"""Load the settings: the owner's global file, then the project's; each bad value is rejected alone and told.

Nothing broken ever loosens privacy: a rejected value leaves the one before it. A project's file may tighten at any
time, and loosen only where the owner saved that Pi may trust the project.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from foundation.settings import SETTINGS, defaults, loosens
from sessions import pi_files

FILE = "context.json"
DEFAULT, GLOBAL, PROJECT = "default", "global", "project"


class Configuration(NamedTuple):
    """Every setting's value with where it came from, and what was rejected, in words."""

    values: dict[str, Any]
    origins: dict[str, str]
    messages: tuple[str, ...]


def global_file(agent_dir: str) -> str:
    """Give the path of the owner's file."""
    return os.path.join(agent_dir, FILE)


def project_file(project: str) -> str:
    """Give the path of a project's file."""
    return os.path.join(project, pi_files.PROJECT_FOLDER, FILE)


def load(agent_dir: str, project: str, *, may_loosen: Callable[[], bool]) -> Configuration:
    """Load the settings in force for a project; `may_loosen` tells whether the owner trusts it."""
    values, messages = defaults(), []
    origins = dict.fromkeys(SETTINGS, DEFAULT)
    for origin, path in ((GLOBAL, global_file(agent_dir)), (PROJECT, project_file(project))):
        found = pi_files.read_json(path)
        if found is pi_files.MISSING:
            continue
        if not isinstance(found, dict):
            messages.append(f"{path}: not a JSON object; the file was ignored")
            continue
        for key, value in leaves(found):
            problem = _problem(key, value, values, origin, may_loosen=may_loosen)
            if problem:
                messages.append(f"{path}: {key}: {problem}")
            else:
                values[key], origins[key] = value, origin
    return Configuration(values, origins, tuple(messages))


def leaves(found: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the settings of a file as `section.key` and value."""
    for name, value in found.items():
        key = f"{above}.{name}" if above else name
        if isinstance(value, dict) and key not in SETTINGS and not above:
            yield from leaves(value, key)
        else:
            yield key, value


def _problem(key: str, value: Any, values: dict[str, Any], origin: str, *, may_loosen: Callable[[], bool]) -> str:
    """Say why a value is rejected; empty where it is taken."""
    setting = SETTINGS.get(key)
    if setting is None:
        return "no such setting; ignored"
    if not setting.accepts(value):
        return f"not valid, must be {setting.kind}; ignored"
    if origin == PROJECT and setting.global_only:
        return "counts only in the global file; ignored"
    if origin == PROJECT and loosens(key, values[key], value) and not may_loosen():
        return "would show more than the owner's settings, and the project is not trusted; ignored"
    return ""
