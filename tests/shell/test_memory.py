"""Facts, and what the owner takes away: the commands as a person types them, and what every reader shows afterwards."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pi_logs import message
from shelled import Shell, index_bytes

from pi_context import api

NAME, WORD, SAID = "Quillfeather", "doubloons", "krugerrands"


@pytest.fixture
def desk(shell: Shell) -> Shell:
    """Give a project with two sessions that speak of one thing, and the owner's word for scripts."""
    shell.settings({"owner": {"scripts": True}, "historyTools": {"allowProjectScope": True}})
    shell.add(
        message(1, None, "user", f"The {NAME} invoice is open."),
        message(2, 1, "assistant", f"Noted: {NAME.upper()} pays in {WORD}."),
        message(3, 2, "user", "And the harbour dues?"),
        name="s1.jsonl", identity="s1",
    )  # fmt: skip
    shell.add(message(1, None, "user", f"Harbour dues are low; {NAME}, Inc. knows."), name="s2.jsonl", identity="s2")
    return shell


def hits(desk: Shell, query: str) -> list[dict[str, Any]]:
    """Search the whole project."""
    found = desk.search(query, "--scope", "project", "--approve")["hits"]
    return [hit for hit in found if isinstance(hit, dict)]


def remove(desk: Shell, kind: str, target: str, *words: str) -> dict[str, Any]:
    """Remove something; give its row."""
    (row,) = desk("memory", "remove", kind, target, "--apply", *words, "--json", expect=0).json["items"]
    assert isinstance(row, dict)
    return row


def everything(desk: Shell) -> dict[str, str]:
    """Give what every reader shows, without what differs from call to call."""
    seen = {}
    for name, words in {
        "search": ("history", "search", "harbour", "--scope", "project", "--approve"),
        "named": ("history", "search", NAME, "--scope", "project", "--approve"),
        "list": ("session", "list"), "show": ("session", "show", "s2:00000001"), "tree": ("session", "tree"),
        "context": ("session", "context"), "facts": ("memory", "fact", "list", "--all"),
        "rebase": ("rebase", "--dry-run", "--show-handoff", "--approve"),
    }.items():  # fmt: skip
        said = desk_call(desk, *words, "--json")
        seen[name] = json.dumps(_without(said, "sourceRef", "bytes"), sort_keys=True)
    return seen


def desk_call(desk: Shell, *words: str) -> Any:
    """Run a command that may be refused."""
    for status in (0, 1):
        try:
            said = desk(*words, expect=status)
        except AssertionError:
            continue
        return json.loads(said.out or said.err.splitlines()[-1])
    raise AssertionError(words)


def _without(value: Any, *names: str) -> Any:
    if isinstance(value, dict):
        return {key: _without(inner, *names) for key, inner in value.items() if key not in names}
    return [_without(inner, *names) for inner in value] if isinstance(value, list) else value


def test_a_removed_name_is_in_no_reader(desk: Shell) -> None:
    """Masked in every text, past and new, whatever its form; found by no syntax; brought back exactly."""
    before = everything(desk)
    row = remove(desk, "name", f"{NAME} Ltd.")
    after = everything(desk)

    assert NAME.lower() not in json.dumps(after).lower()
    assert "[removed]" in after["search"]
    for query in (NAME, f'"{NAME}"', f"`{NAME.lower()}`", f"{NAME[:5]}*", f"{NAME} OR nonsense", "removed", NAME[2:9]):
        assert hits(desk, query) == [], query
    assert hits(desk, f"invoice NOT {NAME}")
    desk.add(message(1, None, "user", f"New: {NAME} again, harbour."), name="s3.jsonl", identity="s3")
    assert NAME not in json.dumps(hits(desk, "harbour"))
    (desk.sessions / "s3.jsonl").unlink()
    desk("memory", "restore", row["id"], expect=0)
    assert everything(desk) == before
    desk.check_untouched()


