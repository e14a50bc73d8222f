"""The history tools, called by a model inside the real Pi, and what of their answers reaches which provider."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from fake_provider import LOCAL, REMOTE
from live_pi import LivePi, Running, answers, results
from written_sessions import add_sensitive

pytestmark = pytest.mark.network

OMITTED = "[omitted: pi-context could not check this for the present provider]"


def use(pi: Running, provider: str) -> None:
    """Switch the model."""
    assert pi.ask(type="set_model", provider=provider, modelId=f"{provider}-1")["success"]


def test_a_model_finds_and_reads(machine: LivePi) -> None:
    """A recall gives hits with references, which a read gives back verified; Pi's log keeps no text beside it."""
    pi = machine.start()
    pi.say("The retry budget is kept in chat-send, forty-two at most.")
    machine.provider.call("context_history_recall", query="retry budget", limit="2")
    pi.say("What was it?")
    (found,) = answers(pi.file)
    assert "forty-two" in found["hits"][0]["excerpt"]
    machine.provider.call("context_history_read", sourceRef=found["hits"][0]["sourceRef"])
    machine.provider.call("context_history_status")
    pi.say("All of it.")

    _, read, status = answers(pi.file)
    assert read["verified"] is True
    assert status["enabled"] is True
    assert "forty-two" not in json.dumps([result["details"] for result in results(pi.file)])
    assert "forty-two" in json.dumps(machine.provider.requests[2]["messages"][-1])


def test_what_compaction_dropped_is_found(machine: LivePi) -> None:
    """After `/compact` the words are in no request, until the model recalls them."""
    machine.settings(compaction={"enabled": True, "keepRecentTokens": 1})
    pi = machine.start()
    pi.say("The vault code is zebra-nineteen.")
    pi.say("Something else. " + "more " * 80)
    pi.say("And another thing. " + "more " * 80)
    assert pi.ask(type="compact")["success"]
    pi.say("Go on.")
    assert "zebra-nineteen" not in json.dumps(machine.provider.requests[-1])
    machine.provider.call("context_history_recall", query="vault code")
    pi.say("What was the code?")

    assert "zebra-nineteen" in json.dumps(machine.provider.requests[-1])


def test_what_only_a_local_model_may_see_stays(machine: LivePi) -> None:
    """Recalled for a local model, then the provider changes: the next request holds an omission, the log the answer.

    Neither the quote nor the words of the search go there; the local model sees them again.
    """
    pi = machine.start("--provider", LOCAL, "--model", f"{LOCAL}-1")
    pi.say("Nothing much.")
    path = pi.file
    pi.close()
    add_sensitive(path)
    pi = machine.start("--session", str(path), "--provider", LOCAL, "--model", f"{LOCAL}-1")
    machine.provider.call("context_history_recall", query="vault door")
    pi.say("Look it up.")
    (found,) = answers(path)
    assert "opens at seven" in found["hits"][0]["excerpt"]
    before = len(machine.provider.requests)
    use(pi, REMOTE)
    pi.say("Go on.")

    tool = [each for each in machine.provider.requests[before]["messages"] if each["role"] == "tool"]
    assert "opens at seven" not in json.dumps(tool)
    assert "vault door" not in json.dumps(_calls(machine.provider.requests[before]))
    assert "withheld" in json.dumps([each for each in pi.said if each.get("method") == "notify"])
    use(pi, LOCAL)
    pi.say("And here.")
    assert "opens at seven" in json.dumps(
        [each for each in machine.provider.requests[-1]["messages"] if each["role"] == "tool"]
    )
    assert answers(path) == [found]


def test_without_the_server_every_quote_is_omitted(machine: LivePi) -> None:
    """Python is gone: one line says so, Pi goes on, and no quote leaves; then it is back."""
    pi = machine.start()
    pi.say("The retry budget is forty-two.")
    machine.provider.call("context_history_recall", query="retry budget")
    pi.say("Look.")
    away = machine.python.rename(machine.python.with_name("away"))
    for process in pi.servers():
        os.kill(process, signal.SIGKILL)
    machine.provider.call("context_history_recall", query="retry budget")
    pi.say("Again.")

    tool = [each for each in machine.provider.requests[-1]["messages"] if each["role"] == "tool"]
    assert [text(each) for each in tool] == [OMITTED, OMITTED]
    assert "retry budget" not in json.dumps(_calls(machine.provider.requests[-1]))
    assert answers(pi.file)[-1]["code"] == "server-unavailable"
    assert "not available" in pi.typed("history status")
    away.rename(machine.python)
    assert "index" in pi.typed("history status").lower()
    pi.say("And now.")
    assert "forty-two" in json.dumps(next(e for e in machine.provider.requests[-1]["messages"] if e["role"] == "tool"))


