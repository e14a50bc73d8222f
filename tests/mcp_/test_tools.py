"""The tools through MCP: a real process over pipes, with the client of the SDK."""

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from logs import message
from pi_desk import TALK, Desk

from foundation.durable import RealFiles
from pi_context import exclusions
from pi_context.tools import HISTORY
from pi_context.version import VERSION

pytest.importorskip("mcp_types", reason="the MCP SDK is not installed: pip install 'pi-context[mcp]'")

from mcp import MCPError
from mcp_spoken import Spoken, speak

Json = dict[str, Any]
_Result = TypeVar("_Result")

SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"


def asked(
    desk: Desk, do: Callable[[Spoken], Awaitable[_Result]], *options: str, cwd: Path | None = None, **more: str
) -> _Result:
    """Do this with a server in the project's folder."""
    return speak(desk.agent_dir, cwd or desk.project, do, *options, **more)


def newer(desk: Desk, name: str, *entries: Any, by: int = 10) -> Path:
    """Write a session of the project that is newer than the first by so many seconds."""
    path = desk.session(name, *entries)
    moment = desk.file.stat().st_mtime + by
    os.utime(path, (moment, moment))
    return path


def exclude(desk: Desk, identity: str) -> None:
    """Keep a session out, as the owner does."""
    exclusions.change(str(desk.agent_dir / "pi-context"), RealFiles(), add=identity)


def test_the_tools_are_those_of_the_one_table(desk: Desk) -> None:
    """Names, descriptions and schemas word for word; the server says who it is."""

    async def do(spoken: Spoken) -> Any:
        info = spoken.client.server_info
        assert info is not None
        return (await spoken.client.list_tools()).tools, info.name, info.version

    listed, name, version = asked(desk, do)
    assert [(each.name, each.title, each.description, each.input_schema) for each in listed] == [
        tuple(t) for t in HISTORY
    ]
    assert all(each.annotations is not None and each.annotations.read_only_hint for each in listed)
    assert (name, version) == ("pi-context", VERSION)


def test_a_hit_is_read_back_and_status_tells_how_it_stands(desk: Desk) -> None:
    """A reference lives in the process, and in no other; the log keeps every byte."""

    async def do(spoken: Spoken) -> tuple[Json, Json, Json]:
        found = await spoken.tool("recall", query="retry budget", limit=1, maxOutputTokens=400)
        return found, await spoken.tool("read", sourceRef=found["hits"][0]["sourceRef"]), await spoken.tool("status")

    found, read, status = asked(desk, do)
    assert (found["schema"], len(found["hits"])) == ("context-history-result-v1", 1)
    assert (read["verified"], "retry budget" in read["text"]) == (True, True)
    assert (status["enabled"], status["effectiveScope"], "index" in status) == (True, "current-branch", False)
    reference = found["hits"][0]["sourceRef"]
    again = asked(desk, lambda spoken: spoken.call("read", sourceRef=reference))
    assert (again[0]["code"], again[1]) == ("reference-unavailable", True)
    assert desk.file.read_bytes() == desk.before


@pytest.mark.parametrize(
    ("options", "sees"),
    [
        ((), ""),
        (("--provider", "openai"), ""),
        (("--provider", "local"), ""),
        (("--provider", "ollama"), "sensitive local"),
        (("--provider", "trusted-remote"), "sensitive"),
    ],
)
def test_who_reads_decides_what_is_told(desk: Desk, options: tuple[str, ...], sees: str) -> None:
    """Remote is the default; local is what the settings call so; a secret leaves for nobody."""
    desk.settings({"privacy": {"remoteProviders": {"trusted-remote": ["normal", "internal", "sensitive"]}}})
    desk.session(
        "one",
        *TALK,
        message(5, 4, f"[context:local-only]The cellar key hangs left.[/context:local-only] token {SECRET}"),
        message(6, 5, f"export GITHUB_TOKEN={SECRET} # for the deploy"),
    )

    async def do(spoken: Spoken) -> str:
        answers = [await spoken.tool("recall", query=each) for each in ("vault door", "cellar key", SECRET, "deploy")]
        read = [await spoken.tool("read", sourceRef=hit["sourceRef"]) for each in answers for hit in each["hits"]]
        return json.dumps([answers, read])

    told = asked(desk, do, *options)
    assert ("opens at seven" in told) is ("sensitive" in sees)
    assert ("hangs left" in told) is ("local" in sees)
    assert "for the deploy" in told
    assert SECRET not in told


