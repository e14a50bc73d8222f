"""The extension as Pi's package: the files to be copied, and where Pi's settings name it.

Pi loads what `packages` in its `settings.json` lists. Ours is a copy below the agent folder, so that a Python that goes
away or moves takes nothing of Pi with it, with a note of the interpreter that it was installed by.
"""

import os
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from foundation.canonical import Json, pretty
from foundation.durable import Files, write_atomically
from foundation.errors import ContextError
from pi_context import environment
from sessions import pi_files

FOLDER = "extension"
"""The copy, below our own folder."""

PINNED = "python.json"
"""In the copy: which interpreter answers."""

STARTED_WITH = ("-E", "-P", "-m", "pi_context")
"""How the extension starts it: nothing in the project or in the environment can put other code in its place."""


class Place(NamedTuple):
    """Where the package and Pi's settings are."""

    folder: str
    settings: str

    @property
    def pinned(self) -> str:
        """Give the note of the interpreter."""
        return os.path.join(self.folder, PINNED)


def place(agent_dir: str, own_folder: str) -> Place:
    """Give the places for an agent folder."""
    return Place(os.path.join(own_folder, FOLDER), os.path.join(agent_dir, "settings.json"))


def shipped() -> dict[str, bytes]:
    """Give the files of the extension by their path within it, with `/` between folders."""
    root = resources.files("pi_context").joinpath(FOLDER)
    return dict(sorted(_below(root, "")))


def _below(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _below(each, f"{path}{each.name}/")
        else:
            yield path + each.name, each.read_bytes()


def copy(disk: Files, where: Place, interpreter: str) -> bool:
    """Bring the copy up to date; tell whether anything in it changed."""
    files = shipped()
    wanted = files | {PINNED: pretty({"python": interpreter, "files": list(files)}).encode()}
    dropped = [name for name in _copied(where) if name not in wanted]
    stale = [name for name, data in wanted.items() if _read(_inside(where, name)) != data]
    for name in stale:
        write_atomically(disk, _inside(where, name), wanted[name])
    for name in dropped:
        disk.unlink(_inside(where, name))
    return bool(stale or dropped)


def remove(disk: Files, where: Place) -> bool:
    """Remove the copy, as far as it is ours; tell whether there was one."""
    there = os.path.isdir(where.folder)
    names = {*shipped(), *_copied(where), PINNED}
    for name in names:
        disk.unlink(_inside(where, name))
    folders = {os.path.dirname(_inside(where, name)) for name in names}
    folders |= {os.path.dirname(folder) for folder in folders if folder != where.folder}
    for folder in sorted(folders, key=len, reverse=True):
        disk.remove_folder(folder)
    return there


def _copied(where: Place) -> list[str]:
    """List the files that the copy was made of, perhaps by another version; nothing that could lead out of it."""
    found = pi_files.read_json(where.pinned)
    names = found.get("files") if isinstance(found, dict) else None
    listed = names if isinstance(names, list) else []
    return [name for name in listed if isinstance(name, str) and name and not {"", ".", ".."} & set(name.split("/"))]


def settings_of(where: Place) -> Json:
    """Give Pi's settings; raises ContextError `pi-settings-damaged` where the file is no JSON object.

    An empty file, as a crash or a `touch` leaves it, holds none.
    """
    found = pi_files.read_json(where.settings)
    if found is pi_files.MISSING or _read(where.settings) in (b"", b"\n"):
        return {}
    packages = found.get("packages", []) if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(packages, list):
        raise ContextError("pi-settings-damaged")
    return found


def listed(where: Place, settings: Json) -> list[Any]:
    """Give the entries of `packages` that name our copy."""
    return [entry for entry in settings.get("packages", []) if _names(entry, where)]


def with_ours(where: Place, settings: Json) -> Json:
    """Give the settings with our copy in them once, everything else as it is."""
    if listed(where, settings):
        return settings
    return settings | {"packages": [*settings.get("packages", []), where.folder]}


def without_ours(where: Place, settings: Json) -> Json:
    """Give the settings without our copy, everything else as it is."""
    if not listed(where, settings):
        return settings
    return settings | {"packages": [entry for entry in settings["packages"] if not _names(entry, where)]}


def loaded(where: Place, settings: Json) -> bool:
    """Tell whether Pi will load the extension: it is listed, whole, and not switched off there."""
    entries = listed(where, settings)
    off = any(isinstance(entry, dict) and entry.get("extensions") == [] for entry in entries)
    return bool(entries) and not off and os.path.isfile(_inside(where, "context.ts"))


def pinned(where: Place) -> str:
    """Give the interpreter of the copy; empty where there is none."""
    found = pi_files.read_json(where.pinned)
    python = found.get("python") if isinstance(found, dict) else None
    return python if isinstance(python, str) else ""


def version(where: Place) -> str:
    """Give the version of the copy; empty where there is none."""
    found = pi_files.read_json(_inside(where, "package.json"))
    told = found.get("version") if isinstance(found, dict) else None
    return told if isinstance(told, str) else ""


def _names(entry: Any, where: Place) -> bool:
    source = entry.get("source") if isinstance(entry, dict) else entry
    if not isinstance(source, str) or source.startswith(("npm:", "git:")) or "://" in source:
        return False
    named = pi_files.absolute(source, base=os.path.dirname(where.settings), home=environment.home())
    return pi_files.real(named) == pi_files.real(where.folder)


def _inside(where: Place, name: str) -> str:
    return os.path.join(where.folder, *name.split("/"))


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
