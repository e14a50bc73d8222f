"""The two streams: nothing but the protocol on one, nothing of a text on the other, and the end with the client."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pi_desk import Desk

pytestmark = pytest.mark.slow  # a process, or a disk, for each of many cases

pytest.importorskip("mcp_types", reason="the MCP SDK is not installed: pip install 'pi-context[mcp]'")

Json = dict[str, Any]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
Process = subprocess.Popen[bytes]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds after which a test gives up; no test measures by it."""

NOISY = """
import os
from recall import answering
asked = answering.search
def search(*given, **more):
    print("noise by print")
    os.write(1, b"noise below python\\n")
    if given[1] == "fall":
        raise RuntimeError("the words of a question")
    return asked(*given, **more)
answering.search = search
from pi_context.script import script
script()
"""


@contextmanager
def started(desk: Desk, program: str = "") -> Iterator[Process]:
    """Start a server and shake hands; in the end it must be over."""
    begin = ["-c", program] if program else ["-m", "pi_context"]
    process = subprocess.Popen(
        [sys.executable, *begin, "mcp", "--agent-dir", str(desk.agent_dir)], cwd=desk.project, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        assert ask(process, "initialize", hello)["result"]["protocolVersion"] == "2025-06-18"
        send(process, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def send(process: Process, line: bytes) -> None:
    """Send a line."""
    assert process.stdin is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()


def ask(process: Process, method: str, params: Json) -> Json:
    """Ask, and give the next line of the server's: nothing else may stand there."""
    send(process, json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode())
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], PATIENCE)[0], "no answer"
    answer = json.loads(process.stdout.readline())
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
    assert isinstance(answer, dict)
    return answer


def recall(process: Process, query: str) -> Json:
    """Search; give what the model reads."""
    params = {"name": "context_history_recall", "arguments": {"query": query}}
    answer = json.loads(ask(process, "tools/call", params)["result"]["content"][0]["text"])
    assert isinstance(answer, dict)
    return answer


def test_whatever_prints_standard_output_is_the_protocol(desk: Desk) -> None:
    """Noise of Python or below goes to standard error; a defect is a code, and its words are told to nobody."""
    with started(desk, NOISY) as process:
        assert recall(process, "retry budget")["hits"]
        assert recall(process, "fall")["code"] == "internal-error"
        assert recall(process, "retry budget")["hits"]
        rest, errors = process.communicate()

    assert (process.returncode, rest) == (0, b"")
    assert errors.count(b"noise") == 6
    assert b"internal-error in a tool call" in errors
    assert b"words of a question" not in errors


def test_it_ends_with_its_standard_input(run: Run) -> None:
    """End of file is the end, also before anything was said, without a word."""
    done = run()

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_no_message_is_not_repeated(desk: Desk) -> None:
    """Garbage tells nothing on standard error, and the next call is answered."""
    with started(desk) as process:
        send(process, b"\xff not json: the words of a question")
        send(process, b'{"jsonrpc":"2.0","id":[],"method":"tools/call","params":"the words of a question"}')
        assert recall(process, "retry budget")["hits"]
        rest, errors = process.communicate()

    assert (process.returncode, rest, errors) == (0, b"", b"")


@pytest.mark.parametrize(
    "query", ["retry \ud83d budget", "retry \u2028 budget", "retry budget \N{GRINNING FACE}", "budget \0"]
)
def test_any_text_is_answered(desk: Desk, query: str) -> None:
    """Also a lone surrogate, as JavaScript may send it, and the line breaks of Unicode."""
    with started(desk) as process:
        assert recall(process, query)["hits"]


def test_an_interruption_in_the_terminal_is_not_for_it(desk: Desk) -> None:
    """Ctrl-C reaches all processes of a terminal; what it means is the client's to say."""
    with started(desk) as process:
        process.send_signal(signal.SIGINT)
        assert recall(process, "retry budget")["hits"]


def test_a_client_that_reads_no_more_is_gone(desk: Desk) -> None:
    """A closed pipe is an end without a complaint."""
    with started(desk) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        send(process, b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}')
        process.stdin.close()

        assert (process.wait(PATIENCE), process.stderr.read()) == (0, b"")


def test_it_ends_where_nobody_reads_its_answers(tmp_path: Path) -> None:
    """A client that closed only its reading end has no server left, though the other stream is open."""
    reading, writing = os.pipe()
    started = subprocess.Popen(
        [sys.executable, "-m", "pi_context", "mcp", "--agent-dir", str(tmp_path)], cwd=tmp_path, stdin=subprocess.PIPE,
        stdout=writing, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    os.close(reading)
    assert started.stdin is not None
    said = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    started.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": said}).encode() + b"\n"
    )
    started.stdin.flush()

    assert started.wait(30) == 0
    started.stdin.close()


def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    """The client is killed, and somebody else still holds the streams: no process is left."""
    reading, writing = os.pipe()
    script = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-m', 'pi_context', 'mcp', '--agent-dir', {str(tmp_path)!r}],"
        f" stdin={reading}, stdout=subprocess.DEVNULL)\n"
        "print(child.pid, flush=True)\ntime.sleep(600)\n"
    )
    client = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, pass_fds=[reading], stdout=subprocess.PIPE)
    assert client.stdout is not None
    server = int(client.stdout.readline())
    while len(list(Path(f"/proc/{server}/task").iterdir())) < 2:  # as soon as it has begun to look for its parent
        time.sleep(0.05)
    client.kill()
    client.wait()
    client.stdout.close()

    for _ in range(300):
        if not Path(f"/proc/{server}").exists():
            break
        time.sleep(0.1)
    assert not Path(f"/proc/{server}").exists()
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("how", ["a large answer that nobody reads", "many answers that nobody takes"])
def test_no_answer_keeps_it(tmp_path: Path, how: str) -> None:
    """Neither one too large for a pipe that was closed, nor many in a pipe that is full when the client is gone."""
    reading, writing = os.pipe()
    started = subprocess.Popen(
        [sys.executable, "-m", "pi_context", "mcp", "--agent-dir", str(tmp_path)], cwd=tmp_path, stdin=subprocess.PIPE,
        stdout=writing, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    assert started.stdin is not None
    large = how.startswith("a large")
    said = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": said}
    asked = [
        {"jsonrpc": "2.0", "id": "x" * 200_000 if large else f"n{n}", "method": "tools/list"}
        for n in range(1 if large else 80)
    ]
    if large:
        os.close(reading)
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    with suppress(BrokenPipeError):  # it may be gone already
        started.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in (first, done, *asked)))
        started.stdin.flush()
    if not large:
        started.stdin.close()
    assert started.wait(30) == 0
    with suppress(BrokenPipeError):
        started.stdin.close()
    if not large:
        os.close(reading)
