"""A rebase in the running Pi: it goes on in the new session, and no cut leaves anything that cannot be recovered."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from fake_provider import REMOTE
from live_pi import LivePi, Running

pytestmark = pytest.mark.network


def talk(machine: LivePi) -> Running:
    """Start Pi and let a session grow."""
    pi = machine.start()
    pi.say("The retry budget is kept in chat-send, forty-two at most.")
    pi.say("The pause is seven seconds.")
    return pi


def others(machine: LivePi, file: Path) -> list[Path]:
    """List the sessions beside one."""
    return [path for path in machine.sessions() if path != file]


def test_pi_goes_on_in_the_new_session(machine: LivePi) -> None:
    """Asked with the plan's summary, done, switched, told; turns go on there, and recall reaches what came before."""
    pi = talk(machine)
    source = pi.file
    before = source.read_bytes()
    told = pi.typed("rebase")

    (target,) = others(machine, source)
    assert pi.file == target
    assert source.read_bytes() == before
    (dialog,) = pi.dialogs
    assert "tokens" in dialog["message"]
    assert "--back" in told
    pi.say("Go on.")
    request = json.dumps(machine.provider.requests[-1])
    assert "pi-context handoff v1" in request
    machine.provider.call("context_history_recall", query="retry budget", scope="current-lineage")
    pi.say("Look.")
    assert "lineage-ancestor" in json.dumps(machine.provider.requests[-1])
    assert source.read_bytes() == before
    assert len(pi.servers()) == 1
    assert "verified" in pi.typed("rebase --list").lower()
    pi.typed("rebase --back")
    assert pi.file == source


def test_nobody_agreed(machine: LivePi) -> None:
    """No is no: nothing is made. In print mode nobody can be asked, which is a no too."""
    pi = talk(machine)
    source = pi.file
    pi.confirm = lambda _: False
    assert "Nothing was done" in pi.typed("rebase")
    assert others(machine, source) == []
    pi.close()

    told = machine.once("-p", "--session", str(source), "/context rebase")
    assert "owner-act-required" in told.stderr
    assert others(machine, source) == []


def test_a_switch_that_another_extension_cancels(machine: LivePi) -> None:
    """The old session stays usable, and the operation is recovered when nobody objects any more."""
    (machine.root / "veto.ts").write_text(
        'import { existsSync } from "node:fs";\n'
        "export default (pi) => pi.on('session_before_switch', () =>"
        f" existsSync({json.dumps(str(machine.root / 'veto'))}) ? {{ cancel: true }} : undefined);\n"
    )
    (machine.root / "veto").touch()
    pi = machine.start("-e", str(machine.root / "veto.ts"))
    pi.say("The retry budget is forty-two.")
    source = pi.file
    assert "activation-cancelled" in pi.typed("rebase")
    assert pi.file == source
    pi.say("Still here?")
    (machine.root / "veto").unlink()

    operation = pending(pi)
    told = pi.typed(f"rebase --recover {operation}")
    assert pi.file in others(machine, source), told
    pi.say("And here.")


def test_a_server_that_dies_while_pi_switches(machine: LivePi) -> None:
    """Pi is in the new session then, which nobody verified: it says so there, and how to end it."""
    hold = machine.root / "hold"
    (machine.root / "slow.ts").write_text(
        'import { existsSync } from "node:fs";\n'
        "export default (pi) => pi.on('session_before_switch', async () => {"
        f" while (existsSync({json.dumps(str(hold))})) await new Promise((go) => setTimeout(go, 50)); }});\n"
    )
    pi = machine.start("-e", str(machine.root / "slow.ts"))
    pi.say("The retry budget is forty-two.")
    source = pi.file
    hold.touch()
    pi.send({"id": "cut", "type": "prompt", "message": "/context rebase"})
    records = source.parent / ".ds4-rebase" / "operations"
    for _ in range(600):
        if any('"TargetCreated"' in path.read_text() for path in records.glob("*.json")):
            break
        time.sleep(0.05)
    (server,) = pi.servers()
    os.kill(server, signal.SIGKILL)
    time.sleep(0.5)
    hold.unlink()
    seen = pi.until(lambda each: each.get("id") == "cut" and each.get("type") == "response")
    seen += pi.asked(type="get_state")

    (target,) = others(machine, source)
    assert pi.file == target
    told = json.dumps([each for each in seen if each.get("method") == "notify"])
    assert f"/context rebase --recover {pending(pi)}" in told
    assert not [each for each in seen if each.get("type") == "extension_error"]
    pi.typed(f"rebase --recover {pending(pi)}")
    assert pi.file == target
    assert '"verified"' in pi.typed("rebase --list --json").lower()


