"""`pi-context pi install|uninstall|status`: what Pi's settings and the agent folder hold afterwards."""

import json
import os
import sys
import threading
import time
from pathlib import Path

import extension_files
import pytest
from shelled import Shell

from pi_context import pi_package
from pi_context.version import VERSION


def test_the_tools_are_those_of_python(pytestconfig: pytest.Config) -> None:
    """What the extension tells Pi of the tools is made from Python's table; `make docs` writes it anew."""
    path = extension_files.FOLDER / "tools.json"
    if pytestconfig.getoption("--write-docs"):
        path.write_text(extension_files.tools(), "utf-8")

    assert path.read_text("utf-8") == extension_files.tools()


def test_the_extension_has_the_version_of_the_program() -> None:
    """They go together, and each tells the other which it is."""
    told = json.loads((extension_files.FOLDER / "package.json").read_text("utf-8"))
    assert told["version"] == VERSION
    assert set(pi_package.shipped()) >= {"context.ts", "package.json", "tools.json", "skills/session-history/SKILL.md"}


def test_installed_looked_at_and_removed(shell: Shell) -> None:
    """Afterwards all is as before, key for key; doing it twice changes nothing."""
    settings = shell.agent_dir / "settings.json"
    before = {"theme": "dark", "packages": ["npm:other", {"source": "../mine", "skills": []}], "x": {"y": [1.5, None]}}
    settings.write_text(json.dumps(before), "utf-8")
    shell("pi", "status", expect=1)

    shell("pi", "install", expect=0)
    installed = json.loads(settings.read_text("utf-8"))
    folder = shell.agent_dir / "pi-context" / "extension"
    assert installed == {**before, "packages": [*before["packages"], str(folder)]}
    assert list(installed) == list(before)
    assert json.loads((folder / "python.json").read_text("utf-8"))["python"] == sys.executable
    assert shell("pi", "install", "--json", expect=0).json["changed"] is False
    told = shell("pi", "status", "--json", expect=0)
    assert told.json | {"loaded": True, "answered": VERSION, "version": VERSION, "sound": True} == told.json

    shell("pi", "uninstall", expect=0)
    assert json.loads(settings.read_text("utf-8")) == before
    assert not folder.exists()
    assert shell("pi", "uninstall", "--json", expect=0).json["changed"] is False


def test_an_older_copy_is_brought_up_to_date(shell: Shell) -> None:
    """Another version of the copy, or a file of it that was lost, is written anew, and listed once."""
    shell("pi", "install", expect=0)
    folder = shell.agent_dir / "pi-context" / "extension"
    (folder / "package.json").write_text('{"version": "0.0.1"}')
    (folder / "tools.json").unlink()
    assert shell("pi", "status", "--json", expect=1).json["version"] == "0.0.1"

    assert shell("pi", "install", "--json", expect=0).json["changed"] is True
    assert (folder / "tools.json").read_text("utf-8") == extension_files.tools()
    assert len(json.loads((shell.agent_dir / "settings.json").read_text("utf-8"))["packages"]) == 1


@pytest.mark.parametrize("text", ["{", "[]", '{"packages": "x"}'])
def test_settings_that_cannot_be_read_stay(shell: Shell, text: str) -> None:
    """Nothing is written where Pi's settings are not what they should be."""
    settings = shell.agent_dir / "settings.json"
    settings.write_text(text, "utf-8")

    for verb in ("install", "uninstall"):
        told = shell("pi", verb, "--json", expect=1)
        assert json.loads(told.err)["error"]["code"] == "pi-settings-damaged"
    assert shell("pi", "status", "--json", expect=1).json["settings"] == "damaged"
    assert settings.read_text("utf-8") == text
    assert not (shell.agent_dir / "pi-context").exists()


def test_an_agent_changes_nothing(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the mark of an agent the gate can neither be put in nor taken out."""
    shell("pi", "install", expect=0)
    before = (shell.agent_dir / "settings.json").read_bytes()
    monkeypatch.setenv("PI_CODING_AGENT", "true")

    for verb in ("install", "uninstall"):
        assert json.loads(shell("pi", verb, "--json", expect=1).err)["error"]["code"] == "owner-act-required"
    assert (shell.agent_dir / "settings.json").read_bytes() == before


def test_it_waits_for_a_pi_that_writes(shell: Shell) -> None:
    """As long as Pi holds its lock the settings are not written, and what Pi wrote is kept."""
    lock, settings = shell.agent_dir / "settings.json.lock", shell.agent_dir / "settings.json"
    lock.mkdir()

    def write() -> None:
        time.sleep(0.5)
        settings.write_text('{"theme": "light"}', "utf-8")
        lock.rmdir()

    thread = threading.Thread(target=write)
    thread.start()
    shell("pi", "install", expect=0)
    thread.join()
    assert json.loads(settings.read_text("utf-8"))["theme"] == "light"


def test_an_interpreter_that_is_gone_is_told(shell: Shell, tmp_path: Path) -> None:
    """The copy names a Python that is not there any more."""
    shell("pi", "install", expect=0)
    note = shell.agent_dir / "pi-context" / "extension" / "python.json"
    note.write_text(json.dumps({"python": str(tmp_path / "gone")}), "utf-8")

    told = shell("pi", "status", expect=1)
    assert "does not answer" in told.out
    assert "pi-context pi install" in told.out


def test_nothing_of_an_older_version_stays(shell: Shell) -> None:
    """A file that only the older version had goes with it; what somebody else put there is not ours to remove."""
    shell("pi", "install", expect=0)
    folder = shell.agent_dir / "pi-context" / "extension"
    note = folder / "python.json"
    older = json.loads(note.read_text("utf-8"))
    note.write_text(json.dumps(older | {"files": [*older["files"], "old.ts", "../../settings.json"]}), "utf-8")
    for name in ("old.ts", "mine.txt"):
        (folder / name).write_text("x")

    assert shell("pi", "install", "--json", expect=0).json["changed"] is True
    assert not (folder / "old.ts").exists()
    shell("pi", "uninstall", expect=0)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    assert (shell.agent_dir / "settings.json").exists()


def test_a_link_and_its_permissions_stay(shell: Shell, tmp_path: Path) -> None:
    """Dotfiles are linked into place, and readable as they were."""
    real, settings = tmp_path / "dotfiles.json", shell.agent_dir / "settings.json"
    real.write_text('{"theme": "dark"}', "utf-8")
    real.chmod(0o644)
    settings.symlink_to(real)
    shell("pi", "install", expect=0)

    assert settings.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o644
    assert json.loads(real.read_text("utf-8"))["theme"] == "dark"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("dotfiles")) == ["dotfiles.json"]


def test_empty_settings_are_none(shell: Shell) -> None:
    """As a `touch` leaves them."""
    (shell.agent_dir / "settings.json").write_text("")
    shell("pi", "install", expect=0)

    assert list(json.loads((shell.agent_dir / "settings.json").read_text("utf-8"))) == ["packages"]


def test_a_lock_whose_holder_died_is_taken_over(shell: Shell) -> None:
    """Pi's lock counts as long as it is touched; after that it is nobody's."""
    lock = shell.agent_dir / "settings.json.lock"
    lock.mkdir()
    os.utime(lock, (1, 1))
    shell("pi", "install", expect=0)

    assert not lock.exists()