def test_a_model_can_name_nothing(desk: Desk) -> None:
    """Neither a path, nor a session, nor an audience, nor a scope of the owner's; a path is no reference."""
    outside = desk.root / "outside.jsonl"
    outside.write_bytes(desk.before.replace(b"forty-two", b"walrus"))
    other = desk.session("other", message(1, None, "a word of another session: zebra"))
    os.utime(other, (1, 1))
    sly: Json = {
        "session": "other", "sessionFile": str(outside), "project": "/", "cwd": "/", "audience": "local",
        "provider": "ollama", "reveal": True, "owner": True, "agentDir": "/", "leaf": "00000001", "actor": "user",
    }  # fmt: skip

    async def do(spoken: Spoken) -> None:
        assert await spoken.found("zebra", **sly) == ""
        assert await spoken.found("walrus", **sly) == ""
        assert "seven" not in await spoken.found("vault door", **sly)
        assert (await spoken.call("recall", query="zebra", scope="everywhere"))[0]["code"] == "owner-act-required"
        assert (await spoken.tool("recall", query="zebra", scope="project"))["code"] == "project-scope-disabled"
        for path in (str(outside), "../../outside.jsonl", "../" * 8 + "etc/passwd", "one:00000001", "\0", ""):
            assert (await spoken.call("read", sourceRef=path))[0]["code"] == "reference-unavailable"
            assert (await spoken.call("recall", query="zebra", scope=path))[0]["code"] == "invalid-scope"

    asked(desk, do)


def test_wrong_arguments_are_answers_with_a_code(desk: Desk) -> None:
    """What does not fit is an answer marked as an error; only a tool that is none is an error of the protocol."""

    async def do(spoken: Spoken) -> None:
        assert (await spoken.call("recall", query="x", limit=99))[0]["code"] == "invalid-limit"
        assert (await spoken.call("recall"))[0]["code"] == "invalid-query"
        assert (await spoken.call("recall", query="x" * 2001))[0]["code"] == "invalid-query"
        assert (await spoken.call("read", sourceRef=7)) == (await spoken.call("read"))
        assert (await spoken.call("status", scope=[1]))[1] is True
        with pytest.raises(MCPError, match="no such tool"):
            await spoken.call("forget")
        assert await spoken.found("retry budget")

    asked(desk, do)


def test_the_newest_session_is_the_current_one(desk: Desk) -> None:
    """With each call anew; a reference of the one before stands for nothing then."""

    async def do(spoken: Spoken) -> None:
        hit = (await spoken.tool("recall", query="retry budget"))["hits"][0]
        newer(desk, "two", message(1, None, "the walrus swims"))
        assert "walrus" in await spoken.found("walrus")
        assert await spoken.found("retry budget") == ""
        assert (await spoken.tool("read", sourceRef=hit["sourceRef"]))["code"] == "reference-unavailable"

    asked(desk, do)


@pytest.mark.parametrize("named", ["one", "one.jsonl"])
def test_a_named_session_stays_the_current_one(desk: Desk, named: str) -> None:
    """By its id or its file, and its project comes with it; where it is gone there is none."""
    newer(desk, "two", message(1, None, "the walrus swims"))
    wanted = str(desk.file) if named.endswith(".jsonl") else named

    async def do(spoken: Spoken) -> None:
        assert "chat-send" in await spoken.found("retry budget")
        assert await spoken.found("walrus") == ""
        desk.file.unlink()
        assert (await spoken.tool("recall", query="walrus"))["code"] == "no-session"

    asked(desk, do, "--session", wanted, cwd=desk.root)