def pending(pi: Running) -> str:
    """Give the id of the operation that is not finished."""
    (found,) = json.loads(pi.typed("rebase --list --json"))["operations"]
    identity = found["operationId"]
    assert isinstance(identity, str)
    return identity


PHASES = ["Prepared", "ArchiveVerified", "CheckpointReady", "TargetCreated", "Activated"]


@pytest.mark.parametrize("victim", ["server", "pi"])
@pytest.mark.parametrize("phase", PHASES)
def test_killed_at_a_phase(machine: LivePi, phase: str, victim: str) -> None:
    """SIGKILL of the server or of Pi right after a phase is durable; `--recover` ends it.

    A Pi that lost its server says so, goes on, and finishes the operation from where it is.
    """
    pi = talk(machine)
    source = pi.file
    before = source.read_bytes()
    _stop_at(machine, phase)
    for process in pi.servers():
        os.kill(process, signal.SIGKILL)
    pi.send({"id": "cut", "type": "prompt", "message": "/context rebase"})
    server = _await_stop(machine)
    os.kill(pi.process.pid if victim == "pi" else server, signal.SIGKILL)
    if victim == "pi":
        os.kill(server, signal.SIGKILL)
        pi.kill()
    _stop_at(machine, "")
    if victim == "pi":
        pi = machine.start("--session", str(source))
    else:
        seen = pi.until(lambda each: each.get("id") == "cut" and each.get("type") == "response")
        seen += pi.asked(type="get_state")
        assert "not available" in json.dumps(seen)
    assert source.read_bytes()[: len(before)] == before

    told = pi.typed(f"rebase --recover {pending(pi)}")
    (target,) = others(machine, source)
    assert pi.file in (source, target), told
    pi.kill()
    pi = machine.start("--session", str(target))
    assert "verified" in pi.typed("rebase --list --json").lower()
    pi.say("Go on.")
    assert "pi-context handoff v1" in machine.provider.sent(REMOTE)
    assert not list(source.parent.glob("*.tmp"))


def test_compaction_waits(machine: LivePi) -> None:
    """While a rebase is under way Pi compacts nothing; afterwards the rebase is done, and compaction works again."""
    machine.settings(compaction={"enabled": True, "keepRecentTokens": 1})
    pi = talk(machine)
    pi.say("Something else. " + "more " * 80)
    source = pi.file
    before = source.read_bytes()
    _stop_at(machine, "TargetCreated")
    for process in pi.servers():
        os.kill(process, signal.SIGKILL)
    pi.send({"id": "slow", "type": "prompt", "message": "/context rebase"})
    _await_stop(machine)
    assert not pi.ask(type="compact")["success"]
    _stop_at(machine, "")
    pi.until(lambda each: each.get("id") == "slow" and each.get("type") == "response")

    assert others(machine, source) == [pi.file]
    assert source.read_bytes() == before
    pi.say("Something else. " + "more " * 80)
    pi.say("Something more. " + "more " * 80)
    assert pi.ask(type="compact")["success"]


def test_recovered_from_the_target(machine: LivePi) -> None:
    """Cut after the switch, the operation is finished from the session that Pi is in already."""
    pi = talk(machine)
    source = pi.file
    _stop_at(machine, "Activated")
    for process in pi.servers():
        os.kill(process, signal.SIGKILL)
    pi.send({"id": "cut", "type": "prompt", "message": "/context rebase"})
    os.kill(_await_stop(machine), signal.SIGKILL)
    _stop_at(machine, "")
    time.sleep(0.5)
    (target,) = others(machine, source)
    assert pi.file == target
    told = pi.typed(f"rebase --recover {pending(pi)}")

    assert pi.file == target, told
    assert '"verified"' in pi.typed("rebase --list --json").lower()


def _stop_at(machine: LivePi, phase: str) -> None:
    """Let servers that start from now on stop themselves when a phase of an operation is durable."""
    (machine.root / "stop-at").write_text(phase)
    site = machine.root / "site"
    site.mkdir(exist_ok=True)
    (site / "stopping.py").write_text(_STOPPING.replace("ROOT", repr(str(machine.root))), "utf-8")
    if "stopping" not in machine.python.read_text("utf-8"):
        text = machine.python.read_text("utf-8").replace('-P "$@"', f'-P {site / "stopping.py"} "$@"')
        machine.python.write_text(text, "utf-8")


