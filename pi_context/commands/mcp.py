"""`pi-context mcp`: recall for any client of MCP, see `docs/mcp.md`.

Who writes the client's configuration chooses project, session and reader; the model that asks chooses nothing of it.
"""

import os
import signal

from foundation.errors import ContextError
from pi_context.call import Call
from pi_context.server import parent
from pi_context.server.mcp_calls import History, Launch
from pi_context.server.state import State
from pi_context.server.streams import complain, taken

_NOT_HERE = {
    "audience": "--audience means nothing to mcp; name who reads the answers by --provider.",
    "leaf": "--leaf means nothing to mcp: it follows the session as it grows.",
}
_SDK = ("mcp", "mcp_types", "anyio")


def mcp(call: Call) -> int:
    """Serve one client until it closes the stream, or is gone."""
    parent.end_with()
    history = History(State(call.words, call.around.variables), _launch(call))
    if call.around.mark and history.local:
        raise ContextError(
            "owner-act-required",
            f"Only the owner may name a local reader. ({call.around.mark} says that an agent runs this.)",
        )
    typed = os.isatty(0)
    source, sink = taken()
    try:
        from pi_context.server import mcp_streams
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _SDK:
            raise
        raise ContextError("mcp-not-installed") from None
    if typed:
        complain("a client of MCP is expected here; Ctrl-D ends this", command="mcp")
    signal.signal(signal.SIGINT, signal.SIG_DFL if typed else signal.SIG_IGN)  # else Ctrl-C is for the client to answer
    mcp_streams.serve(history, source, sink)
    return 0


def _launch(call: Call) -> Launch:
    words, around = call.words, call.around
    for option, why in _NOT_HERE.items():
        if words[option] is not None:
            raise ContextError("usage", why)
    if words["reveal"]:
        raise ContextError("owner-act-required", "No client of MCP is shown secrets.")
    named = around.other_session(words["session"]).path if words["session"] else None
    return Launch(around.project, named, words["provider"] or "", around.override)