def test_a_server_that_died_is_started_again(machine: LivePi) -> None:
    """A killed server is not noticed by anybody; with Pi it is gone for good, however Pi ended."""
    pi = machine.start()
    pi.say("The retry budget is forty-two.")
    pi.typed("history status")
    (one,) = pi.servers()
    os.kill(one, signal.SIGKILL)
    machine.provider.call("context_history_recall", query="retry budget")
    pi.say("Look.")
    assert answers(pi.file)[0]["hits"]
    (other,) = pi.servers()
    pi.kill()

    for _ in range(100):
        if not Path(f"/proc/{other}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{other}").exists()


def test_a_call_that_is_aborted_ends_at_once(machine: LivePi) -> None:
    """Also where the server is stuck: Pi does not wait for it."""
    pi = machine.start()
    pi.say("The retry budget is forty-two.")
    pi.typed("history status")
    (server,) = pi.servers()
    os.kill(server, signal.SIGSTOP)
    machine.provider.call("context_history_recall", query="retry budget")
    pi.send({"type": "prompt", "message": "Look."})
    pi.until(lambda each: each.get("type") == "tool_execution_start")
    assert pi.ask(type="abort")["success"]
    os.kill(server, signal.SIGCONT)

    assert "forty-two" in pi.typed("history search retry budget")
    assert pi.servers() == [server]


def hanging(machine: LivePi) -> Path:
    """Let every server that starts from now on hang; give the file that gets a letter for each."""
    starts = machine.root / "starts"
    machine.python.write_text(f"#!/bin/sh\nprintf x >> {starts}\nexec sleep 600\n", "utf-8")
    return starts


def test_a_python_that_hangs_is_not_waited_for_twice(machine: LivePi) -> None:
    """The first call waits for some seconds and says so; those after it answer at once, until a person asks again."""
    starts = hanging(machine)
    pi = machine.start()
    for _ in range(2):
        machine.provider.call("context_history_recall", query="retry budget")
        pi.say("Look.")

    assert [answer["code"] for answer in answers(pi.file)] == ["server-unavailable"] * 2
    assert starts.read_text() == "x"
    assert "did not answer" in pi.typed("history status")
    assert starts.read_text() == "xx"
    assert pi.servers() == []


def test_an_abort_ends_the_wait_for_a_start(machine: LivePi) -> None:
    """A turn that waits for a Python that hangs is over when the person says so."""
    hanging(machine)
    pi = machine.start()
    machine.provider.call("context_history_recall", query="retry budget")
    pi.send({"type": "prompt", "message": "Look."})
    pi.until(lambda each: each.get("type") == "tool_execution_start")
    assert pi.ask(type="abort")["success"]

    assert answers(pi.file)[-1]["code"] == "cancelled"


def test_a_stopped_server_ends_with_pi(machine: LivePi) -> None:
    """Pi waits for a moment, and then ends it."""
    pi = machine.start()
    pi.say("The retry budget is forty-two.")
    pi.typed("history status")
    (server,) = pi.servers()
    os.kill(server, signal.SIGSTOP)
    pi.close()

    assert not Path(f"/proc/{server}").exists()


def test_compaction_sends_nothing_that_may_not_go(machine: LivePi) -> None:
    """What `/compact` and a branch summary send goes by none of Pi's request hooks: it is replaced before."""
    machine.settings(compaction={"enabled": True, "keepRecentTokens": 1})
    pi = machine.start("--provider", LOCAL, "--model", f"{LOCAL}-1")
    pi.say("Nothing much.")
    path = pi.file
    pi.close()
    add_sensitive(path)
    pi = machine.start("--session", str(path), "--provider", LOCAL, "--model", f"{LOCAL}-1")
    machine.provider.call("context_history_recall", query="vault door")
    pi.say("Look it up.")
    pi.say("Something else. " + "more " * 80)
    use(pi, REMOTE)
    before = len(machine.provider.requests)
    assert pi.ask(type="compact")["success"]

    sent = machine.provider.requests[before:]
    # Pi's own raw log goes as Pi sends it; the quote would be there a second time, within our answer.
    assert "context-history-result-v1" in json.dumps(sent)
    assert json.dumps(sent).count("opens at seven") == 1
    assert "vault door" not in json.dumps(sent).replace("The vault door opens at seven.", "")


def test_a_branch_summary_sends_nothing_that_may_not_go(machine: LivePi) -> None:
    """The same for the summary of a branch that is left; Pi puts calls into it, and no results."""
    (machine.root / "tree.ts").write_text(
        "export default (pi) => pi.registerCommand('up', { handler: async (_, ctx) => {"
        " const first = ctx.sessionManager.getBranch().find((each) => each.type === 'message');"
        " await ctx.navigateTree(first.id, { summarize: true }); } });"
    )
    pi = machine.start("--provider", LOCAL, "--model", f"{LOCAL}-1")
    pi.say("Nothing much.")
    path = pi.file
    pi.close()
    add_sensitive(path)
    words = ("--session", str(path), "-e", str(machine.root / "tree.ts"))
    pi = machine.start(*words, "--provider", LOCAL, "--model", f"{LOCAL}-1")
    machine.provider.call("context_history_recall", query="vault door")
    pi.say("Look it up.")
    use(pi, REMOTE)
    before = len(machine.provider.requests)
    pi.ask(type="prompt", message="/up")

    sent = json.dumps(machine.provider.requests[before:])
    assert "context_history_recall" in sent
    assert sent.count("opens at seven") == 1
    assert "vault door" not in sent.replace("The vault door opens at seven.", "")


