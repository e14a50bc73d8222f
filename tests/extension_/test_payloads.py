"""The last gate over the genuine requests of every interface that Pi speaks, made by Pi's own library."""

import json
import os
from pathlib import Path
from typing import Any

import pi_lab
import pytest
from live_pi import EXTENSION, interpreter
from pi_lab import PRESENT

from foundation.canonical import dumps
from rebase.framing import Quoted, compose

pytestmark = pytest.mark.network

HIT = {"sourceRef": "h_1", "sessionId": "s", "entryId": "e", "kind": "message", "role": "user", "relation": "ancestor"}
ANSWER = {
    "schema": "context-history-result-v1", "quotedData": True, "status": "complete", "coverage": "complete",
    "effectiveScope": "current-branch", "warnings": [], "omitted": {"budget": 0, "duplicates": 0},
    "hits": [
        {**HIT, "classification": "normal", "excerpt": "The pause is plainly seven."},
        {**HIT, "classification": "sensitive", "excerpt": "The vault opens secretly at nine."},
    ],
}  # fmt: skip
HANDOFF = compose("Quoted.", [
    Quoted("user", "normal", "The plain beginning."),
    Quoted("user", "sensitive", "The secretly told beginning."),
])  # fmt: skip


def call(identity: str, name: str, **arguments: Any) -> dict[str, Any]:
    """Give a message of the model that calls a tool."""
    block = {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [block], "stopReason": "toolUse", "timestamp": 2}


def result(identity: str, name: str, text: str) -> dict[str, Any]:
    """Give the result of one."""
    content = [{"type": "text", "text": text}]
    return {
        "role": "toolResult",
        "toolCallId": identity,
        "toolName": name,
        "content": content,
        "isError": False,
        "timestamp": 3,
    }


CONVERSATION = [
    {"role": "user", "content": [{"type": "text", "text": HANDOFF}], "timestamp": 1},
    {"role": "user", "content": "What was it?", "timestamp": 1},
    call("one", "bash", command="echo secretly mine"),
    result("one", "bash", "secretly mine"),
    call("two", "context_history_recall", query="what opens secretly"),
    result("two", "context_history_recall", dumps(ANSWER)),
    call("three", "context_history_read", sourceRef="h_1"),
    result("three", "context_history_read", "Pi itself put this secretly here."),
    {"role": "user", "content": "Go on.", "timestamp": 4},
]


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """Give what the gate made of each request."""
    lab, root = pi_lab.lab(request.param), tmp_path_factory.mktemp("payloads")
    path = root / "conversation.json"
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    names = ("bash", "context_history_recall", "context_history_read")
    tools = [{"name": name, "description": f"Does {name}.", "parameters": schema} for name in names]
    path.write_text(json.dumps({"messages": CONVERSATION, "tools": tools, "big": "x" * 1000}), "utf-8")
    ai = next(Path(lab.sdk).parents[2].glob("pi-ai/dist"))
    module = ai / ("compat.js" if request.param == PRESENT else "index.js")
    told = lab.run(
        Path(__file__).with_name("pi_payloads.mjs"), os.fspath(module), os.fspath(EXTENSION / "context.ts"), os.fspath(path),
        HOME=str(root), PI_CODING_AGENT_DIR=str(root / "agent"), PI_CONTEXT_PYTHON=str(interpreter(root)),
    )  # fmt: skip
    return {line["api"]: line for line in map(json.loads, told.split("\n")[:-1])}


APIS = ["openai-completions", "openai-responses", "openai-codex-responses", "azure-openai-responses", "anthropic-messages",
        "google-generative-ai", "google-vertex", "mistral-conversations", "bedrock-converse-stream"]  # fmt: skip


@pytest.mark.parametrize("gated", pi_lab.VERSIONS, indirect=True, scope="module")
@pytest.mark.parametrize("api", APIS)
def test_nothing_goes_that_may_not(gated: dict[str, dict[str, Any]], api: str) -> None:
    """What is sensitive is taken out of answers, handoffs and arguments; all else goes as Pi made it, and stays so."""
    found = gated[api]
    after = found["after"]

    assert "opens secretly" in found["before"]
    assert "secretly" not in after.replace("secretly mine", "")
    assert after.count("secretly mine") == found["before"].count("secretly mine")
    assert "plainly seven" in after
    assert "plain beginning" in after
    assert "What was it?" in after
    assert found["untouched"]
    assert found["aborted"] == 0
    assert json.loads(after).keys() == json.loads(found["before"]).keys()


@pytest.mark.parametrize("gated", pi_lab.VERSIONS, indirect=True, scope="module")
def test_a_request_that_cannot_be_looked_through_is_stopped(gated: dict[str, dict[str, Any]]) -> None:
    """It is aborted, and what is left of it is nothing."""
    assert gated["none"]["aborted"] == 1
    assert gated["none"]["after"] == "{}"


@pytest.mark.parametrize("gated", pi_lab.VERSIONS, indirect=True, scope="module")
def test_a_request_may_be_nested_as_deeply_as_it_likes(gated: dict[str, dict[str, Any]]) -> None:
    """What a foreign tool is called with stops no request, and hides nothing of ours."""
    assert gated["deep"]["aborted"] == 0
    assert "omitted" in gated["deep"]["after"]
    assert "secretly" not in gated["deep"]["after"]


@pytest.mark.parametrize("gated", pi_lab.VERSIONS, indirect=True, scope="module")
def test_what_pi_says_of_wrong_arguments_goes(gated: dict[str, dict[str, Any]]) -> None:
    """A model learns what was wrong, for that is nothing of the history; the repeated arguments stay here."""
    assert "must be <= 12" in gated["complaint of context_history_recall"]["after"]
    assert "secretly" not in gated["complaint of context_history_recall"]["after"]
    assert gated["complaint of bash"]["after"] == "null"


@pytest.mark.parametrize("gated", pi_lab.VERSIONS, indirect=True, scope="module")
def test_a_turn_goes_to_the_provider_that_it_began_with(gated: dict[str, dict[str, Any]]) -> None:
    """Switched within a turn to a model of the same name: only what both providers may see goes."""
    assert "secretly" not in gated["begun with another provider"]["after"]
    assert gated["begun with this provider"]["after"] == "null"


@pytest.mark.parametrize("gated", pi_lab.VERSIONS, indirect=True, scope="module")
def test_a_request_for_another_model_than_the_live_one(gated: dict[str, dict[str, Any]]) -> None:
    """What a local provider may see goes only to the model that is live: another one is nobody's."""
    assert gated["m-1"]["after"] == "null"
    assert "omitted" in gated["m-2"]["after"]
    assert "secretly" not in gated["m-2"]["after"]
    assert "secretly" not in gated["bedrock of another model"]["after"]


@pytest.mark.parametrize("gated", pi_lab.VERSIONS, indirect=True, scope="module")
def test_what_the_provider_kept_is_not_gone_on_from(gated: dict[str, dict[str, Any]]) -> None:
    """After something was withheld no request refers to an answer that the provider holds."""
    assert "previous_response_id" not in gated["continued"]["after"]
