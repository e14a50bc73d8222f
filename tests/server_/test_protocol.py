"""The lines of the protocol, with a real process at the other end of two pipes."""

import json
import time
from collections.abc import Callable

import pytest
from served import ROOT, Refused, Served

from pi_context.server.methods import METHODS

Serve = Callable[..., Served]


def test_hello_says_who_is_there(serve: Serve) -> None:
    """The first answer names version, protocol and process."""
    served = serve()

    assert served.call("hello", context=False)["pid"] == served.process.pid


def test_nothing_but_protocol_is_on_standard_output(serve: Serve) -> None:
    """Every line of output is one JSON-RPC message, and a clean end says nothing on standard error."""
    served = serve()
    served.tool("recall", query="retry budget")
    served.typed("config show")

    assert served.close() == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in served.raw)
    assert served.errors == []


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b"{", -32700), (b"\xff", -32700), (b'{"jsonrpc":"2.0","id":99,"method":"hello","params":NaN}', -32700),
        (b"[" * 100_000, -32700), (b"[]", -32600), (b"3", -32600), (b'{"id":99,"method":"hello"}', -32600),
        (b'{"jsonrpc":"2.0","id":99}', -32600), (b'{"jsonrpc":"2.0","id":1.5,"method":"hello"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"hello"}', -32600), (b'{"jsonrpc":"2.0","id":99,"method":"no"}', -32601),
        (b'{"jsonrpc":"2.0","id":99,"method":"tool","params":{"name":"x"}}', -32602),
        (b'{"jsonrpc":"2.0","id":99,"method":"tool","params":[]}', -32602),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_answered_and_the_server_goes_on(serve: Serve, line: bytes, number: int) -> None:
    """Bad JSON, no request, no such method, wrong parameters: each its code, and the next call works."""
    served = serve()
    served.send_line(b"")
    served.send_line(line)
    served.call("hello", context=False)

    assert json.loads(served.raw[0])["error"]["code"] == number


@pytest.mark.parametrize(
    "changed",
    [{"cwd": "work"}, {"cwd": "/a\0b"}, {"trusted": "yes"}, {"mode": "x"}, {"leafPath": "a"}, {"sessionFile": 3},
     {"actor": "owner"}, {"hasUI": 1}],
)  # fmt: skip
def test_a_context_is_read_strictly(serve: Serve, changed: dict[str, object]) -> None:
    """Nothing is converted and no path is relative; the message says where, and holds nothing of what was sent."""
    with pytest.raises(Refused) as refused:
        serve().call("settings", None, **changed)

    assert refused.value.code == "invalid-params"


def test_unknown_fields_are_ignored_and_null_is_not_given(serve: Serve) -> None:
    """A newer client may send more, and leaves out by null."""
    assert serve().call("settings", {"new": 1, "deadlineMs": None}, trusted=None, another=[1])["historyEnabled"]


def test_lines_are_of_any_size_and_split_at_lf_alone(serve: Serve) -> None:
    """Twenty megabytes in one line, with U+2028 and a lone surrogate in it, and as much back."""
    served = serve()
    served.context["provider"] = "remote"
    text = "\u2028\x85 line " * 2_000_000

    told = served.call("egress", {"pieces": [{"id": text + "\ud83d", "kind": "handoff", "text": text}]})

    assert told["pieces"][0]["id"] == text + "\ud83d"
    assert told["pieces"][0]["action"] == "replace"


def test_calls_are_answered_out_of_order_and_two_at_once(serve: Serve) -> None:
    """A call that waits for the client's own answer holds nobody up."""
    served = serve()
    held: list[bool] = []

    def slowly(_: dict[str, object]) -> dict[str, object]:
        while not held:
            time.sleep(0.01)
        calm = {"idle": True, "pendingMessages": False, "compacting": False}
        return calm | {name: served.context[name] for name in ("sessionFile", "leafId")}

    served.on("leaf", slowly)
    first = served.begin("command", {"line": "rebase --dry-run"}, actor="user")
    second = served.call("hello", context=False)
    held.append(True)

    assert second["protocol"] == 1
    assert served.answer(first)["answer"]["schema"] == "context-rebase-result-v1"


SLOW = """
import time
from pi_context.server import standing
def settings(ask):
    time.sleep(600)
standing.settings = settings
from pi_context.main import main
raise SystemExit(main())
"""


def test_a_cancelled_call_answers_at_once(serve: Serve) -> None:
    """`$/cancel` answers the call though its work cannot be stopped, and five such calls do not stop the server."""
    served = serve(program=SLOW)
    calls = [served.begin("settings") for _ in range(3)]
    for call in (*calls, 77):
        served.send({"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": call}})

    for call in calls:
        with pytest.raises(Refused) as refused:
            served.answer(call)
        assert refused.value.code == "cancelled"
    assert served.call("hello", context=False)


def test_a_late_call_answers_its_deadline(serve: Serve) -> None:
    """A call that takes longer than `deadlineMs` says so."""
    with pytest.raises(Refused) as refused:
        serve(program=SLOW).call("settings", {"deadlineMs": 50})

    assert refused.value.code == "deadline"


def test_an_id_in_use_is_refused(serve: Serve) -> None:
    """Two calls with one id would be told apart by nobody."""
    served = serve(program=SLOW)
    for _ in range(2):
        served.send({"jsonrpc": "2.0", "id": "same", "method": "settings", "params": {"context": served.context}})
    with pytest.raises(Refused) as refused:
        served.answer(None)

    assert refused.value.number == -32600


BROKEN = """
from pi_context.server import standing
def settings(ask):
    print("a stray print")
    raise KeyError(ask.params.context.session_file)
standing.settings = settings
from pi_context.main import main
raise SystemExit(main())
"""


def test_a_defect_is_an_answer_and_the_server_goes_on(serve: Serve) -> None:
    """What nobody foresaw answers `internal-error`; neither answer nor diagnostics hold what was asked about."""
    served = serve(program=BROKEN)
    with pytest.raises(Refused) as refused:
        served.call("settings")
    assert refused.value.code == "internal-error"
    assert served.call("hello", context=False)
    served.close()

    errors = b"".join(served.errors)
    assert b"internal-error in settings" in errors
    assert b"a stray print" in errors
    assert served.context["sessionFile"].encode() not in errors + b"".join(served.raw)


def test_the_page_lists_the_methods() -> None:
    """`docs/server.md` tells of every method, and of no other."""
    page = (ROOT / "docs" / "server.md").read_text("utf-8")
    table = page.partition("## Methods\n")[2].partition("\n### ")[0]
    named = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]

    assert named == list(METHODS)
