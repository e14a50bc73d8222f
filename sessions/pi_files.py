"""Pi's own small JSON files, `settings.json` and `trust.json`, and paths as Pi reads them there.

Reading never waits and never raises: a file that is damaged or no file at all is told apart from one that is missing,
so that the caller can fail closed.
"""

import os
from typing import Any

from foundation.errors import ContextError
from sessions.decoding import BOM, slow_parse
from sessions.reading import open_log

PROJECT_FOLDER = ".pi"

MISSING, DAMAGED = object(), object()
"""What `read_json` gives where there is no file, and where there is one that cannot be read as JSON."""

LONGEST_PATH = 4096
"""Characters; no folder has a longer name, and taking one apart would take time that grows with its square."""

_MOST_BYTES = 16 * 1024 * 1024


def read_json(path: str) -> Any:
    """Give the value in a JSON file, with or without byte order mark; `MISSING` or `DAMAGED` where there is none."""
    if not os.path.exists(path):  # Pi asks so too: a link to nowhere counts as missing
        return MISSING
    try:
        with open_log(path) as file:
            raw = file.read(_MOST_BYTES + 1)
        return slow_parse(raw.removeprefix(BOM)) if len(raw) <= _MOST_BYTES else DAMAGED
    except (ContextError, OSError, ValueError):
        return DAMAGED


def settings(folder: str) -> dict[str, Any]:
    """Give Pi's settings in a folder; empty where the file is missing or damaged, as Pi goes on without them."""
    value = read_json(os.path.join(folder, "settings.json"))
    return value if isinstance(value, dict) else {}


def absolute(path: str, *, base: str, home: str) -> str:
    """Resolve a path as Pi does: `~` and `~/` are the home folder, `file://` a path; links are left alone.

    A relative path starts at `base`. The home folder of another user, `~name`, is no such thing to Pi.
    """
    if path == "~" or path.startswith(("~/", "~\\") if os.name == "nt" else "~/"):
        path = os.path.join(home, path[2:])
    elif path.startswith("file://"):
        from urllib.request import url2pathname

        path = url2pathname(path.removeprefix("file://"))
    joined = os.path.normpath(os.path.join(base, path))
    return joined[1:] if joined.startswith("//") and os.name != "nt" else joined


def real(path: str) -> str:
    """Follow the links of a path as far as it exists; one that no file system can hold is the root."""
    try:
        return os.path.realpath(path) if len(path) <= LONGEST_PATH else os.path.abspath(os.sep)
    except (OSError, ValueError):
        return os.path.abspath(os.sep)
