"""Pins, facts and removals in the real Pi: what is typed, what the model asks for, what reaches the provider."""

import json

import pytest
from live_pi import LivePi, answers

pytestmark = pytest.mark.network


def test_a_pin_is_kept_through_a_rebase(machine: LivePi) -> None:
    """Typed, appended by Pi, listed, frozen in the checkpoint, listed in the new session, and let go there."""
    pi = machine.start()
    pi.say("Hello.")
    assert "Keep the tests green." in pi.typed("pin Keep the tests green.")
    pi.typed("memory add The port is 8080.")
    source = pi.file
    assert "context-pin-v1" in source.read_text("utf-8")
    assert "Keep the tests green." in pi.typed("pin list")
    assert "memory-conflict" in pi.typed("memory add The port is 9090.")
    pi.typed("rebase")
    assert pi.file != source
    assert "inherited" in pi.typed("pin list")
    pi.say("Go on.")  # an older Pi writes nothing of a session before its first answer
    (pin,) = json.loads(pi.typed("pin list --json"))["items"]
    pi.typed(f"unpin {pin['id']}")
    assert "Nothing is pinned" in pi.typed("pin list")
    assert "8080" in pi.typed("memory list")


def test_a_model_asks_and_a_person_decides(machine: LivePi) -> None:
    """It lists, asks with the revision that it was given, and is told what the person said."""
    pi = machine.start()
    pi.say("Hello.")
    machine.provider.call("context_memory")
    pi.say("List.")
    revision = answers(pi.file)[-1]["revision"]
    pi.confirm = lambda _: False
    machine.provider.call("context_memory", action="remember", text="The port is 8080.", revision=revision)
    pi.say("Remember.")
    assert answers(pi.file)[-1]["code"] == "declined"
    pi.confirm = lambda _: True
    machine.provider.call("context_memory", action="remember", text="The port is 8080.", revision=revision)
    pi.say("Remember.")
    assert answers(pi.file)[-1]["changed"] is True
    assert "8080" in pi.typed("memory list")
    machine.provider.call("context_memory", action="remember", text="Another.", revision=revision)
    pi.say("Remember.")
    assert answers(pi.file)[-1]["code"] == "revision-stale"


def test_a_removed_name_reaches_no_model(machine: LivePi) -> None:
    """By recall, by an earlier answer in the context, by the block: masked; restored, it is there again."""
    machine.ours({"memory": {"promptBlock": True}, "owner": {"scripts": True}})
    pi = machine.start()
    pi.say("The Quillfeather invoice is open.")
    pi.typed("memory fact add owner works-with Quillfeather --confirm")
    machine.provider.call("context_history_recall", query="invoice")
    pi.say("Look.")
    assert "works-with Quillfeather" in json.dumps(machine.provider.requests[-1])
    assert "Quillfeather" in json.dumps(answers(pi.file)[-1])
    assert "Removed" in pi.typed("memory remove entity Quillfeather")
    machine.provider.call("context_history_recall", query="invoice")
    pi.say("Again.")
    request = machine.provider.requests[-1]
    tools = [each for each in request["messages"] if each["role"] == "tool"]
    assert "[removed]" in json.dumps(tools)
    assert "Quillfeather" not in json.dumps(tools)
    assert "works-with" not in json.dumps(request)
    row = json.loads(pi.typed("memory removed --json"))["items"][0]
    pi.typed(f"memory restore {row['id']}")
    pi.say("And now.")
    assert "works-with Quillfeather" in json.dumps(machine.provider.requests[-1])
