"""What earlier rebases left, as the owner deals with it: list them, bring them to their end, take them back."""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from pi_logs import talk
from rebase_acts import PHASES, Acts, flip, go_on, key_of, record_of, status_of
from shelled import Shell

TALK = talk(4)


# --- listed ----------------------------------------------------------------------------------------------------------


def test_every_operation_is_listed(shell: Shell, rebase: Acts) -> None:
    """Finished, open, taken back and set aside: each with its standing, oldest first, what does not count last."""
    done = rebase.json("--yes", "--session", shell.add(*TALK))
    left = rebase.unfinished(shell.add(*TALK, name="s2.jsonl", identity="s2"), "TargetCreated")
    gone = rebase.unfinished(shell.add(*TALK, name="s3.jsonl", identity="s3"), "Prepared")
    rebase("--abandon", gone, "--yes")
    record_of(shell, "rebase_x").write_bytes(b"{}")
    listed = rebase.json("--list")["operations"]

    assert [(each["operationId"], each["status"], each.get("phase"), each.get("attempts")) for each in listed] == [
        (done["operationId"], "verified", "Verified", 0),
        (left, "recoverable", "TargetCreated", 1),
        (gone, "closed", "Prepared", 1),
        ("rebase_x", "set-aside", None, None),
    ]
    assert [each.get("code") for each in listed] == [None, None, "operation-abandoned", "journal-damaged"]
    assert listed[0]["targetFile"] == done["targetFile"]
    assert listed[0]["createdAt"] == done["createdAt"]
    assert listed[1]["lastAttempt"]["code"] == "io-error"
    assert listed[2]["targetFile"] is None
    said = rebase("--list").out
    assert all(each["operationId"] in said for each in listed)
    assert "to be finished, after TargetCreated, failed 1 times, last io-error" in said
    assert "rebase_x  set aside, journal-damaged" in said


def test_a_lost_target_is_told(shell: Shell, rebase: Acts) -> None:
    """The list says of a finished operation that what it made is gone."""
    done = rebase.json("--yes", "--session", shell.add(*TALK))
    os.unlink(done["targetFile"])

    assert status_of(rebase, done["operationId"])["code"] == "target-missing"
    assert "target-missing" in rebase("--list").out


def test_listing_writes_nothing(shell: Shell, rebase: Acts) -> None:
    """Neither where there is no journal nor where there is one; without a session there is nothing to list."""
    assert rebase.json("--list", expect=1)["code"] == "no-session"
    shell.add(*TALK)
    with rebase.nothing_left():
        assert rebase.json("--list")["operations"] == []
        assert "no rebase" in rebase("--list").out
    rebase.unfinished(shell.sessions / "s1.jsonl")
    with rebase.nothing_left():
        rebase("--list")


def test_who_is_not_the_owner_hears_no_path(shell: Shell, rebase: Acts) -> None:
    """A pipe gets names of files and no folders."""
    rebase.json("--yes", "--session", shell.add(*TALK))

    for words in (("--list",), ("--list", "--json")):
        said = rebase(*words, terminal=False)
        assert str(shell.home) not in said.out + said.err
        assert "verified" in said.out


