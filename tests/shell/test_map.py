"""`memory map` and `memory test-sessions` as they are typed."""

import json

import pytest
from pi_logs import entry, message
from shelled import Shell


def summary(number: int, names: str) -> dict[str, object]:
    """Give a compaction whose summary lists names."""
    return entry(number, number - 1, "compaction", summary=f"Goal: x\nReferenced: {names}", firstKeptEntryId="00000001",
                 tokensBefore=5)  # fmt: skip


@pytest.fixture
def desk(shell: Shell) -> Shell:
    """Give three sessions with summaries."""
    shell.owner_scripts()
    for name, names in (
        ("s1", "Walgreens, Acme Rocket, a1b2c3d4"),
        ("s2", "Walgreens Inc., Once Only"),
        ("s3", "Acme Rocket"),
    ):
        shell.add(message(1, None, "user", "Hi."), summary(2, names), name=f"{name}.jsonl", identity=name)
    return shell


def drawn(desk: Shell, *words: str) -> set[str]:
    """Give the labels that are drawn, without sessions."""
    nodes = desk("memory", "map", "--json", *words, expect=0).json["nodes"]
    return {node["label"] for node in nodes if node["kind"] in ("entity", "name")}


def test_drawn_removed_restored(desk: Shell) -> None:
    """What a node says is what `remove` takes; restored, the map is what it was, byte for byte."""
    before = desk("memory", "map", "--json", expect=0).out
    assert drawn(desk) == {"Walgreens", "Acme Rocket"}
    (ref,) = [node["ref"] for node in json.loads(before)["nodes"] if node["label"] == "Acme Rocket"]
    row = desk("memory", "remove", ref["kind"], ref["id"], "--apply", "--json", expect=0).json["items"][0]
    assert drawn(desk) == {"Walgreens"}
    desk("memory", "restore", row["id"], expect=0)
    assert desk("memory", "map", "--json", expect=0).out == before
    row = desk("memory", "remove", "session", "s2", "--apply", "--json", expect=0).json["items"][0]
    assert drawn(desk) == {"Acme Rocket"}
    desk("memory", "restore", row["id"], expect=0)
    assert desk("memory", "map", "--json", expect=0).out == before


def test_as_it_was_true_then(desk: Shell) -> None:
    """A fact is on the map while it was true."""
    desk(
        "memory",
        "fact",
        "add",
        "owner",
        "lived in",
        "Bremen",
        "--from",
        "2020-01-01",
        "--to",
        "2021-01-01",
        "--confirm",
        expect=0,
    )
    assert "Bremen" not in drawn(desk)
    assert "Bremen" in drawn(desk, "--as-of", "2020-06-01")


def test_a_page_is_written_once(desk: Shell) -> None:
    """For the owner, and over nothing that is there unless that is said."""
    desk("memory", "map", "--html", "map.html", expect=0)
    text = (desk.project / "map.html").read_text("utf-8")
    assert "Acme Rocket" in text
    assert (
        json.loads(desk("memory", "map", "--html", "map.html", "--json", expect=1).err)["error"]["code"]
        == "file-exists"
    )
    desk("memory", "map", "--html", "map.html", "--force", expect=0)
    for place in ("no/such/map.html", desk.sessions / "map.html", desk.project):
        desk("memory", "map", "--html", place, "--force", expect=1)
    assert not (desk.project / "no").exists()
    assert not (desk.sessions / "map.html").exists()


def test_the_owners_filters(desk: Shell) -> None:
    """`memory.yaml` counts; a key that nobody knows is named with its line."""
    folder = desk.agent_dir / "pi-context"
    folder.mkdir(exist_ok=True)
    (folder / "memory.yaml").write_text("mentions:\n  minSessions: 1\n  neverDraw: ['^Acme']\n")
    assert drawn(desk) == {"Walgreens", "Once Only"}
    (folder / "memory.yaml").write_text("mentions:\n  minSesions: 1\n")
    told = json.loads(desk("memory", "map", "--json", expect=1).err)["error"]
    assert (told["code"], "Line 2" in told["message"]) == ("filters-invalid", True)


def test_sessions_that_may_be_none(desk: Shell) -> None:
    """Offered only where the owner says what real ids look like; removed together, and restored one by one."""
    assert desk("memory", "test-sessions", "--json", expect=0).json["sessions"] == []
    folder = desk.agent_dir / "pi-context"
    folder.mkdir(exist_ok=True)
    (folder / "memory.yaml").write_text("sessions:\n  realPatterns: ['^s1$']\n")
    offered = desk("memory", "test-sessions", "--json", expect=0).json["sessions"]
    assert {row["sessionId"] for row in offered} == {"s2", "s3"}
    assert "only 1 turns" in offered[0]["reasons"]
    desk("memory", "test-sessions", "--remove", expect=0)
    assert len(desk("memory", "removed", "--json", expect=0).json["items"]) == 2
    assert drawn(desk) == set()


def test_an_agent_sees_the_map_of_its_class(desk: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and facts of a class that it may see; no page, no review."""
    desk.settings({"owner": {"scripts": True}, "privacy": {"defaultClassification": "sensitive"}})
    desk("memory", "fact", "add", "owner", "likes", "Tea", "--confirm", expect=0)
    assert drawn(desk) == {"Tea", "Walgreens", "Acme Rocket"}
    monkeypatch.setenv("CLAUDECODE", "1")
    assert drawn(desk) == set()
    for words in (("map", "--html", "x.html"), ("test-sessions",)):
        assert json.loads(desk("memory", *words, "--json", expect=1).err)["error"]["code"] == "owner-act-required"


def test_an_ephemeral_session_counts_for_itself_alone(desk: Shell) -> None:
    """In its own scopes it is found, from another session and on the map it is not; the owner's file says which are."""
    desk.settings({"owner": {"scripts": True}, "historyTools": {"allowProjectScope": True}})
    desk.add(
        message(1, None, "user", "Only in passing: okapi."),
        summary(2, "Acme Rocket"),
        name="t.jsonl",
        identity="test-7",
    )
    project = ("--scope", "project", "--approve")
    assert desk.search("okapi", "--session", "s1", *project)["hits"] == []
    assert desk.search("okapi", "--session", "test-7")["hits"]
    assert desk.search("okapi", "--session", "test-7", *project)["hits"]
    assert "test-7" not in json.dumps(desk("memory", "map", "--json", expect=0).json)
    folder = desk.agent_dir / "pi-context"
    (folder / "memory.yaml").write_text("sessions:\n  ephemeralPrefixes: [tmp]\n")
    assert desk.search("okapi", "--session", "s1", *project)["hits"]
