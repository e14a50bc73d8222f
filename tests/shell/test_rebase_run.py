"""The rebase of a session, as it is typed: asked or confirmed, done, told, and every refusal leaving nothing behind."""

import errno
import json
import os
import shlex
from pathlib import Path

import pytest
from bad_sources import BAD
from faults import FailingFiles
from pi_logs import message, talk
from rebase_acts import Acts
from shelled import CTRL_C, Said, Shell

TALK = talk(4)

FIELDS = {
    "schema", "status", "planId", "operationId", "phase", "createdAt", "attempts", "sourceSessionId", "sourceEntries",
    "sourceBytes", "sourceSha256", "sourceLeaf", "sourceFile", "fitted", "checkpointTokens", "checkpointTargetTokens",
    "targetSessionId", "targetFile", "preservedPins", "preservedMemories", "leftOut", "gaveWay", "interrupted",
    "redactions", "breakdown", "classification", "audiences", "lineageDepth", "lineage", "ways", "warnings",
    "toolExchangeDiagnostics",
}  # fmt: skip


def typed_out(said: Said, start: str) -> list[str]:
    """Give the words of the command that a person is told, after what introduces it."""
    row = next(row for row in (said.out + said.err).splitlines() if start in row)
    words = shlex.split(row[row.index(start) :])
    return words[words.index("pi-context") + 1 :] if "pi-context" in words else words


# --- done ------------------------------------------------------------------------------------------------------------


def test_a_rebase_is_answered_with_all_fields(shell: Shell, rebase: Acts) -> None:
    """A program gets what the dry run foretold, the operation, its phase and where the new session is."""
    file = shell.add(*TALK)
    foretold = rebase.json("--dry-run", "--session", file)
    answer = rebase.json("--yes", "--session", file)

    assert set(answer) == FIELDS
    assert (answer["status"], answer["phase"], answer["attempts"]) == ("verified", "Verified", 0)
    differ = {name for name in foretold if foretold[name] != answer.get(name)}
    assert differ == {"status", "nextCommand"}  # and `earlier`, which was none
    target = Path(answer["targetFile"])
    assert target.parent == file.parent
    head = json.loads(target.read_bytes().splitlines()[0])
    assert (head["id"], head["parentSession"], head["cwd"]) == (
        answer["targetSessionId"], str(file), str(shell.project))  # fmt: skip
    assert target.stat().st_mtime_ns > file.stat().st_mtime_ns
    assert rebase.names() == {file.name, target.name, ".ds4-rebase"}


def test_what_a_person_is_told_can_be_typed(shell: Shell, rebase: Acts) -> None:
    """The new session, the way back and the search of both are told as commands, and the search works as it stands."""
    file = shell.add(*talk(["it's the ledger in grams", "noted"]), name="it's old.jsonl")
    said = rebase("--yes", "--session", file)
    target = rebase.json("--list")["operations"][0]["targetFile"]

    assert said.out.startswith("Rebased: the new session begins with ")
    assert typed_out(said, "pi --session") == ["pi", "--session", target]
    assert shlex.join(["pi", "--session", str(file)]) in said.out
    assert "pi -c" in said.out
    search = typed_out(said, "pi-context history search")
    assert (search[-3:], search[-1]) == (["--scope", "current-lineage", "QUERY"], "QUERY")
    hits = shell(*search[:-1], "grams", "--json", expect=0).json["hits"]
    assert [hit["sessionId"] for hit in hits] == ["s1"]


def test_only_the_newest_session_is_what_pi_goes_on_with(shell: Shell, rebase: Acts) -> None:
    """Where another session was written since, `pi -c` is not told as a way to the rebased one."""
    file = shell.add(*TALK)
    assert "pi -c" in rebase("--yes", "--session", file).out
    assert "pi -c" in rebase("--session", file).out
    later = shell.add(*TALK, name="later.jsonl", identity="later")
    os.utime(later, (2**32, 2**32))
    shell.written.clear()

    said = rebase("--session", file).out
    assert "pi --session" in said
    assert "pi -c" not in said