def test_a_query_that_is_a_removed_name_looks_like_any_that_finds_nothing(desk: Shell) -> None:
    """Neither status nor counts nor warnings tell that there is something."""
    remove(desk, "name", NAME)
    asked = ("--scope", "project", "--approve", "--audience", "somebody")

    assert desk.search(NAME, *asked) == desk.search("xyzzyplugh", *asked)


def test_a_removed_name_finds_no_identifier_either(desk: Shell) -> None:
    """What holds it as a part is seen, unless that was asked to be hidden too, and is not found by the name."""
    desk.add(message(1, None, "user", f"See get_{NAME.lower()}_dues and {NAME}Client."), name="s4.jsonl", identity="s4")
    assert "Client" in json.dumps(hits(desk, NAME))
    row = remove(desk, "name", NAME)
    assert hits(desk, NAME) == []
    assert "Client" in json.dumps(hits(desk, "dues"))
    desk("memory", "restore", row["id"], expect=0)
    remove(desk, "name", NAME, "--in-parts")
    assert NAME.lower() not in json.dumps(hits(desk, "dues")).lower()


def test_a_removed_session_is_in_no_reader(desk: Shell) -> None:
    """Search, read by an old reference, list, show and rebase: nothing of it, until it is restored, and then all."""
    before = everything(desk)
    reference = hits(desk, "knows")[0]["sourceRef"]
    row = remove(desk, "session", "s2")

    assert hits(desk, "knows") == []
    assert desk("history", "read", reference, "--json", expect=1).json["code"] == "reference-unavailable"
    assert [each["sessionId"] for each in desk("session", "list", "--json", expect=0).json["sessions"]] == ["s1"]
    for words in (("session", "show", "s2:00000001"), ("history", "search", "dues", "--session", "s2"),
                  ("session", "context", "--session", "s2"), ("rebase", "--dry-run", "--session", "s2")):  # fmt: skip
        said = desk_call(desk, *words, "--json")
        assert "session-removed" in json.dumps(said), words
    desk("memory", "restore", row["id"], expect=0)
    assert everything(desk) == before
    desk.check_untouched()


def test_an_entity_takes_its_facts_with_it_and_brings_them_back(desk: Shell) -> None:
    """Listed first, retracted with the reason, no longer shown, and then all as it was; a new one has a new id."""
    desk("memory", "fact", "add", "owner", "works with", NAME, "--confirm", expect=0)
    desk("memory", "fact", "add", NAME, "pays in", WORD, "--value", expect=0)
    before = everything(desk)
    preview = desk("memory", "remove", "entity", NAME, "--json", expect=0).json
    assert preview["status"] == "preview"
    assert preview["items"][0]["withdraws"] == [f"owner works with {NAME}", f"{NAME} pays in {WORD}"]
    assert preview["items"][0]["occursIn"] == {"entries": 3, "sessions": 2, "more": False}
    assert everything(desk) == before

    row = remove(desk, "entity", NAME)
    assert (row["facts"], desk("memory", "fact", "list", "--json", expect=0).json["facts"]) == (2, [])
    assert hits(desk, NAME) == []
    assert remove(desk, "entity", NAME)["id"] == row["id"]
    desk("memory", "restore", row["id"], expect=0)
    assert everything(desk) == before


def test_a_confirmed_fact_shows_a_removed_name_again(desk: Shell) -> None:
    """A proposal does not; only restoring takes the row from the list."""
    remove(desk, "name", NAME)
    added = desk("memory", "fact", "add", "owner", "met", NAME, "--json", expect=0).json["facts"][0]
    assert hits(desk, NAME) == []
    desk("memory", "fact", "confirm", added["id"], expect=0)

    assert len(hits(desk, NAME)) == 3
    assert len(desk("memory", "removed", "--json", expect=0).json["items"]) == 1


