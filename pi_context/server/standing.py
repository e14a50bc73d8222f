"""Who the server is, and what the extension has to know when a session starts."""

from foundation.canonical import Json
from pi_context.server.around import InsidePi
from pi_context.server.methods import Ask
from pi_context.server.protocol import PROTOCOL
from pi_context.tools import MEMORY, TOOLS
from pi_context.version import VERSION


def hello(ask: Ask) -> Json:
    """Say who is there."""
    return {"name": "pi-context", "version": VERSION, "protocol": PROTOCOL, "pid": ask.state.pid}


def settings(ask: Ask) -> Json:
    """Tell which tools are active at the start of a session, and what else the extension goes by."""
    around = InsidePi(ask.state, ask.params.context)
    values = around.configuration.values
    active = bool(values["historyTools.enabled"])
    return {
        "tools": [
            {"name": tool.name, "active": bool(values["memory.enabled"]) if tool.name == MEMORY else active}
            for tool in TOOLS
        ],
        "promptBlock": bool(values["memory.enabled"] and values["memory.promptBlock"]),
        "historyEnabled": active,
        "rebaseEnabled": bool(values["sessionRebase.enabled"]),
        "defaultScope": values["historyTools.defaultScope"],
        "localProvider": around.audience.local,
        "messages": len(around.configuration.messages),
    }


def prompt(ask: Ask) -> Json:
    """Give what is put before the live model; empty where there is nothing, or where it may not see it."""
    from pi_context.memory_view import block

    return {"text": block(InsidePi(ask.state, ask.params.context))}
