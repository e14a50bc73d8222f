"""Build the wheel, install it into an empty environment, and use it from another folder.

Run by `make check`: what people get is the wheel, not this checkout. Shows that every package is in it, that nothing of
the checkout is needed, and that `doctor` finds the installation sound.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SESSION = max((ROOT / "examples/sessions").glob("*.jsonl"))


def run(*words: object, cwd: Path, home: Path) -> str:
    """Run a command in a bare environment; give what it printed."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PI_", "PYTHON", "VIRTUAL_ENV", "XDG_"))
    }
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=kept | {"HOME": str(home)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def pip(python: Path | str, *words: object, cwd: Path, home: Path) -> None:
    """Run pip."""
    run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", *words, cwd=cwd, home=home)


def build(folder: Path, home: Path) -> Path:
    """Build the wheel in an environment of its own, with pip as everybody has it."""
    builder = folder / "builder"
    venv.create(builder, with_pip=True)
    pip(builder / "bin/python", "wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder, home=home)
    return next(folder.glob("*.whl"))


def main() -> None:
    """Build, install, use."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        home, elsewhere, environment = folder / "home", folder / "elsewhere", folder / "environment"
        home.mkdir()
        elsewhere.mkdir()
        wheel = build(folder, home)
        venv.create(environment, with_pip=True)
        pip(environment / "bin/python", "install", wheel, cwd=elsewhere, home=home)
        command = environment / "bin/pi-context"
        assert run(command, "--version", cwd=elsewhere, home=home).startswith("pi-context ")
        found = json.loads(
            run(command, "history", "search", "retry budget", "--session", SESSION, "--json", cwd=elsewhere, home=home)
        )
        assert found["hits"], found
        read = json.loads(
            run(
                command,
                "history",
                "read",
                found["hits"][0]["sourceRef"],
                "--session",
                SESSION,
                "--json",
                cwd=elsewhere,
                home=home,
            )
        )
        assert read["verified"] is True, read
        sound = json.loads(run(command, "doctor", "--json", cwd=elsewhere, home=home))
        assert sound["sound"] is True, sound
        assert {"name": "installed files", "state": "ok", "message": "as they were installed", "hint": ""} in sound[
            "checks"
        ], sound
        run(
            environment / "bin/python",
            "-P",
            "-c",
            "from pi_context import api; assert api.open",
            cwd=elsewhere,
            home=home,
        )
        run(command, "pi", "install", cwd=elsewhere, home=home)
        standing = json.loads(run(command, "pi", "status", "--json", cwd=elsewhere, home=home))
        assert standing["sound"] is True, standing
        assert Path(standing["interpreter"]) == environment / "bin/python", standing
        assert (Path(standing["folder"]) / "context.ts").is_file(), standing
    print("the wheel works in an empty environment")


if __name__ == "__main__":
    main()