def test_the_newest_session_of_the_project_is_meant(shell: Shell, rebase: Acts) -> None:
    """Without a name the session is rebased that `pi -c` would open; afterwards that is the new one."""
    old = shell.add(*talk(["older"]), name="old.jsonl", identity="old")
    os.utime(old, ns=(1, 1_600_000_000_000_000_000))
    shell.written.clear()
    shell.add(*TALK)
    made = rebase.json("--yes")

    assert made["sourceSessionId"] == "s1"
    assert shell("session", "list", "--json", expect=0).json["sessions"][0]["sessionId"] == made["targetSessionId"]


# --- asked -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["y\n", "Y\n", " yes \n", "y"])
def test_on_a_terminal_the_plan_is_shown_and_asked_for(shell: Shell, rebase: Acts, answer: str) -> None:
    """Nothing is done before the answer; a yes does it."""
    shell.add(*TALK)
    said = rebase(typed=answer)

    assert said.out.startswith("It fits: ")
    assert "Rebased: " in said.out
    assert said.err == "Rebase this session? [y/N] "


@pytest.mark.parametrize("answer", ["n\n", "\n", "", "yess\n", "no\ny\n"])
def test_anything_but_yes_is_no(shell: Shell, rebase: Acts, answer: str) -> None:
    """No, an empty line, the end of input and a slip do nothing, and nothing is left."""
    shell.add(*TALK)
    with rebase.nothing_left():
        said = rebase(typed=answer, expect=1)

    assert "Nothing was done." in said.err
    assert "Rebased" not in said.out


def test_an_interrupted_question_is_no(shell: Shell, rebase: Acts) -> None:
    """Ctrl-C at the question ends with the status of an interruption and leaves nothing."""
    shell.add(*TALK)
    with rebase.nothing_left():
        rebase(typed=CTRL_C, expect=130)


def test_without_a_terminal_nobody_is_asked(shell: Shell, rebase: Acts) -> None:
    """A script has to say yes or name the plan; so has a program on a terminal that reads JSON."""
    shell.add(*TALK)
    shell.owner_scripts()

    rebase.refused(code="confirmation-required", terminal=False)
    rebase.refused(code="confirmation-required")
    assert "--confirm-plan" in rebase(terminal=False, expect=1).err


def test_a_plan_can_be_confirmed_by_its_id(shell: Shell, rebase: Acts) -> None:
    """The id of a dry run is the consent of a script, and the command that the dry run gives does it."""
    shell.add(*TALK)
    shell.owner_scripts()
    foretold = rebase.json("--dry-run", terminal=False)
    done = shell(*shlex.split(foretold["nextCommand"])[1:], "--json", expect=0).json

    assert (done["status"], done["planId"]) == ("verified", foretold["planId"])


def test_a_plan_that_changed_is_not_done(shell: Shell, rebase: Acts) -> None:
    """The session went on, or a setting changed: what was confirmed is not what would be done now."""
    file = shell.add(*TALK)
    known = rebase.json("--dry-run")["planId"]
    shell.settings(
        {"sessionRebase": {"checkpointTargetTokens": 9000}, "privacy": {"defaultClassification": "sensitive"}}
    )
    rebase.refused("--confirm-plan", known, code="plan-changed")
    shell.settings({})
    shell.write(file.name, file.read_bytes() + json.dumps(message(5, 4, "user", "more")).encode() + b"\n")
    rebase.refused("--confirm-plan", known, code="plan-changed")
    rebase.refused("--confirm-plan", "0" * 64, code="plan-changed")


