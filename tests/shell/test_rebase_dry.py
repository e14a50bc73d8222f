"""The dry run of a rebase writes nothing at all, also of a session that was rebased before."""

import os
import shlex
import subprocess
import sys

import pytest
from dry_runs import Dry, rebased, tree
from pi_logs import message, talk
from rebase_acts import Acts
from rebasing import calls
from shelled import Said, Shell

TALK = talk(4)


def test_a_rebased_session_is_planned_again(shell: Shell, dry: Dry) -> None:
    """Its own link is proved with the key of this installation, its source by its bytes wherever that lies."""
    source = shell.add(*TALK)
    target = rebased(shell, source)
    answer = dry.json("--session", target, terminal=True)
    assert answer["lineageDepth"] == 2
    assert answer["lineage"] == [{"sessionId": "s1", "state": "verified", "file": str(source)}]

    moved = source.parent.parent / "--elsewhere--" / "renamed.jsonl"
    moved.parent.mkdir()
    source.rename(moved)
    assert dry.json("--session", target, terminal=True)["lineage"][0]["file"] == str(moved)
    moved.unlink()
    assert dry.json("--session", target, expect=1)["code"] == "lineage-unverified"


def test_a_source_of_another_project_does_not_count(shell: Shell, dry: Dry) -> None:
    """A session that was taken into another project has no right to the source, though its link is genuine."""
    source = shell.add(*TALK)
    target = rebased(shell, source)
    elsewhere = target.read_bytes().replace(str(shell.project).encode(), str(shell.home).encode(), 1)
    taken = shell.write("taken.jsonl", elsewhere)

    assert dry.json("--session", target)["lineageDepth"] == 2
    assert dry.json("--session", taken, expect=1)["code"] == "lineage-unverified"


def test_without_the_key_a_link_proves_nothing_and_no_key_is_made(shell: Shell, dry: Dry) -> None:
    """Lost or damaged, the key is not made anew by a dry run."""
    target = rebased(shell, shell.add(*TALK))
    key = shell.agent_dir / "pi-context" / "keys" / "install.key"
    key.write_bytes(b"short")
    assert dry.json("--session", target, expect=1)["code"] == "key-damaged"
    key.unlink()
    assert dry.json("--session", target, expect=1)["code"] == "lineage-unverified"
    assert not key.exists()


def test_what_a_rebase_would_meet_is_told(shell: Shell, dry: Dry, rebase: Acts) -> None:
    """An operation that was not finished, with the command to finish it; and one that stands already."""
    file = shell.add(*TALK)
    assert dry.json("--session", file, terminal=True)["earlier"] is None
    operation = rebase.unfinished(file)
    answer = dry.json("--session", file, terminal=True)
    assert answer["earlier"] == {"operationId": operation, "status": "recoverable"}
    assert "recoverable" in answer["warnings"]
    said = dry("--session", file, terminal=True).out
    assert "was not finished" in said
    assert answer["nextCommand"] in said

    shell(*shlex.split(answer["nextCommand"])[1:], expect=0, terminal=True)
    answer = dry.json("--session", file, terminal=True)
    assert answer["earlier"] == {"operationId": operation, "status": "already-rebased"}
    assert "already-rebased" in answer["warnings"]
    assert "was rebased already" in dry("--session", file).out
    again = dry.json("--session", file, "--again", terminal=True)
    assert again["earlier"] is None
    assert shell(*shlex.split(again["nextCommand"])[1:], "--json", expect=0, terminal=True).json["status"] == "verified"


# --- it writes nothing ---------------------------------------------------------------------------------------------

WATCHED = """
import os, sys
writes = []
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MAKING = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.utime", "os.chmod", "os.truncate",
          "os.putenv", "sqlite3.connect", "socket.connect", "subprocess.Popen", "os.system", "os.fork")
def watch(event, args):
    if event in MAKING or (event == "open" and isinstance(args[2], int) and args[2] & WRITING and args[0] != os.devnull):
        writes.append((event, str(args[:2])))
sys.dont_write_bytecode = True
sys.addaudithook(watch)
from pi_context.main import main
status = main(sys.argv[1:])
if writes or "apsw" in sys.modules or "portalocker" in sys.modules:
    sys.exit(f"wrote: {writes}")
sys.exit(status)
"""


def watched(*words: object) -> Said:
    """Run the command in a process of its own that ends badly if it changes anything."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, "rebase", "--dry-run", *map(str, words)],
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("state", ["no index", "an index", "a damaged index", "read-only folders", "no home"])
@pytest.mark.parametrize("more", [(), ("--fit", "--show-handoff", "--json")])
def test_nothing_is_written(shell: Shell, monkeypatch: pytest.MonkeyPatch, state: str, more: tuple[str, ...]) -> None:
    """No file, folder, lock or time changes, nor is one opened to write, whatever state the machine is in."""
    target = rebased(shell, shell.add(*talk(20)))
    ours = shell.agent_dir / "pi-context"
    if "index" in state and state != "no index":
        shell.search("turn")
    if state == "a damaged index":
        for path in ours.glob("index*"):
            path.write_bytes(b"\0damaged" * 99)
    if state == "no home":
        monkeypatch.setenv("HOME", "/nonexistent/home")
        more = (*more, "--agent-dir", str(shell.agent_dir))
    folders = [shell.sessions, ours, shell.agent_dir, shell.home] if state == "read-only folders" else []
    for folder in folders:
        folder.chmod(0o500)
    before = tree(shell.home)
    try:
        said = watched("--session", target, *more)
        assert tree(shell.home) == before
    finally:
        for folder in folders:
            folder.chmod(0o700)

    assert said.status == 0, said.err
    assert "Traceback" not in said.err


def test_a_refusal_writes_nothing_either(shell: Shell) -> None:
    """A cut exchange, an open file and an unreadable one end with a code."""
    cut = shell.add(message(1, None, "user", "x"), calls(2, 1, "bash"))
    before = tree(shell.home)
    said = watched("--session", cut, "--json")

    assert (said.status, said.json["code"]) == (1, "tool-exchange-open")
    assert tree(shell.home) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_session_has_its_code(shell: Shell) -> None:
    """What may not be read is told as that."""
    file = shell.add(*TALK)
    file.chmod(0)
    shell.written.clear()
    before = file.lstat()
    said = shell("rebase", "--dry-run", "--session", file, "--json", expect=1)
    assert said.json["code"] == "file-unreadable"
    assert file.lstat() == before
