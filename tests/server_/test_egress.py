"""The last gate: what of our texts goes to a provider."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from pi_desk import Desk
from served import Json, Served

from foundation.canonical import dumps
from pi_context.server.egress import UNREADABLE
from privacy.audiences import OMITTED
from rebase.framing import Quoted, compose, parse

Serve = Callable[..., Served]

SECRET = "the vault door opens at seven"
HANDOFF = compose("what this is", [Quoted("user", "normal", "hello"), Quoted("result", "sensitive", SECRET)])


def gate(served: Served, *pieces: Json, provider: str = "openai") -> list[Any]:
    """Ask about pieces of which each has a number for its id; give for each None, or what stands in its place."""
    asked = [{"id": str(number)} | piece for number, piece in enumerate(pieces)]
    told = served.call("egress", {"pieces": asked}, provider=provider)
    assert [piece["id"] for piece in told["pieces"]] == [str(number) for number in range(len(pieces))]
    assert told["omitted"] == sum(piece["action"] == "replace" for piece in told["pieces"])
    return [piece.get("text") for piece in told["pieces"]]


def result(text: str, **more: Any) -> Json:
    """Give a result of a tool."""
    return {"kind": "tool-result", "text": text} | more


def real(served: Served, query: str) -> str:
    """Give what the tool really answers to a local model."""
    answered = served.call("tool", {"name": "context_history_recall", "arguments": {"query": query}})
    return str(answered["content"])


def test_a_local_provider_receives_all(serve: Serve) -> None:
    """Nothing is even looked at."""
    assert gate(serve(), result("no answer"), {"kind": "handoff", "text": "x"}, provider="ollama") == [None, None]


def test_hits_go_by_their_class(serve: Serve) -> None:
    """After a switch to a remote provider only the hits that it may see are left, and the answer says so."""
    served = serve()
    answer = real(served, "vault OR budget")
    assert "seven" in answer
    (left,) = gate(served, result(answer))

    assert "seven" not in left
    assert {hit["classification"] for hit in json.loads(left)["hits"]} == {"normal"}
    assert json.loads(left)["warnings"][-1] == "privacy-omitted"
    assert gate(served, result(real(served, "budget")), result(left)) == [None, None]


def test_a_read_goes_by_its_class(serve: Serve) -> None:
    """What was read back goes whole or not at all."""
    served = serve()
    hits = json.loads(real(served, "vault OR budget"))["hits"]
    texts = {
        hit["classification"]: served.call(
            "tool", {"name": "context_history_read", "arguments": {"sourceRef": hit["sourceRef"]}}
        )["content"]
        for hit in hits
    }

    assert gate(served, result(texts["sensitive"]), result(texts["normal"])) == [OMITTED, None]


def test_refusals_and_status_have_no_class(serve: Serve) -> None:
    """Codes and numbers may go anywhere; a field more, and nobody knows."""
    served = serve()
    refused = dumps(served.tool("read", sourceRef="h_no"))
    status = served.tool("status")

    assert gate(served, result(refused), result(dumps(status)), result(dumps(status | {"note": SECRET}))) == [
        None, None, UNREADABLE,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", SECRET, '{"schema":"context-history-result-v1"}', '{"schema":"context-history-read-v1"}',
     dumps({"schema": "context-history-result-v1", "hits": [{"excerpt": SECRET}]}),
     dumps({"schema": "context-history-result-v1", "hits": [{"excerpt": SECRET, "classification": "public"}]}),
     dumps({"schema": "context-history-result-v1", "hits": [{"excerpt": SECRET, "classification": ["normal"]}]}),
     dumps({"schema": "context-history-result-v1", "hits": [], "warnings": [], "status": "complete", "x": SECRET}),
     '{"schema":"context-history-result-v1","hits":[[' + "[" * 50_000],
)  # fmt: skip
def test_what_cannot_be_read_is_replaced(serve: Serve, text: str) -> None:
    """A result that is not as we wrote it goes nowhere, and neither does such a handoff."""
    assert gate(serve(), result(text), {"kind": "handoff", "text": text}) == [UNREADABLE, UNREADABLE]


def test_a_handoff_goes_message_by_message(serve: Serve) -> None:
    """Messages whose class may not go are replaced within a frame that still counts right."""
    (left,) = gate(serve(), {"kind": "handoff", "text": HANDOFF})

    assert [each.text for each in parse(left).messages] == ["hello", OMITTED]
    assert parse(left).preamble == "what this is"
    assert gate(serve(), {"kind": "handoff", "text": left}) != [UNREADABLE]
    assert gate(serve(), {"kind": "handoff", "text": HANDOFF + " "}) == [UNREADABLE]


def test_a_call_goes_with_its_result(serve: Serve) -> None:
    """The words of a call leave when its result lost something, and where nobody knows its result."""
    served = serve()
    call = {"kind": "tool-call", "text": dumps({"query": SECRET, "limit": 3})}
    good, bad = result(real(served, "budget"), callId="a"), result(real(served, "vault"), callId="b")
    told = gate(served, call | {"callId": "a"}, good, call | {"callId": "b"}, bad, call | {"text": "{"})

    assert told[0] is None
    assert json.loads(told[2]) == {"query": OMITTED}
    assert told[4] == "{}"


def test_a_stricter_default_counts_for_what_was_said_before(desk: Desk, serve: Serve) -> None:
    """What had no marker has the class that the settings give it now."""
    answer = real(serve(), "budget")
    desk.settings({"privacy": {"defaultClassification": "sensitive"}})
    call = {"kind": "tool-call", "text": '{"query":"x"}'}
    left, arguments = gate(serve(), result(answer), call)

    assert json.loads(left)["hits"] == []
    assert json.loads(arguments) == {"query": OMITTED}


def test_a_provider_with_a_rule_of_its_own(desk: Desk, serve: Serve) -> None:
    """What the owner allowed a named provider goes there."""
    desk.settings({"privacy": {"remoteProviders": {"trusty": ["normal", "sensitive"]}}})
    served = serve()
    handoff = {"kind": "handoff", "text": HANDOFF}

    assert gate(served, handoff, provider="trusty") == [None]
    assert gate(served, handoff, provider="openai") != [None]
