"""`index …`, `audit`, `doctor`, `completion`: the commands around the index and the installation."""

import contextlib
import json
import os
import stat
import subprocess
import sys

import apsw
import pytest
from pi_logs import header, log, message, talk
from shelled import Shell

from foundation.marks import OUTPUT_LINE

GARBAGE = b"not json at all\n"
KEY = "AKIA" + "Q7TRX2ZM5NWB4KLD"


def counted(shell: Shell, *words: str, expect: int = 0) -> dict[str, object]:
    """Run an index command; give its counters."""
    answer: dict[str, object] = shell("index", *words, "--json", expect=expect).json
    return answer


def test_update_counts_what_it_did_and_a_second_one_reads_nothing(shell: Shell) -> None:
    """The counters tell files, bytes and entries; with nothing new not one byte of a log is read."""
    path = shell.add(*talk(5))

    first, second = counted(shell, "update"), counted(shell, "update")

    assert (first["filesSeen"], first["filesRead"], first["entriesAdded"]) == (1, 1, 5)
    assert first["bytesRead"] == path.stat().st_size
    assert (second["filesSeen"], second["filesRead"], second["bytesRead"], second["entriesAdded"]) == (1, 0, 0, 0)


def test_a_bad_line_is_listed_and_everything_else_is_indexed(shell: Shell) -> None:
    """A quarantined line is told with file, line, offset, length and reason."""
    good = log(header(str(shell.project)), *talk(2))
    path = shell.write("s1.jsonl", good + GARBAGE + log(*talk(1, start=3, parent=2)))

    answer = counted(shell, "update")

    assert answer["entriesAdded"] == 3
    assert answer["quarantined"] == [
        {"file": str(path), "line": 4, "offset": len(good), "length": len(GARBAGE) - 1, "reason": "invalid-json"}
    ]
    assert f"{path}:4" in shell("index", "check", expect=0).err


def test_the_index_is_private_and_holds_no_text(shell: Shell) -> None:
    """Folder and files are for the owner alone, and a sentence of the log stands nowhere in them."""
    shell.add(*talk(["a quite recognisable sentence about zebras"]))
    counted(shell, "update")
    folder = shell.agent_dir / "pi-context"

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
        assert b"recognisable sentence" not in file.read_bytes()


def test_a_deleted_session_is_gone_at_once_and_for_good_after_an_update(shell: Shell) -> None:
    """A deleted file is not found any more, and the next update takes it out of the index."""
    gone = shell.add(*talk(["a zebra"]))
    shell.add(*talk(["an okapi"]), name="t.jsonl", identity="tttt")
    shell.settings({"historyTools": {"allowProjectScope": True}})
    counted(shell, "update")
    gone.unlink()

    assert shell.search("zebra", "--scope", "project")["hits"] == []
    answer = counted(shell, "update")
    assert (answer["sessionsRemoved"], answer["pendingErase"]) == (1, False)
    assert shell("history", "status", "--json", expect=0, terminal=True).json["index"]["sessions"] == 1


def test_rebuild_and_drop(shell: Shell) -> None:
    """A rebuild counts everything anew; a drop leaves nothing of the index, and the next search makes it again."""
    shell.add(*talk(["a zebra"]))
    counted(shell, "update")

    assert counted(shell, "rebuild")["entriesAdded"] == 1
    shell("index", "drop", expect=0)
    assert [
        name for name in os.listdir(shell.agent_dir / "pi-context") if name.startswith("index-") or name == "index.json"
    ] == []
    assert shell.found("zebra") == ["00000001"]


def test_check_finds_a_log_that_changed_behind_our_back(shell: Shell) -> None:
    """An edit that leaves size and times as they were is found by the full check, which ends with 1."""
    path = shell.add(*talk(["a zebra"]))
    counted(shell, "update")
    seen = path.stat()
    path.write_bytes(path.read_bytes().replace(b"zebra", b"ZEBRA"))
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    shell.written.clear()

    answer = counted(shell, "check", expect=1)

    assert answer["problems"] == [{"file": str(path), "code": "source-changed"}]