def test_what_is_deleted_for_good_is_nowhere_of_ours(desk: Shell) -> None:
    """Needs the word; then no file of ours holds name or text, searched by parts of the words, and it stays masked."""
    desk("memory", "fact", "add", NAME, "pays in", SAID, "--value", "--confirm", expect=0)
    hits(desk, "harbour")
    row = remove(desk, "entity", NAME)
    refused = desk("memory", "delete", row["id"], "--json", expect=1)
    assert json.loads(refused.err)["error"]["code"] == "delete-unconfirmed"
    done = desk("memory", "delete", row["id"], "--confirm", "delete", "--json", expect=0).json

    assert done["deleted"] == [row["id"]]
    assert hits(desk, NAME) == []
    assert "[removed]" in json.dumps(hits(desk, "harbour"))
    held = index_bytes(desk).lower()
    for part in (NAME, NAME[4:], SAID, SAID[3:]):
        assert part.lower().encode() not in held, part
    (listed,) = desk("memory", "removed", "--json", expect=0).json["items"]
    assert (listed["label"], listed["permanent"]) == ("deleted entity #1", True)
    desk("index", "rebuild", expect=0)
    assert NAME[4:].lower().encode() not in index_bytes(desk).lower()
    desk("memory", "restore", row["id"], expect=0)
    assert len(hits(desk, NAME)) == 3
    desk.check_untouched()


def test_a_deleted_session_leaves_the_index(desk: Shell) -> None:
    """Its words go from the file, and no update brings them back."""
    desk.add(message(1, None, "user", "Only here: flibbertigibbet."), name="s9.jsonl", identity="s9")
    hits(desk, "harbour")
    row = remove(desk, "session", "s9")
    desk("memory", "delete", row["id"], "--confirm", "delete", expect=0)
    desk("index", "update", expect=0)

    assert b"bertigibbet" not in index_bytes(desk)
    assert hits(desk, "flibbertigibbet") == []


def test_a_removal_between_the_dry_run_and_the_rebase(desk: Shell) -> None:
    """The plan that was agreed to is not the plan any more."""
    plan = desk("rebase", "--dry-run", "--json", "--approve", expect=0).json["planId"]
    remove(desk, "name", NAME)

    assert desk("rebase", "--confirm-plan", plan, "--json", "--approve", expect=1).json["code"] == "plan-changed"


def test_a_checkpoint_that_was_made_before_is_masked_when_it_is_shown(desk: Shell) -> None:
    """Its file keeps its bytes; what is shown of it, and what a rebase of it would carry on, passes the gate."""
    made = desk("rebase", "--yes", "--json", "--approve", "--session", "s1", expect=0).json
    target = Path(made["targetFile"])
    before = target.read_bytes()
    remove(desk, "name", NAME)

    shown = desk("session", "context", "--session", target, "--json", expect=0).out
    assert NAME.lower() not in shown.lower()
    assert "[removed]" in shown
    again = desk("rebase", "--dry-run", "--show-handoff", "--session", target, "--approve", "--again", expect=0).out
    assert NAME.lower() not in again.lower()
    assert target.read_bytes() == before


@pytest.mark.parametrize("damage", ["garbage", "gone", "flipped", "folder"])
def test_a_ledger_that_cannot_be_read_closes_everything(desk: Shell, damage: str) -> None:
    """No text of another session, no list, no rebase; one line says so, with no name in it; then it is mended."""
    remove(desk, "name", NAME)
    (path,) = (desk.agent_dir / "pi-context" / "projects").glob("*/memory.jsonl")
    before = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "gone":
        path.write_bytes(b"nonsense\n" if damage == "garbage" else before.replace(b'"at":1', b'"at":2', 1))
    found = desk.search("harbour", "--scope", "project", "--approve")

    assert {hit["sessionId"] for hit in found["hits"]} <= {"s1", "s2"}
    assert len({hit["sessionId"] for hit in found["hits"]}) == 1
    assert "ledger-unreadable" in found["warnings"]
    assert desk_call(desk, "session", "list", "--json")["error"]["code"] == "ledger-unreadable"
    assert desk_call(desk, "rebase", "--dry-run", "--json", "--approve")["code"] == "ledger-unreadable"
    said = desk("history", "search", "dues", expect=0).err
    assert said.count("WARNING") == 1
    assert NAME not in said
    if damage == "folder":
        path.rmdir()
    path.write_bytes(before)
    assert len(desk("session", "list", "--json", expect=0).json["sessions"]) == 2


