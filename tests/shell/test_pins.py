"""`pin list` and `memory list`, and what a rebase carries on of both."""

import json
from pathlib import Path

import pytest
from pi_logs import entry, message
from shelled import Shell

ITEM = {"id": "pin_a", "scope": "session", "content": "Keep the tests green.", "createdAt": "2026-11-20T08:00:00.000Z"}
CLAIM = {"id": "mem_a", "scope": "session", "claim": "The port is 8080.", "key": "the port"}


def said(kind: str, mutation: str, operation: str, number: int, **more: object) -> dict[str, object]:
    """Give an entry as Pi appends it."""
    data = {"schemaVersion": 1, "mutationId": mutation, "operation": operation, "createdAt": "2026-11-20T08:00:00.000Z"}
    return entry(number, number - 1, "custom", customType=kind, data=data | more)


@pytest.fixture
def desk(shell: Shell) -> Shell:
    """Give a session with a pin and an older form of a memory."""
    shell.owner_scripts()
    shell.add(
        message(1, None, "user", "Hello."), message(2, 1, "assistant", "Hello to you."),
        said("context-pin-v1", "m1", "add", 3, item=ITEM), said("ds4-context-memory-v1", "m2", "add", 4, item=CLAIM),
        message(5, 4, "user", "Go on."),
    )  # fmt: skip
    return shell


def texts(desk: Shell, *words: object) -> list[str]:
    """List what holds."""
    return [
        row["text"]
        for kind in ("pin", "memory")
        for row in desk(kind, "list", "--json", *words, expect=0).json["items"]
    ]


def test_listed(desk: Shell) -> None:
    """Both forms are read; where each was said stands with it."""
    assert texts(desk) == ["Keep the tests green.", "The port is 8080."]
    (row,) = desk("pin", "list", "--json", expect=0).json["items"]
    assert (row["id"], row["sessionId"], row["entryId"], row["scope"]) == ("pin_a", "s1", "00000003", "session")
    assert "Keep the tests green." in desk("pin", "list", expect=0).out


def test_carried_on_through_three_generations(desk: Shell) -> None:
    """Frozen in each checkpoint with ids, times and provenance, byte for byte; ended in one of them, it stays ended."""
    rows, session = [], desk.sessions / "s1.jsonl"
    for _ in range(3):
        made = desk("rebase", "--yes", "--json", "--approve", "--again", "--session", session, expect=0).json
        assert (made["preservedPins"], made["preservedMemories"]) == (1, 1)
        session = Path(made["targetFile"])
        lines = [json.loads(line) for line in session.read_text("utf-8").splitlines()]
        (data,) = [line["data"] for line in lines if line.get("customType") == "context-rebase-checkpoint-v1"]
        rows.append(json.dumps([data["pins"], data["memories"]]))
        assert texts(desk, "--session", session) == ["Keep the tests green.", "The port is 8080."]
        leaf = lines[-1]["id"]
        more = message(900 + len(rows), None, "user", "On.") | {"parentId": leaf}
        session.write_bytes(session.read_bytes() + json.dumps(more).encode() + b"\n")
    assert len(set(rows)) == 1
    last = json.loads(session.read_text("utf-8").splitlines()[-1])["id"]
    ended = said("context-pin-v1", "m9", "status", 950, pinId="pin_a", status="deleted") | {"parentId": last}
    session.write_bytes(session.read_bytes() + json.dumps(ended).encode() + b"\n")
    assert texts(desk, "--session", session) == ["The port is 8080."]
    assert texts(desk, "--session", session, "--leaf", last) == ["Keep the tests green.", "The port is 8080."]
    assert texts(desk, "--session", desk.sessions / "s1.jsonl") == ["Keep the tests green.", "The port is 8080."]


def test_not_inherited_any_more(desk: Shell) -> None:
    """Where the session that it came from is excluded or removed, it is gone, and comes back with it."""
    made = desk("rebase", "--yes", "--json", "--approve", expect=0).json
    target = made["targetFile"]
    for put, back in ((("history", "exclude", "s1"), ("history", "include", "s1")),):
        desk(*put, expect=0)
        assert texts(desk, "--session", target) == []
        desk(*back, expect=0)
        assert len(texts(desk, "--session", target)) == 2
    row = desk("memory", "remove", "session", "s1", "--apply", "--json", expect=0).json["items"][0]
    assert texts(desk, "--session", target) == []
    desk("memory", "restore", row["id"], expect=0)
    assert len(texts(desk, "--session", target)) == 2


def test_memory_that_is_off_is_not_lost(desk: Shell) -> None:
    """A rebase that would leave pins behind in silence is refused."""
    desk.settings({"owner": {"scripts": True}, "memory": {"enabled": False}})

    assert desk("rebase", "--dry-run", "--json", "--approve", expect=1).json["code"] == "memory-state-required"
    assert json.loads(desk("pin", "list", "--json", expect=1).err)["error"]["code"] == "memory-disabled"


def test_a_pin_changes_the_plan(desk: Shell) -> None:
    """What is pinned between dry run and rebase makes it another plan."""
    plan = desk("rebase", "--dry-run", "--json", "--approve", expect=0).json
    path = desk.sessions / "s1.jsonl"
    more = said("context-pin-v1", "m5", "add", 6, item=ITEM | {"id": "pin_b", "content": "Another."})
    desk.write("s1.jsonl", path.read_bytes() + json.dumps(more).encode() + b"\n")

    assert plan["preservedPins"] == 1
    assert desk("rebase", "--dry-run", "--json", "--approve", expect=0).json["planId"] != plan["planId"]


def test_of_the_project(desk: Shell) -> None:
    """Another session's project pins are used only where that is allowed."""
    item = ITEM | {"id": "pin_p", "scope": "project", "content": "For all."}
    desk.add(
        message(1, None, "user", "Hi."),
        said("context-pin-v1", "m7", "add", 2, item=item),
        name="s2.jsonl",
        identity="s2",
    )
    one = ("--session", "s1")
    assert "For all." not in texts(desk, *one)
    desk.settings({"owner": {"scripts": True}, "memory": {"crossSession": True}})
    assert "For all." in texts(desk, *one, "--approve")


def test_masked_redacted_and_gated(desk: Shell) -> None:
    """A removed name is masked in a pin, and a class above the audience's is not listed."""
    item = ITEM | {"id": "pin_s", "content": "[context:sensitive]The vault opens at nine.[/context:sensitive]"}
    path = desk.sessions / "s1.jsonl"
    more = said("context-pin-v1", "m5", "add", 6, item=item) | {"parentId": "00000005"}
    desk.write("s1.jsonl", path.read_bytes() + json.dumps(more).encode() + b"\n")
    assert len(texts(desk)) == 3
    assert len(texts(desk, "--audience", "somebody")) == 2
    desk("memory", "remove", "name", "tests", "--apply", expect=0)
    assert texts(desk)[0] == "Keep the [removed] green."