def test_check_without_an_index_says_what_to_do(shell: Shell) -> None:
    """There is nothing to check before the first update."""
    said = shell("index", "check", "--json", expect=1)

    assert json.loads(said.err)["error"]["code"] == "index-unavailable"


def test_audit_lists_secrets_and_never_a_value(shell: Shell) -> None:
    """`audit` gives file, line, entry, kind and a fingerprint that is the same for the same secret."""
    shell.owner_scripts()
    path = shell.add(
        message(1, None, "user", f"key {KEY}"),
        message(2, 1, "toolResult", "ok", details={"env": f"AWS_ACCESS_KEY_ID={KEY}"}),
    )

    said = shell("audit", "--json", expect=0)

    assert KEY not in said.out
    assert KEY not in shell("audit", expect=0).out
    found = said.json["findings"]
    assert [(row["file"], row["line"], row["entryId"]) for row in found] == [
        (str(path), 2, "00000001"),
        (str(path), 3, "00000002"),
    ]
    assert len({row["fingerprint"] for row in found}) == 1
    assert said.json["counts"] == {found[0]["kind"]: 2}


def test_doctor_looks_at_everything(shell: Shell) -> None:
    """`doctor` checks installation, folders, index and settings, and names what to do."""
    shell.add(*talk(2))
    shell.settings({"historyTools": {"maxResults": 99}})

    answer = shell("doctor", "--json", expect=0).json

    names = {check["name"]: check for check in answer["checks"]}
    assert answer["sound"] is True
    assert {"pi-context", "full text search", "agent folder", "session files", "index", "settings", "project"} <= set(
        names
    )
    assert names["settings"]["state"] == "warn"


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed_as_they_are(shell: Shell, name: str) -> None:
    """The script is fit for the shell to read: no line of ours before it."""
    said = shell("completion", name, expect=0)

    assert "_PI_CONTEXT_COMPLETE" in said.out
    assert OUTPUT_LINE not in said.out


def test_completion_knows_commands_and_scopes() -> None:
    """A shell that asks is told our commands, and the scopes of a search."""

    def complete(words: str, count: int) -> str:
        environment = {
            **os.environ,
            "_PI_CONTEXT_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(count),
        }
        done = subprocess.run(
            [sys.executable, "-m", "pi_context"],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return done.stdout

    assert "history" in complete("pi-context hi", 1)
    assert "current-session" in complete("pi-context history search x --scope current-s", 5)


def test_a_closed_pipe_is_no_error(shell: Shell) -> None:
    """`pi-context … | head -1` ends quietly."""
    shell.add(*talk(2000))
    command = f"{sys.executable} -m pi_context session tree --json | head -c 10"

    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, encoding="utf-8", check=False)

    assert done.stderr == ""
    assert done.returncode == 0


def test_a_full_disk_is_told_and_nothing_is_lost(shell: Shell) -> None:
    """Output that cannot be written ends with 1 and `disk-full`."""
    shell.add(*talk(2))
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pi_context", "session", "tree"],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )

    assert done.returncode == 1
    assert "disk is full" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [("index", "update"), ("session", "list")])
@pytest.mark.parametrize("table", ["entry", "words", "words_data", "session"])
def test_damage_that_shows_in_use_is_mended(shell: Shell, table: str, command: tuple[str, str]) -> None:
    """An index that opens and then proves to be damaged is made anew; the command does what it was asked for."""
    entries = talk(4)
    shell.add(*entries[:3])
    counted(shell, "update")
    (file,) = (shell.agent_dir / "pi-context").glob("index-*.db")
    with contextlib.closing(apsw.Connection(str(file))) as db:
        db.execute(f"delete from {table}" if table == "words_data" else f"drop table {table}").fetchall()
    shell.add(*entries)

    shell(*command, expect=0)
    counted(shell, "update")

    assert shell.found("turn") == ["00000004", "00000003", "00000002", "00000001"]
    assert shell("index", "check", "--json", expect=0).json["sound"]
