"""`pi-context serve`: the server behind Pi's extension, see `docs/server.md`."""

from pi_context.call import Call
from pi_context.server.serving import Server
from pi_context.server.streams import taken


def serve(call: Call) -> int:
    """Serve one client until it is gone."""
    from pi_context.server import tool_calls  # noqa: F401 - paid before the first question, not with it

    source, sink = taken()
    Server(source, sink, call.words, call.around.variables).run()
    return 0
