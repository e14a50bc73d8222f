"""What a rebase has nothing to do with: the project, the index, and everything in the agent's folder but its own."""

import os
from pathlib import Path

import pytest
from dry_runs import tree
from pi_logs import talk
from rebase_acts import Acts
from shelled import Shell

TALK = talk(4)


def test_only_its_own_files_change(shell: Shell, rebase: Acts) -> None:
    """R7: the project, Git and Pi's other files stay as they are; what is new is the target, the journal and the key."""
    file = shell.add(*TALK)
    (shell.project / ".git").mkdir()
    (shell.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (shell.agent_dir / "settings.json").write_text("{}", "utf-8")
    before = {path: seen for path, seen in tree(shell.home).items() if os.path.isfile(path)}

    made = rebase.json("--yes", "--session", file)

    after = {path: seen for path, seen in tree(shell.home).items() if os.path.isfile(path)}
    assert {path: after[path] for path in before} == before
    journal = shell.sessions / ".ds4-rebase"
    keys = shell.agent_dir / "pi-context" / "keys"
    assert set(after) - set(before) == {
        made["targetFile"], str(journal / "lock"), str(journal / "operations" / f"{made['operationId']}.json"),
        str(keys / "install.key"), str(keys / "lock"),
    }  # fmt: skip


@pytest.mark.parametrize("state", ["none", "sound", "garbage", "a folder", "a pipe"])
def test_the_index_may_be_anything(shell: Shell, rebase: Acts, state: str) -> None:
    """R8: whatever lies where the index should be, a rebase is verified, recovered, and leaves it alone."""
    file, pointer = shell.add(*TALK), shell.agent_dir / "pi-context" / "index.json"
    if state == "sound":
        shell("index", "update", "--quiet", expect=0)
    elif state != "none":
        _put(pointer, state)
    before = _index(pointer.parent)

    made = rebase.json("--yes", "--session", file)
    again = rebase.json("--recover", made["operationId"], "--session", file)

    assert (made["status"], again["status"]) == ("verified", "verified")
    assert _index(pointer.parent) == before


def _index(folder: Path) -> dict[str, tuple[int, int, bytes | None]]:
    found = tree(folder) if folder.exists() else {}
    return {path: seen for path, seen in found.items() if "index" in os.path.basename(path)}


def _put(pointer: Path, state: str) -> None:
    pointer.parent.mkdir(parents=True)
    match state:
        case "garbage":
            pointer.write_bytes(b"\0garbage")
        case "a folder":
            pointer.mkdir()
        case _:
            os.mkfifo(pointer)
