"""How the server ends: with its client, whatever that one's end, and never later."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pi_desk import Desk
from served import PATIENCE, ROOT, Served

Serve = Callable[..., Served]

PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-m", "pi_context", "serve", "--agent-dir", sys.argv[1]],
                         stdin=int(sys.argv[2]), stdout=subprocess.PIPE, pass_fds=())
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_it_ends_with_its_standard_input(serve: Serve) -> None:
    """End of file is the end, and calls that were begun are answered before."""
    served = serve()
    call = served.begin("tool", {"name": "context_history_recall", "arguments": {"query": "budget"}})

    assert served.close() == 0
    assert served.answers[call]["result"]["isError"] is False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_it_ends_when_it_is_told_to(serve: Serve, number: signal.Signals) -> None:
    """A terminal that closes or a client that ends it ends it cleanly."""
    served = serve()
    served.call("hello", context=False)
    served.process.send_signal(number)

    assert served.wait() == 0


def test_an_interruption_in_the_terminal_is_not_for_it(serve: Serve) -> None:
    """Ctrl-C reaches all processes of a terminal; what it means is Pi's to say."""
    served = serve()
    served.call("hello", context=False)
    served.process.send_signal(signal.SIGINT)

    assert served.call("hello", context=False)


def test_no_server_outlives_a_killed_parent(desk: Desk) -> None:
    """A parent that is killed takes the server with it, even where somebody else holds the pipe open."""
    reading, writing = os.pipe()
    os.write(writing, b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}\n')
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(desk.agent_dir), str(reading)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}, pass_fds=(reading,),
    )  # fmt: skip
    assert parent.stdout is not None
    assert parent.stdin is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    until = time.monotonic() + PATIENCE
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.05)
    gone = not _runs(child)
    for stream in (parent.stdin, parent.stdout):
        stream.close()
    os.close(reading)
    os.close(writing)

    assert gone


def _runs(pid: int) -> bool:
    """Tell whether a process still runs; one that is dead and not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return state != "Z"