def test_a_torn_last_line_never_happened(desk: Shell) -> None:
    """A change that was cut off counts for nothing, and the next one stands behind the last whole one."""
    remove(desk, "name", NAME)
    (path,) = (desk.agent_dir / "pi-context" / "projects").glob("*/memory.jsonl")
    path.write_bytes(path.read_bytes() + b'{"v":1,"at":5,"remo')
    assert hits(desk, NAME) == []
    remove(desk, "session", "s2")
    assert path.read_bytes().count(b"\n") == 2
    assert len(desk("memory", "removed", "--json", expect=0).json["items"]) == 2


@pytest.mark.parametrize(("words", "code"), [
    (("remove", "entity", "nobody", "--apply"), "entity-unknown"), (("remove", "entity", "owner", "--apply"), "entity-unknown"),
    (("remove", "name", "x", "--apply"), "name-too-short"), (("remove", "name", "42", "--apply"), "name-too-short"),
    (("remove", "session", " ", "--apply"), "usage"), (("remove", "name", "", "--apply"), "usage"),
    (("remove", "fact", "st_0", "--apply"), "fact-unknown"), (("remove", "session", "nope", "--apply"), "session-not-found"),
    (("remove", "name", "sk-ant-api03-" + "aB3" * 31 + "AA", "--apply"), "claim-holds-secret"),
    (("restore", "rm_0"), "removal-unknown"), (("fact", "confirm", "st_0"), "fact-unknown"),
    (("fact", "add", "a", "b", "c", "--from", "2026-02-02", "--to", "2026-01-01"), "invalid-fact"),
    (("fact", "add", "a", "b", "c" * 3000), "claim-too-long"), (("remove", "name", "Acme", "--confirm-plan", "x"), "plan-changed"),
])  # fmt: skip
def test_what_cannot_be_done_says_why(desk: Shell, words: tuple[str, ...], code: str) -> None:
    """A code, one remedy, and nothing is written."""
    said = desk("memory", *words, "--json", expect=2 if code == "usage" else 1)

    assert json.loads(said.err)["error"]["code"] == code
    assert not list((desk.agent_dir / "pi-context").glob("projects/*/memory.jsonl"))


