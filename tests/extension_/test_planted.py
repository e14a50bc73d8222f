"""What was planted in a session reaches no provider that may not have it, by any of the ways that are ours."""

import pytest
from fake_provider import LOCAL, REMOTE
from live_pi import LivePi
from written_sessions import SENSITIVE, add_aside, add_sensitive

pytestmark = pytest.mark.network

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PLANTED = (
    f"The deploy token of the vault is {SECRET} and nobody may see it.",
    "[context:sensitive]The vault key lies under the third stone.[/context:sensitive]",
    "[context:local-only]The vault guard sleeps at noon.[/context:local-only]",
)


def test_beside_the_live_branch(machine: LivePi) -> None:
    """Recalled for a local model, then for a remote one, from its shell, and compacted: no secret goes anywhere.

    What is sensitive or local-only goes to the local provider alone.
    """
    machine.settings(compaction={"enabled": True, "keepRecentTokens": 1})
    pi = machine.start()
    pi.say("Nothing much.")
    path = pi.file
    pi.close()
    add_aside(path, *PLANTED)
    pi = machine.start("--session", str(path), "--provider", LOCAL, "--model", f"{LOCAL}-1")
    machine.provider.call("context_history_recall", query="vault", scope="current-session")
    pi.say("Look.")
    assert "third stone" in machine.provider.sent(LOCAL)
    assert "sleeps at noon" in machine.provider.sent(LOCAL)

    assert pi.ask(type="set_model", provider=REMOTE, modelId=f"{REMOTE}-1")["success"]
    machine.provider.call("context_history_recall", query="vault", scope="current-session")
    shell = f"{machine.python} -E -P -m pi_context history search vault --scope current-session --session {path}; true"
    machine.provider.call("bash", command=shell)
    machine.provider.call("bash", command=shell.replace("; true", " --reveal; true"))
    pi.say("And now.")
    pi.say("Something else. " + "more " * 80)
    assert pi.ask(type="compact")["success"]
    pi.say("Go on.")

    sent = machine.provider.sent(REMOTE)
    assert "deploy token of the vault" in sent
    assert "third stone" not in sent
    assert "sleeps at noon" not in sent
    assert SECRET not in machine.provider.sent()


def test_in_a_handoff(machine: LivePi) -> None:
    """A rebase quotes what is sensitive for a local model; a remote one reads an omission, also in a summary."""
    machine.settings(compaction={"enabled": True, "keepRecentTokens": 1})
    pi = machine.start("--provider", LOCAL, "--model", f"{LOCAL}-1")
    pi.say("The retry budget is forty-two.")
    path = pi.file
    pi.close()
    add_sensitive(path)
    pi = machine.start("--session", str(path), "--provider", LOCAL, "--model", f"{LOCAL}-1")
    pi.say("Go on.")
    pi.typed("rebase")
    assert pi.file != path
    before = len(machine.provider.requests)
    pi.say("Go on here.")
    assert SENSITIVE in str(machine.provider.requests[before:])

    assert pi.ask(type="set_model", provider=REMOTE, modelId=f"{REMOTE}-1")["success"]
    pi.say("And now. " + "more " * 80)
    pi.say("Something else. " + "more " * 80)
    assert pi.ask(type="compact")["success"]
    sent = machine.provider.sent(REMOTE)
    assert "forty-two" in sent
    assert SENSITIVE not in sent
