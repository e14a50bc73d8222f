"""`pi-context config …`: show and change settings."""

import json
import os
from typing import Any

from foundation.canonical import dumps, pretty
from foundation.durable import write_atomically
from foundation.errors import ContextError
from foundation.locks import held
from foundation.settings import SETTINGS, loosens
from pi_context import configuration
from pi_context.call import Call
from pi_context.output import plain
from sessions import pi_files

_WAIT_SECONDS = 5.0
_HINT = "See `pi-context config`; lists and mappings are JSON, in single quotes."
_LISTS = ("privacy.localProviders", "privacy.remoteDefaultAllowed")


def show(call: Call) -> int:
    """Show every setting with its value, origin, kind and valid values."""
    around, found = call.around, call.around.configuration
    if call.out.json:
        settings = [
            {
                "path": key, "value": found.values[key], "origin": found.origins[key], "default": setting.default,
                "valid": setting.kind, "meaning": setting.meaning, "globalOnly": setting.global_only,
            }
            for key, setting in SETTINGS.items()
        ]  # fmt: skip
        files = {
            "global": configuration.global_file(around.agent_dir),
            "project": configuration.project_file(around.project),
        }
        call.out.answer({"settings": settings, "files": files, "messages": list(found.messages)})
        return 0
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("setting", "value", "origin", "valid"):
        table.add_column(name, overflow="fold")
    for key, setting in SETTINGS.items():
        shown = found.values[key] if isinstance(found.values[key], str) else dumps(found.values[key])
        style = "" if found.origins[key] == configuration.DEFAULT else "bold"
        table.add_row(key, Text(plain(shown), style), found.origins[key], setting.kind)
    call.out.draw(table)
    for message in found.messages:
        call.out.note(f"! {plain(message)}")
    return 0


def set_value(call: Call) -> int:
    """Save a setting."""
    key = call.words["path"]
    setting = SETTINGS.get(key)
    if setting is None:
        raise ContextError("unknown-setting", f"There is no setting {plain(key)!r}.")
    value = _parsed(key, call.words["value"])
    if not setting.accepts(value):
        raise ContextError("invalid-setting", f"{key} must be {setting.kind}; nothing was saved.", hint=_HINT)
    if setting.global_only and not call.words["global"]:
        raise ContextError("invalid-setting", f"{key} counts only in the owner's file.", hint="Add --global.")
    if loosens(key, call.around.configuration.values[key], value):
        _require_owner(call, key)
    return _change(call, key, value)


def unset(call: Call) -> int:
    """Remove a saved setting."""
    key = call.words["path"]
    if key not in SETTINGS:
        raise ContextError("unknown-setting", f"There is no setting {plain(key)!r}.")
    if loosens(key, call.around.configuration.values[key], SETTINGS[key].default):
        _require_owner(call, key)
    return _change(call, key, None)


def _require_owner(call: Call, key: str) -> None:
    """Refuse a loosening that nobody at a terminal asks for; `owner.scripts` cannot be given by a script."""
    call.around.require_owner()
    if SETTINGS[key].global_only and not call.around.terminal:
        raise ContextError("owner-act-required", f"{key} is set on a terminal, or by editing the file.")


def _parsed(key: str, text: str) -> Any:
    """Read a value as JSON, else as plain words; a list may be written with commas.

    A list may have lost its quotes on the way: a shell takes them off, and so does a line in Pi.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _words_of(text) if key in _LISTS else text


def _words_of(text: str) -> list[str] | None:
    """Give the names of a list without quotes; None where anything but names is in it."""
    listed = text.strip()
    if listed.startswith("[") and listed.endswith("]"):
        listed = listed[1:-1]
    names = [name.strip() for name in listed.split(",")]
    return None if any(char in name for name in names for char in "[]{}\"'") else names


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _change(call: Call, key: str, value: Any) -> int:
    around = call.around
    owners = bool(call.words["global"])
    path = configuration.global_file(around.agent_dir) if owners else configuration.project_file(around.project)
    around.disk.make_folder(os.path.dirname(path))
    around.disk.make_folder(around.own_folder)
    with held(
        os.path.join(around.own_folder, "settings.lock"), around.disk, wait_seconds=_WAIT_SECONDS, busy="settings-busy"
    ):
        found = pi_files.read_json(path)
        before = {} if found is pi_files.MISSING else found
        if not isinstance(before, dict):
            raise ContextError("settings-damaged", f"{plain(path)} is not a JSON object; it was left as it is.")
        after = _with(before, key.split("."), value)
        if after != before:
            write_atomically(around.disk, path, pretty(after).encode("utf-8"))
    if call.out.json:
        call.out.answer({"path": key, "value": value, "file": path, "changed": after != before})
    else:
        what = f"{key} = {dumps(value)}" if value is not None else f"{key} removed"
        call.out.say(f"{plain(what)}\n  in {plain(path)}; it applies when the next session or command starts.")
    return 0


def _with(settings: dict[str, Any], names: list[str], value: Any) -> dict[str, Any]:
    """Give the settings with one value set, or removed where it is None; sections left empty go too."""
    name, *rest = names
    if rest:
        section = settings.get(name)
        value = _with(section if isinstance(section, dict) else {}, rest, value) or None
    changed = {**settings, name: value}
    return {key: kept for key, kept in changed.items() if kept is not None or key != name}