def _await_stop(machine: LivePi) -> int:
    """Wait for the server that stopped; give its process."""
    note = machine.root / "stopped"
    for _ in range(600):
        if note.exists() and note.read_text():
            process = int(note.read_text())
            note.unlink()
            return process
        time.sleep(0.05)
    raise AssertionError("no server stopped")


_STOPPING = """
import os, runpy, signal, sys, time
from pathlib import Path
sys.path[:] = [path for path in sys.path if not path.endswith("/site")]
sys.path.insert(0, os.environ["PYTHONPATH"])
import foundation.durable as durable
at = Path(ROOT, "stop-at").read_text()
before = durable.RealFiles.fsync_folder
written = durable.write_atomically
def stopping(files, path, data):
    written(files, path, data)
    if at and b'"phase":"%s"' % at.encode() in data.replace(b" ", b"") and ".ds4-rebase" in path:
        Path(ROOT, "stopped.new").write_text(str(os.getpid()))
        os.replace(Path(ROOT, "stopped.new"), Path(ROOT, "stopped"))
        while Path(ROOT, "stop-at").read_text() == at:
            time.sleep(0.05)
durable.write_atomically = stopping
sys.argv = ["pi_context", *sys.argv[sys.argv.index("pi_context") + 1:]]
runpy.run_module("pi_context", run_name="__main__", alter_sys=False)
"""


def test_two_pi_rebase_one_session(machine: LivePi) -> None:
    """The one that is second hears that it was done already, or that the other is at it; one session is made."""
    one = talk(machine)
    source = one.file
    two = machine.start("--session", str(source))
    two.typed("history status")
    for pi, name in ((one, "a"), (two, "b")):
        pi.send({"id": name, "type": "prompt", "message": "/context rebase"})
    for pi, name in ((one, "a"), (two, "b")):
        pi.until(lambda each, name=name: each.get("id") == name and each.get("type") == "response")  # type: ignore[misc]

    (target,) = others(machine, source)
    assert target in (one.file, two.file)
    assert '"verified"' in one.typed("rebase --list --json").lower()


def test_a_context_that_does_not_fit(machine: LivePi) -> None:
    """Refused with the ways out; with `--fit` it gives way, is done, and says what is no longer in the window."""
    machine.ours({"sessionRebase": {"checkpointTargetTokens": 1000}})
    pi = machine.start()
    for number in range(6):
        machine.provider.call("bash", command=f"seq {number} 1500")
        pi.say(f"Count {number}.")
    source = pi.file
    assert "checkpoint-over-budget" in pi.typed("rebase")
    assert pi.file == source
    told = pi.typed("rebase --fit")

    assert pi.file != source, told
    assert "tokens in the window before" in told
    assert "No longer in the window" in told
    assert "results cut to head and tail" in told or "messages" in told


def test_extensions_are_loaded_again_during_a_rebase(machine: LivePi) -> None:
    """`/reload` in the middle of it: the operation comes to an end, or can be brought to one, and nothing hangs."""
    (machine.root / "again.ts").write_text(
        "export default (pi) => pi.registerCommand('again', { handler: async (_, ctx) => { await ctx.reload(); } });"
    )
    pi = machine.start("-e", str(machine.root / "again.ts"))
    pi.say("The retry budget is forty-two.")
    source = pi.file
    _stop_at(machine, "CheckpointReady")
    for process in pi.servers():
        os.kill(process, signal.SIGKILL)
    pi.send({"id": "slow", "type": "prompt", "message": "/context rebase"})
    _await_stop(machine)
    pi.send({"id": "again", "type": "prompt", "message": "/again"})
    time.sleep(1)
    _stop_at(machine, "")
    pi.until(lambda each: each.get("id") == "slow" and each.get("type") == "response")
    found = json.loads(pi.typed("rebase --list --json"))["operations"]
    if found[0]["phase"] != "Verified":
        pi.typed(f"rebase --recover {pending(pi)}")

    assert '"verified"' in pi.typed("rebase --list --json").lower()
    assert len(others(machine, source)) == 1
    pi.say("Go on.")