def test_what_changes_while_a_person_thinks_is_not_done(
    shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan that was shown is what was agreed to."""
    file = shell.add(*TALK)

    def agree(*_: object) -> None:
        shell.write(file.name, file.read_bytes() + json.dumps(message(5, 4, "user", "more")).encode() + b"\n")

    monkeypatch.setattr("pi_context.commands.rebase_run.agreed", agree)
    assert "is not the one that was confirmed" in rebase(expect=1).err
    assert rebase.names() == {file.name}


# --- refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("how", [("--yes",), ("--confirm-plan", "0" * 64)])
def test_every_gate_leaves_nothing_behind(shell: Shell, rebase: Acts, case: str, how: tuple[str, ...]) -> None:
    """No journal, no lock, no key, no index: the home is as it was."""
    code, data = BAD[case]
    file = shell.write("bad.jsonl", data)
    with rebase.nothing_left():
        answer = rebase.json(*how, "--session", file, expect=1)
    assert (answer["status"], answer["code"]) == ("unavailable", code)
    with rebase.nothing_left():
        rebase(*how, "--session", file, expect=1)
        rebase("--session", file, expect=1, typed="y\n")


def test_the_gates_before_the_file_leave_nothing_either(
    shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switched off, untrusted, not the owner, no session, one that Pi has not written: each its code, in that order."""
    rebase.refused("--yes", code="no-session")
    file = shell.add(*TALK)
    rebase.refused("--yes", code="owner-act-required", terminal=False)
    rebase.refused(code="owner-act-required", terminal=False)
    rebase.refused("--yes", "--no-approve", code="project-not-trusted", terminal=False)
    shell.settings({"sessionRebase": {"enabled": False}})
    rebase.refused("--yes", "--no-approve", code="rebase-disabled", terminal=False)
    shell.settings({"historyTools": {"enabled": False}})
    rebase.refused("--yes", "--no-approve", code="history-disabled", terminal=False)
    shell.settings({})
    rebase.refused("--yes", "--session", file.with_name("x.jsonl"), code="file-missing")
    monkeypatch.setenv("PI_SESSION_FILE", str(file.with_name("soon.jsonl")))
    rebase.refused("--yes", code="owner-act-required")


@pytest.mark.parametrize("mark", ["CLAUDECODE", "PI_SESSION_ID", "AI_AGENT"])
def test_an_agent_cannot_rebase(shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    """Neither with a terminal nor where scripts may do owner acts, whatever it confirms."""
    file = shell.add(*TALK)
    plan = rebase.json("--dry-run")["planId"]
    shell.owner_scripts()
    operation = rebase.unfinished(shell.add(*TALK, name="s2.jsonl", identity="s2"))
    monkeypatch.setenv(mark, "1")

    for words in (
        (), ("--yes",), ("--confirm-plan", plan), ("--recover", operation), ("--abandon", operation, "--yes"),
        ("--adopt", str(file), "--yes"),
    ):  # fmt: skip
        rebase.refused(*words, code="owner-act-required")


def test_over_budget_shows_the_ways_and_asks_nothing(shell: Shell, rebase: Acts) -> None:
    """A person sees the plan with its ways out, as in a dry run; there is nothing to agree to."""
    shell.add(message(1, None, "user", "word " * 30_000))
    with rebase.nothing_left():
        said = rebase(expect=1, typed="y\n")

    assert "It does not fit" in said.out
    assert "[y/N]" not in said.err


def test_a_file_system_that_cannot_install_is_refused(
    shell: Shell, rebase: Acts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without links and without a rename that spares what is there, nothing begins and nothing is left."""
    shell.add(*TALK)
    monkeypatch.setattr("foundation.durable._give_name", _no_names)
    rebase.refused("--yes", code="install-unsupported")


def _no_names(*_: object) -> None:
    from foundation.errors import ContextError

    raise ContextError("install-unsupported")


def test_another_rebase_at_work_is_told(shell: Shell, rebase: Acts) -> None:
    """The lock of another process refuses, with its id and since when, and is left as it is."""
    import portalocker

    shell.add(*TALK)
    done = rebase.json("--yes")
    os.utime(done["targetFile"], ns=(1, 1))
    lock = shell.sessions / ".ds4-rebase" / "lock"
    lock.write_text('{"pid":4321,"since":1700000000000}')
    with portalocker.Lock(str(lock), "r+", flags=portalocker.LOCK_EX | portalocker.LOCK_NB):
        answer = rebase.refused("--yes", "--again", code="rebase-busy")
        for words in (("--recover", done["operationId"]), ("--yes", "--session", done["targetFile"])):
            rebase.refused(*words, code="rebase-busy")
        assert rebase.json("--list")["operations"]  # to look needs no lock
        assert rebase.json("--dry-run", "--session", "s1")["earlier"]["operationId"] == done["operationId"]

        assert lock.read_text() == '{"pid":4321,"since":1700000000000}'
    assert "process 4321, since 2023-11-14T22:13:20" in answer["message"]


# --- done already ----------------------------------------------------------------------------------------------------


def test_an_unchanged_session_is_not_rebased_twice(shell: Shell, rebase: Acts) -> None:
    """The answer names the operation and the session that stands for it, with exit status 0; --again makes another."""
    file = shell.add(*TALK)
    first = rebase.json("--yes", "--session", file)
    names = rebase.names()
    again = rebase.json("--yes", "--session", file)

    assert (again["status"], again["operationId"], again["targetFile"]) == (
        "already-rebased", first["operationId"], first["targetFile"])  # fmt: skip
    said = rebase("--session", file)
    assert "was rebased already" in said.out
    assert "[y/N]" not in said.err
    assert rebase.names() == names

    other = shell(*typed_out(said, "pi-context rebase"), "--yes", "--json", expect=0, terminal=True).json
    assert other["status"] == "verified"
    assert other["operationId"] != first["operationId"]
    assert other["targetFile"] != first["targetFile"]


def test_a_session_that_went_on_or_lost_its_target_is_rebased_anew(shell: Shell, rebase: Acts) -> None:
    """What was done before stands for the session as it was, and only while it is there."""
    file = shell.add(*TALK)
    first = rebase.json("--yes", "--session", file)
    os.unlink(first["targetFile"])
    second = rebase.json("--yes", "--session", file)
    shell.write(file.name, file.read_bytes() + json.dumps(message(5, 4, "user", "more")).encode() + b"\n")
    third = rebase.json("--yes", "--session", file)

    assert [each["status"] for each in (first, second, third)] == ["verified"] * 3
    assert len({each["operationId"] for each in (first, second, third)}) == 3
    assert Path(second["targetFile"]).exists()


def test_another_leaf_is_another_rebase(shell: Shell, rebase: Acts) -> None:
    """The same session up to an earlier entry was not rebased by that."""
    file = shell.add(*TALK)
    rebase.json("--yes", "--session", file)
    assert rebase.json("--yes", "--session", file, "--leaf", "00000003")["status"] == "verified"
    assert rebase.json("--yes", "--session", file, "--leaf", "00000003")["status"] == "already-rebased"


def test_an_unfinished_rebase_is_named(shell: Shell, rebase: Acts) -> None:
    """Before anything else the earlier operation is to be brought to its end; the command for that is told, and works."""
    file = shell.add(*TALK)
    operation = rebase.unfinished(file)
    answer = rebase.json("--yes", "--session", file, expect=1)

    assert (answer["status"], answer["code"], answer["operationId"]) == (
        "recoverable",
        "operation-unfinished",
        operation,
    )
    said = rebase("--session", file, expect=1)
    assert "[y/N]" not in said.err
    assert shell(*typed_out(said, "pi-context rebase"), "--json", expect=0, terminal=True).json["status"] == "verified"
    assert rebase.json("--yes", "--session", file)["status"] == "already-rebased"


# --- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(1, 60, 3))
def test_a_failing_disk_ends_with_a_code_and_a_way_on(shell: Shell, rebase: Acts, number: int) -> None:
    """Wherever it fails the source is whole, and either nothing is left or the operation can be recovered."""
    file = shell.add(*TALK)
    with rebase.on(FailingFiles(number, errno.ENOSPC)):
        answer = rebase.json("--yes", "--session", file, expect=1)

    assert answer["status"] in ("recoverable", "unavailable")
    assert answer["code"] == "disk-full"
    for found in rebase.json("--list")["operations"]:
        assert answer["operationId"] == found["operationId"]
        assert rebase.json("--recover", found["operationId"])["status"] == "verified"
    assert rebase.json("--yes", "--session", file)["status"] in ("verified", "already-rebased")
    assert {os.path.splitext(name)[1] for name in rebase.names()} == {".jsonl", ""}
    assert len(rebase.names()) == 3
