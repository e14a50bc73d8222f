"""Tool calls: the answers of recall, within what Pi says of the session, the trust and the provider."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from logs import lines, message
from pi_desk import TALK, Desk
from served import Refused, Served

from foundation.settings import SCOPES
from pi_context.server.leaves import nearest_written
from pi_context.tools import HISTORY, TOOLS
from pi_context.verbs import ROLES
from recall.request import Asked

Serve = Callable[..., Served]


def test_a_hit_is_read_back_in_the_same_server(serve: Serve) -> None:
    """A reference lives from call to call, and not in another server."""
    served = serve()
    hit = served.tool("recall", query="retry budget")["hits"][0]

    assert "chat-send" in served.tool("read", sourceRef=hit["sourceRef"])["text"]
    assert serve().tool("read", sourceRef=hit["sourceRef"])["code"] == "reference-unavailable"


def test_a_reference_is_of_the_session_that_asked(desk: Desk, serve: Serve) -> None:
    """In another session of the same server it stands for nothing."""
    served = serve()
    hit = served.tool("recall", query="retry budget")["hits"][0]
    served.context["sessionFile"] = str(desk.session("two", *TALK))

    assert served.tool("read", sourceRef=hit["sourceRef"])["code"] == "reference-unavailable"


def test_details_hold_no_text(serve: Serve) -> None:
    """What Pi keeps beside an answer are ids, counts and codes, and no reference."""
    answered = serve().call("tool", {"name": "context_history_recall", "arguments": {"query": "retry budget"}})
    kept = json.dumps(answered["details"])

    assert answered["isError"] is False
    assert answered["details"]["hits"][0]["entryId"] == "00000002"
    assert "retry" not in kept
    assert "h_" not in kept


@pytest.mark.parametrize(
    ("provider", "found"), [("ollama", True), ("openai", False), ("", False), ("local", False), ("LOCAL", False)]
)
def test_the_audience_is_the_live_provider(serve: Serve, provider: str, found: bool) -> None:
    """Sensitive text is found for a local model only; a provider that calls itself `local` is none."""
    served = serve(provider=provider)

    hits = served.tool("recall", query="vault door")["hits"]
    assert any("seven" in hit["excerpt"] for hit in hits) is found


def test_a_provider_called_local_is_local_where_the_owner_says_so(desk: Desk, serve: Serve) -> None:
    """The settings decide, and nothing else."""
    desk.settings({"privacy": {"localProviders": ["local"]}})

    assert any("seven" in hit["excerpt"] for hit in serve(provider="local").tool("recall", query="vault door")["hits"])


def test_a_model_can_name_nothing(desk: Desk, serve: Serve) -> None:
    """Fields for a path, a session, an audience or secrets are no arguments, and no scope is the owner's."""
    desk.session("other", message(1, None, "a word of another session: zebra"))
    served = serve(provider="openai")
    sly: dict[str, Any] = {"session": "other", "sessionFile": str(desk.sessions / "other.jsonl"), "audience": "local",
                           "reveal": True, "owner": True, "project": "/"}  # fmt: skip

    assert served.tool("recall", query="zebra", **sly)["hits"] == []
    assert served.tool("recall", query="zebra", scope="everywhere")["code"] == "owner-act-required"
    assert not any("seven" in hit["excerpt"] for hit in served.tool("recall", query="vault door", **sly)["hits"])


def test_calling_itself_a_user_helps_no_tool(serve: Serve) -> None:
    """A tool call is the model's, whatever its context says."""
    served = serve(provider="openai", actor="user")

    assert served.tool("recall", query="zebra", scope="everywhere")["code"] == "owner-act-required"


@pytest.mark.parametrize("method", ["command", "rebase.run", "rebase.back"])
def test_a_model_may_not_do_what_a_person_may(serve: Serve, method: str) -> None:
    """Methods for people refuse a model."""
    params = {"line": "config", "planId": "x", "confirmed": True}
    try:
        code = serve().call(method, params)["answer"]["code"]
    except Refused as refused:
        code = refused.code

    assert code == "owner-act-required"


def test_an_unsaved_session(desk: Desk, serve: Serve) -> None:
    """A session without its file says so; the project's other sessions are searched where that is allowed."""
    desk.settings({"historyTools": {"allowProjectScope": True}})
    served = serve(sessionFile=str(desk.sessions / "new.jsonl"), leafId="abcd")

    assert served.tool("recall", query="budget")["code"] == "session-unsaved"
    assert served.tool("status")["warnings"][0] == "session-unsaved"
    hits = served.tool("recall", query="retry budget", scope="project")["hits"]
    assert served.tool("read", sourceRef=hits[0]["sourceRef"])["status"] == "complete"
    served.context["sessionFile"] = None
    assert served.tool("recall", query="budget")["code"] == "no-session"


