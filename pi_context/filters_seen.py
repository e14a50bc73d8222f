"""The owner's filters as they are in force, and the names that plugins never want drawn."""

import os
import sys
from importlib.metadata import EntryPoint, entry_points

from foundation.durable import read_plain
from foundation.errors import ContextError
from memory.filters import DEFAULTS, FILE, Filters, read
from memory.names import Fold, key
from pi_context.output import write

GROUP = "pi_context.exclusions"
"""Entry points that give a function without arguments, which gives names; the name of the entry point is its key."""

_MOST_BYTES = 1_000_000


def usual() -> Filters:
    """Give the defaults."""
    return Filters(DEFAULTS)


def load(own_folder: str) -> Filters:
    """Read `memory.yaml`; without one all defaults hold. Raises ContextError `filters-invalid`."""
    try:
        data = read_plain(os.path.join(own_folder, FILE), _MOST_BYTES)
    except FileNotFoundError:
        return Filters(DEFAULTS)
    except OSError as error:
        raise ContextError("filters-invalid") from error
    if data is None:
        raise ContextError("filters-invalid")
    try:
        return read(data.decode())
    except UnicodeDecodeError as error:
        raise ContextError("filters-invalid", "It is no UTF-8.") from error


def excluded(fold: Fold) -> frozenset[str]:
    """Ask every plugin once, and give the folded names; one that fails gives none, and a line says so."""
    names: set[str] = set()
    for plugin in {each.name: each for each in entry_points(group=GROUP)}.values():
        try:
            names |= _of(plugin, fold)
        except Exception as error:  # noqa: BLE001 - what a plugin does must not break the map
            write(sys.stderr, f"pi-context: WARNING: the plugin {plugin.name} failed ({type(error).__name__}).\n")
    return frozenset(names)


def _of(plugin: EntryPoint, fold: Fold) -> set[str]:
    return {key(str(name), fold) for name in plugin.load()()}
