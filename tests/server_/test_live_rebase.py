"""A rebase inside the running Pi, with a scripted Pi at the other end."""

import json
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from logs import lines, message
from pi_desk import TALK, Desk, Pi
from served import PATIENCE, Json, Served

Serve = Callable[..., Served]


def begin(served: Served) -> Json:
    """Type the command and agree; give the parameters with which the client carries on."""
    told = served.typed("rebase")
    assert (told["status"], told["needs"]) == ("asks", "activate"), told["text"]
    assert told["action"]["method"] == "rebase.run"
    params = told["action"]["params"]
    assert isinstance(params, dict)
    return params


def run(served: Served, params: Json) -> Json:
    """Carry it out."""
    return served.call("rebase.run", params, actor="user")


def rebased(served: Served) -> Json:
    """Type, agree, carry out."""
    return run(served, begin(served))


def operations(served: Served) -> list[Json]:
    """List the operations."""
    found = served.typed("rebase --list")["answer"]["operations"]
    assert isinstance(found, list)
    return found


def recover(served: Served, **changed: Any) -> Json:
    """Bring the only operation to its end."""
    (found,) = operations(served)
    told = served.typed(f"rebase --recover {found['operationId']}")
    return served.call("rebase.recover", told["action"]["params"], actor="user", **changed)


def targets(desk: Desk) -> list[Path]:
    """List the sessions that were made."""
    return [path for path in sorted(desk.sessions.glob("*.jsonl")) if path != desk.file]


def test_pi_goes_on_in_the_new_session(desk: Desk, serve: Serve) -> None:
    """Planned, agreed to, made, switched to, verified; the source keeps its bytes, and there is a way back."""
    served = serve()
    pi = Pi(served)
    told = rebased(served)

    assert told["answer"]["status"] == "verified"
    assert pi.file == told["target"]["file"] == str(targets(desk)[0])
    assert told["source"]["file"] == str(desk.file)
    assert "--back" in told["text"]
    assert desk.file.read_bytes() == desk.before
    assert desk.left_over() == []
    assert [ask["method"] for ask in served.asked].count("activate") == 1
    served.context |= {"sessionFile": pi.file, "leafId": pi.leaf}
    found = served.tool("recall", query="retry budget", scope="current-lineage")["hits"]
    assert found[0]["relation"] == "lineage-ancestor"
    back = served.typed("rebase --back")
    assert back["needs"] == "activate"
    assert served.call("rebase.back", None, actor="user")["source"]["file"] == str(desk.file)


def test_planning_writes_nothing(desk: Desk, serve: Serve) -> None:
    """A plan leaves no folder, no lock and no key; and it is what the shell's dry run says."""
    served = serve()
    Pi(served)
    told = served.typed("rebase --dry-run --fit")

    assert told["answer"]["status"] == "preview"
    assert "It fits" in told["text"]
    assert sorted(path.name for path in desk.sessions.iterdir()) == ["one.jsonl"]
    assert not (desk.agent_dir / "pi-context").exists()


def test_nobody_agreed(serve: Serve) -> None:
    """Without the person's word, or without anybody to give it, nothing is done."""
    served = serve()
    Pi(served)
    params = begin(served)

    assert run(served, params | {"confirmed": False})["answer"]["code"] == "confirmation-required"
    alone = served.call("rebase.run", params, actor="user", hasUI=False)
    assert alone["answer"]["code"] == "owner-act-required"
    assert served.call("command", {"line": "rebase"}, actor="user", hasUI=False)["code"] == "owner-act-required"
    assert operations(served) == []


@pytest.mark.parametrize("rest", [{"idle": False}, {"pendingMessages": True}, {"compacting": True},
                                  {"sessionFile": "/elsewhere.jsonl"}])  # fmt: skip
def test_a_pi_at_work_is_not_rebased(desk: Desk, serve: Serve, rest: Json) -> None:
    """An answer, a queued message, a compaction or another session: `session-busy`, and nothing is left."""
    served = serve()
    pi = Pi(served)
    params = begin(served)
    pi.rest = rest

    assert run(served, params)["answer"]["code"] == "session-busy"
    assert served.typed("rebase --dry-run")["code"] == "session-busy"
    assert targets(desk) == []
    assert operations(served) == []


def test_another_plan_than_the_one_agreed_to(desk: Desk, serve: Serve) -> None:
    """The session went on meanwhile: `plan-changed`."""
    served = serve()
    Pi(served)
    params = begin(served)
    with desk.file.open("ab") as file:
        file.write(lines(message(5, 4, "one thing more")))

    assert run(served, params)["answer"]["code"] == "plan-changed"
    assert operations(served) == []