@pytest.mark.parametrize(("trusted", "code"), [(True, None), (False, "project-not-trusted"), (None, None)])
def test_trust_is_what_pi_says(desk: Desk, serve: Serve, trusted: bool | None, code: str | None) -> None:
    """Pi's answer counts; a Pi that cannot be asked goes by what it saved, here nothing that needs a decision."""
    desk.settings({"historyTools": {"allowProjectScope": True}})
    served = serve(trusted=trusted)

    assert served.tool("recall", query="budget", scope="project").get("code") == code
    assert served.tool("recall", query="budget")["hits"]


def test_the_live_leaf_decides_the_branch(desk: Desk, serve: Serve) -> None:
    """A leaf that is not written yet stands for its nearest ancestor that is, else for the last entry."""
    with desk.file.open("ab") as file:
        file.write(lines(message(5, 2, "another branch: walrus")))
    served = serve(leafId="00000004")
    assert served.tool("recall", query="walrus")["hits"] == []
    served.context |= {"leafId": "ffffffff", "leafPath": ["fffffffe", "00000004"]}
    assert served.tool("recall", query="walrus")["hits"] == []
    served.context |= {"leafPath": []}
    assert served.tool("recall", query="walrus")["hits"]
    served.context |= {"leafId": "one"}  # an id that stands in the file, but is no entry's
    assert served.tool("recall", query="walrus")["hits"]


@pytest.mark.parametrize("mark", ["CLAUDECODE", "AI_AGENT", "PI_CODING_AGENT", "PI_SESSION_ID", "PI_SESSION_FILE"])
def test_a_server_in_the_shell_of_a_model_is_no_way_around(
    desk: Desk, serve: Serve, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    """A model may start a Pi of its own, or speak the protocol itself: it types as nobody, for an unknown provider."""
    with desk.file.open("ab") as file:
        file.write(lines(message(5, 4, "[context:local-only]walrus[/context:local-only]")))
    monkeypatch.setenv(mark, "1")
    served = serve(actor="user", hasUI=True, provider="ollama")

    with pytest.raises(Refused):
        served.call("command", {"line": "config set privacy.localProviders '[\"openai\"]' --global", "confirmed": True})
    served.context |= {"actor": "model"}
    assert served.tool("recall", query="walrus")["hits"] == []
    assert served.tool("recall", query="retry budget")["hits"]


def test_wrong_arguments_are_answers_with_a_code(serve: Serve) -> None:
    """A field out of range answers as it does everywhere; a tool that is none does not fit."""
    served = serve()

    assert served.tool("recall", query="x", limit=99)["code"] == "invalid-limit"
    assert served.tool("recall")["code"] == "invalid-query"
    assert served.tool("recall", query=[1])["code"] == "invalid-query"
    assert served.tool("status", scope=[1])["code"] == "invalid-scope"
    assert served.tool("read", sourceRef=7)["code"] == "reference-unavailable"
    with pytest.raises(Refused):
        served.tool("forget")


def test_switched_off(desk: Desk, serve: Serve) -> None:
    """The tools answer that they are, and the extension is told at the start."""
    desk.settings({"historyTools": {"enabled": False}})
    served = serve()

    assert served.tool("recall", query="x")["code"] == "history-disabled"
    told = {tool["name"]: tool["active"] for tool in served.call("settings")["tools"]}
    assert told.pop("context_memory") is True
    assert set(told.values()) == {False}


def test_the_schemas_are_what_recall_takes() -> None:
    """Names, roles and scopes of the schemas are those that recall knows, without what is the owner's."""
    recall, read, status = HISTORY
    known = {name.replace("_", "").lower() for name in Asked.__annotations__} - {"localtime"} | {"query"}

    assert {name.lower() for name in recall.parameters["properties"]} == known
    assert recall.parameters["properties"]["roles"]["items"]["enum"] == list(ROLES)
    assert status.parameters["properties"]["scope"]["enum"] == [name for name in SCOPES if name != "everywhere"]
    assert read.parameters["required"] == ["sourceRef"]
    assert json.loads(json.dumps([tool._asdict() for tool in TOOLS]))


def test_an_id_is_looked_for_in_all_of_a_file(tmp_path: Path) -> None:
    """The first id that is an entry's, also across the pieces in which the file is read; text never counts."""
    path = tmp_path / "s.jsonl"
    quoted = message(1, None, 'he said "id":"0000beef" and ' + "x" * 3_000_000)
    path.write_bytes(lines(quoted, *(message(n, n - 1, "y" * 997) for n in range(2, 1200))))

    assert nearest_written(str(path), ["0000beef", "", "00000001"]) == "00000001"
    assert all(nearest_written(str(path), [f"{n:08x}"]) == f"{n:08x}" for n in range(2, 1200, 37))
    assert nearest_written(str(path), ["nope"]) is None