def test_an_agent_hears_of_its_project_only(shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that projects share it is told neither the others' operations nor those of an excluded session."""
    other = shell.home / "other"
    other.mkdir()
    shell.add(*TALK, name="f.jsonl", identity="ffff", cwd=str(other))
    mine, hidden = shell.add(*TALK), shell.add(*TALK, name="h.jsonl", identity="hhhh")
    made = [rebase.json("--yes", "--session", each)["operationId"] for each in (mine, "ffff", hidden)]
    record_of(shell, "rebase_x").write_bytes(b"{}")
    shell("history", "exclude", "hhhh", expect=0)
    assert len(rebase.json("--list")["operations"]) == 4
    monkeypatch.setenv("CLAUDECODE", "1")

    assert [each["operationId"] for each in rebase.json("--list", "--session", "s1")["operations"]] == made[:1]


# --- recovered -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", PHASES)
def test_an_operation_is_brought_to_its_end_from_any_phase(shell: Shell, rebase: Acts, phase: str) -> None:
    """It ends verified, with one new session and nothing temporary, and the answer says so to program and person."""
    file = shell.add(*TALK)
    operation = rebase.unfinished(file, phase)
    said = rebase("--recover", operation)
    assert said.out.startswith("Rebased: ")

    found = status_of(rebase, operation)
    assert (found["status"], found["attempts"]) == ("verified", 1)
    assert rebase.names() == {file.name, os.path.basename(found["targetFile"]), ".ds4-rebase"}
    assert shell("session", "list", "--json", expect=0).json["sessions"][0]["file"] == found["targetFile"]


def test_to_recover_again_changes_nothing(shell: Shell, rebase: Acts) -> None:
    """One that was verified is looked at again; only the note in the lock is new."""
    done = rebase.json("--yes", "--session", shell.add(*TALK))
    with rebase.nothing_left():
        for _ in range(2):
            again = rebase.json("--recover", done["operationId"])
            assert (again["status"], again["targetFile"]) == ("verified", done["targetFile"])


def test_a_session_that_went_on_is_no_reason_to_lose_a_finished_target(shell: Shell, rebase: Acts) -> None:
    """Once the new session is there the old one may have grown, which is told as a warning."""
    file = shell.add(*TALK)
    operation = rebase.unfinished(file, "Activated")
    shell.written.clear()
    go_on(file)
    answer = rebase.json("--recover", operation)

    assert (answer["status"], answer["warnings"]) == ("verified", ["source-went-on"])
    assert "went on after this one was made" in rebase("--recover", operation).out


def test_a_session_that_went_on_too_early_closes_the_operation(shell: Shell, rebase: Acts) -> None:
    """What was planned is no longer so; nothing is left, the code says why, and a new rebase is made."""
    file = shell.add(*TALK)
    operation = rebase.unfinished(file, "CheckpointReady")
    shell.written.clear()
    go_on(file)
    answer = rebase.json("--recover", operation, expect=1)

    assert (answer["status"], answer["code"]) == ("unavailable", "source-moved-before-checkpoint")
    assert "nothing of the operation is left" in rebase("--recover", operation, expect=1).err
    assert status_of(rebase, operation)["status"] == "closed"
    assert rebase.names() == {file.name, ".ds4-rebase"}
    assert rebase.json("--yes", "--session", file)["status"] == "verified"


def test_what_was_told_to_type_works_from_anywhere(
    shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The command names session and folders, so it means the same operation in another folder."""
    file = shell.add(*TALK, name="it's.jsonl")
    rebase.unfinished(file)
    said = rebase("--yes", "--session", file, "--agent-dir", shell.agent_dir, expect=1)
    command = next(row for row in said.err.splitlines() if "--recover" in row)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("HOME", "/nonexistent")

    assert shell(*shlex.split(command)[1:], "--json", expect=0, terminal=True).json["status"] == "verified"


@pytest.mark.parametrize("operation", ["rebase_00", "../x", "", "x/../../y", "A", "x" * 300, "\x1b[2J", "-"])
def test_an_id_that_is_none_is_refused(shell: Shell, rebase: Acts, operation: str) -> None:
    """An unknown or malformed id finds nothing, touches nothing, and never means a new rebase."""
    shell.add(*TALK)
    for option in ("--recover", "--abandon"):
        rebase.refused(f"{option}={operation}", "--yes", code="operation-unknown")
        with rebase.nothing_left():
            assert "\x1b" not in rebase(f"{option}={operation}", "--yes", expect=1).err


def test_an_operation_of_another_project_is_left_alone(shell: Shell, rebase: Acts) -> None:
    """In a folder that projects share an operation is brought to its end from its own project, and no other."""
    other = shell.home / "other"
    other.mkdir()
    foreign = shell.add(*TALK, name="f.jsonl", identity="ffff", cwd=str(other))
    operation = rebase.unfinished(foreign)
    shell.add(*TALK)

    for option in ("--recover", "--abandon"):
        answer = rebase.json(option, operation, "--yes", "--session", "s1", expect=1)
        assert answer["code"] == "other-project"
    assert rebase.json("--recover", operation, "--session", foreign)["status"] == "verified"


def _damage(record: Path) -> None:
    record.write_bytes(record.read_bytes()[:-40])


def _edit(record: Path) -> None:
    flip(record, b'"phase": "CheckpointReady"', b'"phase": "Prepared"')


def _unsign(record: Path) -> None:
    fields = json.loads(record.read_bytes())
    del fields["mac"]
    record.write_text(json.dumps(fields))


def _sign_elsewhere(record: Path) -> None:
    fields = json.loads(record.read_bytes())
    record.write_text(json.dumps(fields | {"keyId": "0" * 16}))


def _rename(record: Path) -> None:
    record.with_name("rebase_other.json").write_bytes(record.read_bytes())
    record.write_bytes(record.read_bytes().replace(record.stem.encode(), b"rebase_other"))


def _date(record: Path) -> None:
    flip(record, b"context-operation-v1", b"context-operation-v9")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (_damage, "journal-damaged"),
        (_edit, "journal-edited"),
        (_unsign, "journal-unsigned"),
        (_sign_elsewhere, "journal-foreign"),
        (_rename, "journal-edited"),
        (_date, "journal-version"),
    ],
)
def test_a_record_that_does_not_count_is_set_aside(
    shell: Shell, rebase: Acts, spoil: Callable[[Path], None], code: str
) -> None:
    """It is named with its code, left byte for byte, and nothing is done by it; the session can be rebased."""
    file = shell.add(*TALK)
    operation = rebase.unfinished(file)
    record = record_of(shell, operation)
    spoil(record)
    spoiled = record.read_bytes()

    assert rebase.json("--recover", operation, expect=1)["code"] == code
    assert rebase.json("--abandon", operation, "--yes", expect=1)["code"] == code
    assert (status_of(rebase, operation)["status"], status_of(rebase, operation)["code"]) == ("set-aside", code)
    assert rebase.json("--yes", "--session", file)["status"] == "verified"
    assert record.read_bytes() == spoiled


def test_a_target_that_is_gone_is_told(shell: Shell, rebase: Acts) -> None:
    """A finished operation is not done over; an unfinished one is closed. The session can be rebased again."""
    file = shell.add(*TALK)
    done = rebase.json("--yes", "--session", file)
    os.unlink(done["targetFile"])
    answer = rebase.json("--recover", done["operationId"], expect=1)
    assert (answer["status"], answer["code"]) == ("unavailable", "target-missing")
    assert "nothing of the operation is left" not in rebase("--recover", done["operationId"], expect=1).err

    operation = rebase.unfinished(file, "Activated")
    os.unlink(status_of(rebase, operation)["targetFile"])
    assert rebase.json("--recover", operation, expect=1)["code"] == "target-missing"
    assert status_of(rebase, operation)["status"] == "closed"
    assert rebase.json("--yes", "--session", file)["status"] == "verified"


@pytest.mark.parametrize("phase", ["TargetCreated", "Activated", "Verified"])
@pytest.mark.parametrize("how", ["a byte", "no session"])
def test_a_target_that_was_edited_is_left_as_it_is(shell: Shell, rebase: Acts, phase: str, how: str) -> None:
    """Its bytes are somebody's; the operation says that they are not what was composed, and that nothing was done."""
    file = shell.add(*TALK)
    if phase == "Verified":
        operation = rebase.json("--yes", "--session", file)["operationId"]
    else:
        operation = rebase.unfinished(file, phase)
    target = Path(status_of(rebase, operation)["targetFile"])
    if how == "a byte":
        flip(target, b"turn 1", b"turn 9")
    else:
        target.write_bytes(b"not a session\n" * 500)
    edited = target.read_bytes()
    answer = rebase.json("--recover", operation, expect=1)

    assert answer["code"] == "target-integrity"
    assert answer["status"] == ("unavailable" if phase == "Verified" else "recoverable")
    assert target.read_bytes() == edited
    assert "nothing of the operation is left" not in rebase("--recover", operation, expect=1).err


def test_a_target_in_which_somebody_went_on_is_fine(shell: Shell, rebase: Acts) -> None:
    """It is what was composed and more."""
    done = rebase.json("--yes", "--session", shell.add(*TALK))
    target = Path(done["targetFile"])
    go_on(target)
    grown = target.read_bytes()

    assert rebase.json("--recover", done["operationId"])["status"] == "verified"
    assert target.read_bytes() == grown


def test_a_source_that_is_gone_is_told(shell: Shell, rebase: Acts) -> None:
    """It may come back with its disk, so the operation is kept; found under another name, it goes on."""
    file = shell.add(*TALK)
    operation = rebase.unfinished(file)
    shell.add(*TALK, name="other.jsonl", identity="s2")
    away = shell.home / "away"
    file.rename(away)
    answer = rebase.json("--recover", operation, expect=1)
    assert (answer["status"], answer["code"]) == ("recoverable", "source-unavailable")
    away.rename(shell.sessions / "renamed.jsonl")
    assert rebase.json("--recover", operation)["status"] == "verified"


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_lost_key_sets_everything_aside(shell: Shell, rebase: Acts) -> None:
    """Nothing fails over it: what it signed is told as another's, and what can be done without it is done."""
    file = shell.add(*TALK)
    done = rebase.json("--yes", "--session", file)
    left = rebase.unfinished(shell.add(*TALK, name="s2.jsonl", identity="s2"))
    key_of(shell).unlink()

    for listed in (rebase.json("--list")["operations"] for _ in range(2)):
        assert {(each["status"], each["code"]) for each in listed} == {("set-aside", "journal-foreign")}
    with rebase.nothing_left():
        for words in (("--recover", left), ("--abandon", left, "--yes")):
            assert rebase.json(*words, expect=1)["code"] == "journal-foreign"
        answer = rebase.json("--yes", "--session", done["targetFile"], expect=1)
        assert answer["code"] == "lineage-unverified"
        assert "--adopt" in answer["hint"]
    assert not key_of(shell).exists()
    assert rebase.json("--yes", "--session", file)["status"] == "verified"
    assert key_of(shell).stat().st_size == 32


def test_a_damaged_key_is_named_and_left(shell: Shell, rebase: Acts) -> None:
    """Every command that would have to judge or sign says so, as an answer to a program, and makes no new one."""
    file = shell.add(*TALK)
    done = rebase.json("--yes", "--session", file)
    key_of(shell).write_bytes(b"short")

    for words in (
        ("--list",), ("--yes", "--session", file), ("--recover", done["operationId"]),
        ("--abandon", done["operationId"], "--yes"), ("--adopt", done["targetFile"], "--yes"),
        ("--dry-run", "--session", file),
    ):  # fmt: skip
        rebase.refused(*words, code="key-damaged")
    assert key_of(shell).read_bytes() == b"short"