def later(pi: Pi, number: int, change: Callable[[], None]) -> None:
    """Let something happen before the answer to the question of that number."""
    asked: list[int] = []

    def standing(_: Json) -> Json:
        asked.append(1)
        if len(asked) == number:
            change()
        return pi.standing()

    pi.served.on("leaf", standing)


def moved(pi: Pi) -> Callable[[], None]:
    """Let the live leaf be another."""

    def move() -> None:
        pi.leaf = "00000002"

    return move


@pytest.mark.parametrize("number", [3, 4])
def test_a_leaf_that_moves_stops_it(desk: Desk, serve: Serve, number: int) -> None:
    """Before the install it is closed and nothing is left; before the switch it can be recovered or abandoned."""
    served = serve()
    pi = Pi(served)
    params = begin(served)
    later(pi, number, moved(pi))
    told = run(served, params)["answer"]

    assert told["code"] == "source-grew"
    assert pi.switched == 0
    assert len(targets(desk)) == number - 3
    if number == 4:
        abandoned = served.call("rebase.abandon", {"operationId": told["operationId"], "confirmed": True}, actor="user")
        assert abandoned["answer"]["status"] == "abandoned"
    assert targets(desk) == []
    assert desk.left_over() == []


@pytest.mark.parametrize(
    ("answer", "code"),
    [({"ok": False, "reason": "cancelled"}, "activation-cancelled"), ({"ok": False, "reason": "failed"}, "activation-failed"),
     ({"ok": True, "sessionFile": "/elsewhere.jsonl", "sessionId": "x"}, "activation-failed"),
     ({"ok": True}, "activation-failed"), ({"strange": 1}, "client-gone")],
)  # fmt: skip
def test_a_switch_that_does_not_happen(desk: Desk, serve: Serve, answer: Json, code: str) -> None:
    """The journal can be recovered, the old session stays the newest, and a second try ends well."""
    served = serve()
    pi = Pi(served)
    pi.refusal = answer
    told = rebased(served)["answer"]
    (target,) = targets(desk)

    assert (told["status"], told["code"], told["phase"]) == ("recoverable", code, "TargetCreated")
    assert target.stat().st_mtime_ns < desk.file.stat().st_mtime_ns
    pi.refusal = {}
    typed = served.typed("rebase")
    assert (typed["status"], typed["code"]) == ("refused", "operation-unfinished")
    assert f"--recover {told['operationId']}" in typed["text"]
    assert served.typed("")["answer"]["pendingOperations"][0]["phase"] == "TargetCreated"
    assert recover(served)["answer"]["status"] == "verified"
    assert targets(desk) == [target]
    assert pi.file == str(target)


def test_it_is_recovered_from_the_target_too(desk: Desk, serve: Serve) -> None:
    """A Pi that is in the target already is not asked to switch."""
    served = serve()
    pi = Pi(served)
    pi.refusal = {"ok": False}
    rebased(served)
    (target,) = targets(desk)
    pi.file = str(target)

    assert recover(served, sessionFile=str(target))["answer"]["status"] == "verified"
    assert pi.switched == 1


def test_the_lock_is_held_while_pi_switches(desk: Desk, serve: Serve) -> None:
    """Another server answers `rebase-busy` meanwhile, and this one goes on reading."""
    served, other = serve(), serve()
    pi = Pi(served)
    Pi(other)
    params = begin(served)
    go = threading.Event()

    def slowly(asked: Json) -> Json:
        go.wait(PATIENCE)
        return pi.activate(asked)

    served.on("activate", slowly)
    call = served.begin("rebase.run", params, actor="user")
    until(lambda: any(ask["method"] == "activate" for ask in served.asked))
    busy = run(other, params)["answer"]["code"]
    assert served.tool("recall", query="retry budget")["hits"]
    go.set()

    assert busy == "rebase-busy"
    assert served.answer(call)["answer"]["status"] == "verified"
    assert len(targets(desk)) == 1


def test_a_cancelled_rebase_stops_at_its_next_safe_point(desk: Desk, serve: Serve) -> None:
    """It answers when it has stopped, and nothing is left."""
    served = serve()
    pi = Pi(served)
    params = begin(served)
    calls: list[int] = []
    later(pi, 2, lambda: served.send({"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": calls[0]}}))
    calls.append(served._calls + 1)
    told = run(served, params)["answer"]

    assert told["code"] == "cancelled"
    assert targets(desk) == []
    assert pi.switched == 0