def test_the_project_is_chosen_at_launch(desk: Desk) -> None:
    """By `--project`, else the working folder; another project's sessions are not reached."""
    desk.settings({"historyTools": {"allowProjectScope": True}})

    async def here(spoken: Spoken) -> str:
        return await spoken.found("retry budget", scope="project")

    async def elsewhere(spoken: Spoken) -> Json:
        return await spoken.tool("recall", query="retry budget")

    assert "chat-send" in asked(desk, here, "--project", str(desk.project), cwd=desk.root)
    assert asked(desk, elsewhere, cwd=desk.root)["code"] == "no-session"
    assert asked(desk, elsewhere, cwd=desk.root, PI_SESSION_FILE="")["code"] == "no-session"


@pytest.mark.parametrize(("options", "code"), [((), None), (("--no-approve",), "project-not-trusted")])
def test_trust_is_pis_unless_the_launch_takes_it_away(desk: Desk, options: tuple[str, ...], code: str | None) -> None:
    """A project without anything that needs a decision is trusted; `--no-approve` says otherwise."""
    desk.settings({"historyTools": {"allowProjectScope": True}})

    async def do(spoken: Spoken) -> Json:
        return await spoken.tool("recall", query="budget", scope="project")

    assert asked(desk, do, *options).get("code") == code


def test_excluded_sessions_are_hidden(desk: Desk) -> None:
    """Neither the newest nor one that was named, neither in the project nor by a reference from before."""
    desk.settings({"historyTools": {"allowProjectScope": True}})
    newer(desk, "two", message(1, None, "the walrus swims"))

    async def do(spoken: Spoken) -> None:
        assert "walrus" in await spoken.found("walrus", scope="project")
        hit = (await spoken.tool("recall", query="walrus"))["hits"][0]
        exclude(desk, "two")
        assert (await spoken.tool("read", sourceRef=hit["sourceRef"]))["code"] == "reference-unavailable"
        assert await spoken.found("walrus") == await spoken.found("walrus", scope="project") == ""
        assert "chat-send" in await spoken.found("retry budget")

    asked(desk, do)
    named = asked(desk, lambda spoken: spoken.tool("recall", query="walrus"), "--session", "two")
    assert (named["code"], named["hits"]) == ("no-session", [])


def test_a_damaged_list_of_exclusions_hides_everything(desk: Desk) -> None:
    """A decision of the owner's is not lost silently: the answer is a code, and the server goes on."""
    (desk.agent_dir / "pi-context").mkdir()
    (desk.agent_dir / "pi-context/exclusions.json").write_text("[]", "utf-8")

    async def do(spoken: Spoken) -> list[tuple[Json, bool]]:
        return [await spoken.call("recall", query="budget"), await spoken.call("status")]

    recall, status = asked(desk, do)
    assert (recall[0]["code"], recall[0]["hits"], recall[1]) == ("settings-damaged", [], True)
    assert (status[0]["schema"], status[0]["code"]) == ("context-history-status-v1", "settings-damaged")


def test_switched_off(desk: Desk) -> None:
    """No tool is listed, and one that is called all the same answers that it is off."""
    desk.settings({"historyTools": {"enabled": False}})

    async def do(spoken: Spoken) -> Any:
        return (await spoken.client.list_tools()).tools, (await spoken.tool("recall", query="x"))["code"]

    assert asked(desk, do) == ([], "history-disabled")


def test_an_agent_may_search_its_own_project(desk: Desk) -> None:
    """A mark of an agent takes nothing from the default: remote, this project."""

    async def do(spoken: Spoken) -> str:
        return await spoken.found("retry budget") + await spoken.found("vault door")

    told = asked(desk, do, "--provider", "openai", CLAUDECODE="1")
    assert "chat-send" in told
    assert "seven" not in told