def test_an_agent_may_list_facts_and_nothing_else(desk: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the mark of an agent every removal, and the list of what is removed, is refused."""
    desk("memory", "fact", "add", "owner", "likes", "tea", "--value", "--confirm", expect=0)
    monkeypatch.setenv("CLAUDECODE", "1")

    for words in (("remove", "name", NAME, "--apply"), ("remove", "name", NAME), ("removed",), ("restore", "x"),
                  ("delete", "x", "--confirm", "delete"), ("fact", "confirm", "x"), ("fact", "end", "x"), ("recover",),
                  ("fact", "add", "a", "b", "c", "--confirm")):  # fmt: skip
        assert json.loads(desk("memory", *words, "--json", expect=1).err)["error"]["code"] == "owner-act-required"
    assert desk("memory", "fact", "list", "--json", expect=0).json["facts"][0]["object"] == "tea"


def test_asked_on_a_terminal(desk: Shell) -> None:
    """A person sees what it would do, and agrees or does not."""
    said = desk("memory", "remove", "name", NAME, expect=1, terminal=True, typed="n\n")
    assert "stands in 3 entries of 2 sessions" in said.out
    assert desk("memory", "removed", "--json", expect=0).json["items"] == []
    desk("memory", "remove", "name", NAME, expect=0, terminal=True, typed="y\n")
    assert len(desk("memory", "removed", "--json", expect=0).json["items"]) == 1


def test_one_value_at_a_time(desk: Shell) -> None:
    """A newer confirmed value ends the older one; to retract it brings the older one back; to end is another thing."""
    first, second = (
        desk("memory", "fact", "add", "owner", "lives in", place, "--single", "--confirm", "--json", expect=0).json[
            "facts"
        ][0]["id"]
        for place in ("Bremen", "Oslo")
    )
    shown = desk("memory", "fact", "list", "--json", expect=0).json["facts"]
    assert [fact["object"] for fact in shown] == ["Oslo"]
    remove(desk, "fact", second)
    assert [fact["id"] for fact in desk("memory", "fact", "list", "--json", expect=0).json["facts"]] == [first]
    desk("memory", "restore", second, expect=0)
    assert [fact["id"] for fact in desk("memory", "fact", "list", "--json", expect=0).json["facts"]] == [second]
    desk("memory", "fact", "end", second, expect=0)
    assert desk("memory", "fact", "list", "--json", expect=0).json["facts"] == []


def test_the_python_calls_give_what_the_commands_answer(desk: Shell) -> None:
    """The same five calls, and the map; another than the owner's own program is refused."""
    memory = api.open(agent_dir=desk.agent_dir, project=desk.project, audience="local").memory
    told = memory.preview("name", NAME)
    assert told["status"] == "preview"
    row = memory.remove("name", NAME, plan_id=told["planId"])["items"][0]
    assert memory.removed()["items"][0]["id"] == row["id"]
    assert NAME not in json.dumps(memory.map())
    memory.restore(row["id"])
    assert memory.removed()["items"] == []
    with pytest.raises(api.ContextError, match="owner"):
        api.open(agent_dir=desk.agent_dir, project=desk.project).memory.removed()


def test_nothing_that_was_removed_is_in_any_remark(desk: Shell, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither in what is said beside an answer, nor in a record of the journal, nor in a reference."""
    row = remove(desk, "name", NAME)
    said = [desk(*words, "-v", expect=0).err for words in (("history", "search", "harbour"), ("history", "status"),
            ("index", "update"), ("doctor",), ("memory", "recover"))]  # fmt: skip
    desk("memory", "delete", row["id"], "--confirm", "delete", expect=0)
    for path in (desk.agent_dir / "pi-context").rglob("*"):
        if path.is_file() and path.suffix != ".db":
            assert NAME.lower() not in path.read_bytes().decode("utf-8", "replace").lower(), path
    assert NAME.lower() not in "".join([*said, *capfd.readouterr()]).lower()


@pytest.mark.parametrize("act", ["remove", "delete"])
@pytest.mark.parametrize("phase", ["Prepared", "Staged", "Committed"])
def test_killed_at_a_phase(desk: Shell, act: str, phase: str) -> None:
    """SIGKILL of the installed command right after a phase is durable: before or after, and the next command ends it."""
    first = remove(desk, "name", NAME)["id"] if act == "delete" else ""
    before = desk("memory", "removed", "--json", expect=0).json
    words = ["delete", first, "--confirm", "delete"] if act == "delete" else ["remove", "name", NAME, "--apply"]
    program = (
        "import os, signal, sys\nimport foundation.durable as durable\nwritten = durable.write_atomically\n"
        "def stop(files, path, data, **more):\n"
        "    written(files, path, data, **more)\n"
        f'    if b\'"phase": "{phase}"\' in data or b\'"phase":"{phase}"\' in data:\n'
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "durable.write_atomically = stop\nfrom pi_context.main import main\n"
        f"sys.exit(main({['memory', *words]!r}))\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program], cwd=desk.project, capture_output=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert desk("memory", "recover", "--json", expect=0).json["unfinished"] == []
    after = desk("memory", "removed", "--json", expect=0).json
    done = after["items"] and (after["items"][0]["permanent"] if act == "delete" else True)
    assert done if phase != "Prepared" else after == before
    assert desk("memory", "recover", "--json", expect=0).json["unfinished"] == []
    if act == "delete" and done:
        assert NAME[4:].lower().encode() not in index_bytes(desk).lower()
