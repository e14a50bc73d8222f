"""The extension as a package of Pi: by our own command, and by Pi's."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fake_provider import LOCAL
from live_pi import EXTENSION, ROOT, LivePi

from pi_context.pi_package import STARTED_WITH

pytestmark = pytest.mark.network


def ours(machine: LivePi, *words: str) -> subprocess.CompletedProcess[str]:
    """Run our command as a person would."""
    return subprocess.run(
        [sys.executable, "-m", "pi_context", *words], cwd=machine.project, capture_output=True, encoding="utf-8",
        env=machine.environment | {"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip


def pinned(machine: LivePi) -> Path:
    """Give the note of the interpreter."""
    return machine.agent_dir / "pi-context" / "extension" / "python.json"


def test_installed_by_our_command(machine: LivePi) -> None:
    """After `pi-context pi install` a plain `pi` has `/context`, the tools and the skill; uninstalled, none of them."""
    done = ours(machine, "pi", "install")
    assert done.returncode == 0, done.stderr
    assert json.loads(pinned(machine).read_text("utf-8"))["python"] == sys.executable
    pinned(machine).write_text(
        json.dumps({"python": str(machine.python)}), "utf-8"
    )  # the checkout, not what is installed
    machine.variables["PI_CONTEXT_PYTHON"] = ""
    pi = machine.start(extension=False)
    names = [each["name"] for each in pi.ask(type="get_commands")["data"]["commands"]]
    assert "context" in names
    assert "skill:session-history" in names
    pi.say("The retry budget is forty-two.")
    assert "forty-two" in pi.typed("history search retry budget")
    assert "context_history_recall" in json.dumps(machine.provider.requests[0]["tools"])
    pi.close()

    assert ours(machine, "pi", "uninstall").returncode == 0
    pi = machine.start(extension=False)
    names = [each["name"] for each in pi.ask(type="get_commands")["data"]["commands"]]
    assert "context" not in names
    assert "skill:session-history" not in names


def test_installed_by_pi(machine: LivePi) -> None:
    """`pi install FOLDER` of the same folder works too; then the interpreter is the environment's, or on the PATH."""
    folder = machine.root / "package"
    shutil.copytree(EXTENSION, folder)
    done = machine.once("install", str(folder), extension=False)
    assert done.returncode == 0, done.stderr

    programs = machine.root / "bin"
    programs.mkdir()
    (programs / "pi-context").write_text(f'#!/bin/sh\nexec "{machine.python}" -E -P -m pi_context "$@"\n', "utf-8")
    (programs / "pi-context").chmod(0o755)
    machine.variables |= {"PI_CONTEXT_PYTHON": "", "PATH": f"{programs}:{machine.environment['PATH']}"}
    pi = machine.start(extension=False)
    assert "/context history search" in pi.typed("help")


def test_without_any_python(machine: LivePi) -> None:
    """Nothing of ours can be started: `/context` says so in one line, Pi talks on, and the tools answer a code."""
    machine.variables |= {"PI_CONTEXT_PYTHON": str(machine.root / "gone")}
    pi = machine.start("--provider", LOCAL, "--model", f"{LOCAL}-1")
    told = pi.typed("history status")
    assert "is not there" in told
    assert "Traceback" not in told
    assert "\n" not in told.strip()
    machine.provider.call("context_history_recall", query="budget")
    pi.say("Look.")

    assert machine.provider.requests[-1]["messages"][-1]["role"] == "tool"
    assert pi.close() == 0


def test_nothing_is_started_before_it_is_needed(machine: LivePi) -> None:
    """A session in which nobody asks for the history has no process of ours."""
    pi = machine.start()
    pi.say("Hello.")
    assert pi.servers() == []
    pi.typed("help")
    assert len(pi.servers()) == 1


def test_the_project_cannot_put_its_code_in_our_place(machine: LivePi) -> None:
    """Modules with the names of ours in the project, or on a PYTHONPATH, are not what the server runs."""
    started = machine.root / "started"
    watched = machine.root / "watched"
    watched.write_text(f'#!/bin/sh\necho "$@" > {started}\nexec {machine.python} "$@"\n', "utf-8")
    watched.chmod(0o755)
    machine.variables["PI_CONTEXT_PYTHON"] = str(watched)
    for name in ("pi_context", "foundation", "json"):
        (machine.project / f"{name}.py").write_text(f"open({str(machine.root / 'taken')!r}, 'w')", "utf-8")
    machine.variables["PYTHONPATH"] = str(machine.project)
    pi = machine.start()
    assert "/context history search" in pi.typed("help")
    assert not (machine.root / "taken").exists()
    assert started.read_text("utf-8").split() == [*STARTED_WITH, "serve"]
