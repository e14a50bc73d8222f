"""Memory for a model: what it reads, and what it may ask for."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pi_desk import Desk
from served import Json, Served

Serve = Callable[..., Served]


def called(served: Served, *, confirmed: bool = False, has_ui: bool = True, **arguments: Any) -> Json:
    """Call the tool."""
    params = {"name": "context_memory", "arguments": arguments, "confirmed": confirmed}
    return served.call("tool", params, hasUI=has_ui)


def told(answer: Json) -> Json:
    """Give what the model reads."""
    content = json.loads(answer["content"])
    assert isinstance(content, dict)
    return content


def test_a_change_needs_a_revision_and_a_person(desk: Desk, serve: Serve) -> None:
    """Asked for without either it is refused; with both the entry comes, and nothing is written here."""
    served = serve()
    revision = told(called(served))["revision"]
    wish: Json = {"action": "remember", "text": "The port is 8080."}
    assert told(called(served, **wish))["code"] == "revision-stale"
    assert told(called(served, **wish, revision="1.abc"))["code"] == "revision-stale"
    assert told(called(served, **wish, revision=revision, has_ui=False))["code"] == "confirmation-required"
    asked = called(served, **wish, revision=revision)
    assert asked["needs"] == "confirm"
    assert "8080" in asked["text"]
    done = called(served, **wish, revision=revision, confirmed=True)
    assert done["append"]["customType"] == "context-memory-v1"
    assert told(done)["changed"] is True
    assert desk.file.read_bytes() == desk.before
    secret = "sk-ant-api03-" + "aB3" * 31 + "AA"
    assert told(called(served, action="pin", text=secret, revision=revision))["code"] == "claim-holds-secret"


def test_it_reads_what_its_provider_may_see(desk: Desk, serve: Serve) -> None:
    """Facts and pins by class and ledger; after a removal and a change of provider the gate takes out what may not go."""
    desk.settings({"owner": {"scripts": True}})
    served = serve()
    served.typed('memory fact add owner uses "Acme Rocket" --confirm', confirmed=True)
    answer = called(served)["content"]
    assert "Acme Rocket" in answer
    pieces = [{"id": "0", "kind": "tool-result", "text": answer}]
    assert served.call("egress", {"pieces": pieces})["pieces"][0]["action"] == "keep"
    served.typed("memory remove entity 'Acme Rocket' --apply", confirmed=True)
    gated = served.call("egress", {"pieces": pieces})["pieces"][0]
    assert gated["action"] == "replace"
    assert "Acme" not in gated["text"]
    assert told(called(served))["facts"] == []


def test_the_block_before_the_model(desk: Desk, serve: Serve) -> None:
    """Only where the owner wants it; only what is confirmed; for a request that may go elsewhere it is withheld."""
    assert serve().call("prompt")["text"] == ""
    desk.settings({"memory": {"promptBlock": True}})
    served = serve()
    assert served.call("settings")["promptBlock"] is True
    served.typed("memory fact add owner likes tea --value", confirmed=True)
    assert served.call("prompt")["text"] == ""
    served.typed("memory fact add owner drinks coffee --value --confirm", confirmed=True)
    text = served.call("prompt")["text"]
    assert text.startswith("[pi-context memory v1]")
    assert "coffee" in text
    assert "tea" not in text
    pieces = {"pieces": [{"id": "0", "kind": "prompt", "text": text}]}
    assert served.call("egress", pieces, provider="openai")["pieces"][0]["action"] == "keep"
    assert served.call("egress", pieces | {"alsoProvider": ""}, provider="openai")["pieces"][0]["action"] == "replace"


@pytest.mark.parametrize("arguments", [{"action": "explode"}, {"action": 4}, {"text": 7}, {}])
def test_odd_arguments_are_a_list(serve: Serve, arguments: Json) -> None:
    """What is no change is a list."""
    assert told(called(serve(), **arguments))["status"] == "complete"