def test_a_client_that_leaves_leaves_it_recoverable(desk: Desk, serve: Serve) -> None:
    """Standard input closes while Pi should switch: the server notes it and ends, and a new one recovers."""
    served = serve()
    Pi(served)
    go = threading.Event()
    served.on("activate", lambda _: {"ok": go.wait(PATIENCE) and False})
    served.begin("rebase.run", begin(served), actor="user")
    until(lambda: any(ask["method"] == "activate" for ask in served.asked))

    assert served.close() == 0
    go.set()
    again = serve()
    Pi(again)
    (found,) = operations(again)
    assert (found["phase"], found["lastAttempt"]["code"]) == ("TargetCreated", "client-gone")
    assert recover(again)["answer"]["status"] == "verified"
    assert len(targets(desk)) == 1


CRASHING = """
import os, signal, sys
from foundation import durable
import pi_context.surroundings as surroundings
left = [int(os.environ["CRASH_AFTER"])]
class Crashing(durable.RealFiles):
    def __getattribute__(self, name):
        found = super().__getattribute__(name)
        if name.startswith("_") or not callable(found):
            return found
        def counted(*given, **more):
            done = found(*given, **more)
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return done
        return counted
surroundings.RealFiles = Crashing
from pi_context.main import main
raise SystemExit(main())
"""


@pytest.mark.parametrize(
    ("effects", "phase"),
    [(4, ""), (20, ""), (29, "Prepared"), (34, "ArchiveVerified"), (38, "ArchiveVerified"), (42, "CheckpointReady"),
     (46, "CheckpointReady"), (48, "CheckpointReady"), (53, "TargetCreated"), (56, "TargetCreated"), (60, "Activated"),
     (65, "Verified")],
)  # fmt: skip
def test_a_killed_server_leaves_what_is_recovered(
    desk: Desk, serve: Serve, monkeypatch: pytest.MonkeyPatch, effects: int, phase: str
) -> None:
    """SIGKILL at each phase, between effect and record too: a new server recovers it, or there is nothing to."""
    monkeypatch.setenv("CRASH_AFTER", str(effects))
    served = serve(program=CRASHING)
    Pi(served)
    served.begin("rebase.run", begin(served), actor="user")
    assert served.wait() == -signal.SIGKILL

    again = serve()
    pi = Pi(again)
    assert [found["phase"] for found in operations(again)] == [phase] * bool(phase)
    if phase:
        assert recover(again)["answer"]["status"] == "verified"
        assert len(targets(desk)) == 1
    else:
        assert targets(desk) == []
    assert desk.left_over() == []
    assert desk.file.read_bytes() == desk.before
    assert pi.switched <= 1


def test_a_session_that_does_not_fit_says_how_it_would(desk: Desk, serve: Serve) -> None:
    """Over budget: the ways out, and no question."""
    desk.settings({"sessionRebase": {"checkpointTargetTokens": 512}})
    desk.file.write_bytes(desk.before + lines(message(5, 4, "many words " * 2000)))
    served = serve()
    Pi(served)
    told = served.typed("rebase")

    assert told["code"] == "checkpoint-over-budget"
    assert "way out" in told["text"]
    assert served.typed("")["answer"]["rebase"]["code"] == "checkpoint-over-budget"


def test_no_way_back_from_a_session_that_was_not_made_so(desk: Desk, serve: Serve) -> None:
    """`not-rebased`; and where the source is not what it was, `lineage-unverified`."""
    served = serve()
    pi = Pi(served)
    assert served.typed("rebase --back")["code"] == "not-rebased"
    rebased(served)
    desk.file.write_bytes(desk.before.replace(b"forty-two", b"forty-six"))
    served.context |= {"sessionFile": pi.file, "leafId": pi.leaf}

    assert served.call("rebase.back", None, actor="user")["answer"]["code"] == "lineage-unverified"


def test_rebased_already(serve: Serve) -> None:
    """An unchanged source is not rebased again unless that is asked for; where it went is told."""
    served = serve()
    pi = Pi(served)
    params = begin(served)
    target = run(served, params)["target"]
    pi.file, pi.leaf = served.context["sessionFile"], served.context["leafId"]
    typed = served.typed("rebase")
    told = run(served, params)

    assert (typed["status"], typed["answer"]["status"]) == ("ok", "already-rebased")
    assert "--again" in typed["text"]
    assert served.typed("rebase --again")["status"] == "asks"
    assert told["answer"]["status"] == "already-rebased"
    assert told["target"] == target
    assert json.dumps(TALK[0]["message"]["content"][0]["text"]) not in json.dumps(told)


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    assert holds()
