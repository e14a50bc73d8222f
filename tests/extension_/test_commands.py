"""`/context` inside the real Pi, in RPC and print mode."""

import json

import pytest
from live_pi import LivePi

pytestmark = pytest.mark.network


def test_what_a_person_types_is_answered(machine: LivePi) -> None:
    """Overview, search, read, status, a dry run and help, as text, without a word of it in the session or sent."""
    pi = machine.start()
    pi.say("The retry budget is kept in chat-send, forty-two at most.")
    before = pi.file.read_bytes()

    assert "user" in pi.typed("")
    found = pi.typed("history search retry budget")
    assert "forty-two" in found
    reference = next(word for word in found.split() if word.startswith("h_"))
    assert "verified sha256" in pi.typed(f"history read {reference}")
    assert "index" in pi.typed("history status").lower()
    assert "fits" in pi.typed("rebase --dry-run")
    assert "/context history search" in pi.typed("help")
    assert pi.typed("nonsense").count("Usage") == 1
    assert pi.file.read_bytes() == before
    assert len(machine.provider.requests) == 1
    assert len(pi.servers()) == 1
    assert pi.close() == 0


def test_print_mode_writes_the_text(machine: LivePi) -> None:
    """`pi -p "/context …"` writes the same text to standard output, and asks no model."""
    pi = machine.start()
    pi.say("The retry budget is kept in chat-send, forty-two at most.")
    file = pi.file
    pi.close()

    told = machine.once("-p", "--session", str(file), "/context history search retry budget")
    assert told.returncode == 0
    assert "forty-two" in told.stdout
    assert len(machine.provider.requests) == 1


def test_json_mode_stays_json(machine: LivePi) -> None:
    """In JSON mode the text goes to standard error, for standard output is a protocol."""
    told = machine.once("--mode", "json", "/context help")
    assert "/context history search" in told.stderr
    assert all(json.loads(line) for line in told.stdout.splitlines())