def test_switched_off_by_the_owner(machine: LivePi) -> None:
    """`historyTools.enabled` false takes the tools away from the model; their names stay taken."""
    machine.ours({"historyTools": {"enabled": False}})
    pi = machine.start()
    pi.say("Hello.")

    tools = [each["function"]["name"] for each in machine.provider.requests[0]["tools"]]
    assert "bash" in tools
    assert not [name for name in tools if name.startswith("context_history")]


def test_a_session_without_a_file(machine: LivePi) -> None:
    """`--no-session`: recall says that there is no session, everything else goes on."""
    pi = machine.start("--no-session")
    machine.provider.call("context_history_recall", query="retry budget")
    pi.say("Look.")

    assert "no-session" in json.dumps(machine.provider.requests[-1])
    assert "no-session" in pi.typed("rebase") + pi.typed("")


def test_an_untrusted_project_searches_its_own_session(machine: LivePi) -> None:
    """Without trust the own session is found, and no rebase is made."""
    (machine.project / ".pi").mkdir()
    (machine.project / ".pi" / "settings.json").write_text("{}")
    machine.settings(defaultProjectTrust="never")
    pi = machine.start()
    pi.say("The retry budget is forty-two.")

    assert "forty-two" in pi.typed("history search retry budget")
    if machine.version.startswith("1."):
        assert "project-not-trusted" in pi.typed("rebase")


def test_two_pi_on_one_session(machine: LivePi) -> None:
    """Each has a server of its own, and finds what the other wrote."""
    one = machine.start()
    one.say("The retry budget is forty-two.")
    two = machine.start("--session", str(one.file))
    two.say("The pause is seven seconds.")

    assert "seven" in one.typed("history search pause --scope current-session")
    assert "forty-two" in two.typed("history search retry budget")
    assert one.servers() != two.servers()


def test_the_shell_of_a_model_is_no_owner(machine: LivePi) -> None:
    """A bash call that runs the command answers an unknown remote provider, and owner acts are refused."""
    pi = machine.start()
    pi.say("Nothing much.")
    path = pi.file
    pi.close()
    add_sensitive(path)
    pi = machine.start("--session", str(path))
    ours = f"{machine.python} -E -P -m pi_context"
    machine.provider.call("bash", command=f"{ours} history search vault --session {path}; true")
    machine.provider.call("bash", command=f"{ours} history search vault --session {path} --audience local; true")
    machine.provider.call("bash", command=f"{ours} rebase --yes --session {path}; true")
    pi.say("Try.")

    told = [text(result) for result in results(path)]
    assert "opens at seven" not in told[0]
    assert "Only the owner" in told[1]
    assert "Only the owner" in told[2]


def text(message: dict[str, Any]) -> str:
    """Give the text of a message, in whichever form the provider takes it."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def _calls(request: dict[str, Any]) -> list[Any]:
    return [each["tool_calls"] for each in request["messages"] if each.get("tool_calls")]


def test_garbage_from_python_is_passed_over(machine: LivePi) -> None:
    """Lines that are no JSON, answers that nobody asked for, and one of many megabytes: the call is answered."""
    site = machine.root / "site"
    site.mkdir()
    (site / "noisy.py").write_text(_NOISY, "utf-8")
    text = machine.python.read_text("utf-8").replace('-P "$@"', f'-P {site / "noisy.py"} "$@"')
    machine.python.write_text(text, "utf-8")
    pi = machine.start()
    pi.say("The retry budget is forty-two.")
    machine.provider.call("context_history_recall", query="retry budget")
    pi.say("Look.")

    assert answers(pi.file)[0]["hits"]
    assert "forty-two" in pi.typed("history search retry budget")


_NOISY = """
import os, runpy, sys
sys.path[:] = [path for path in sys.path if not path.endswith("/site")]
sys.path.insert(0, os.environ["PYTHONPATH"])
noise = b'no json\\n{"jsonrpc":"2.0","id":4711,"result":{}}\\n[]\\nnull\\n{"half\\n' + b'"' + b"x" * 9_000_000 + b'"\\n'
while noise:
    noise = noise[os.write(1, noise):]
sys.argv = ["pi_context", *sys.argv[sys.argv.index("pi_context") + 1:]]
runpy.run_module("pi_context", run_name="__main__", alter_sys=False)
"""
