"""Who the server is, and what the extension has to know when a session starts."""

from foundation.canonical import Json
from pi_context.server.around import InsidePi
from pi_context.server.methods import Ask
from pi_context.server.protocol import PROTOCOL
from pi_context.tools import TOOLS
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
        "tools": [{"name": tool.name, "active": active} for tool in TOOLS],
        "historyEnabled": active,
        "rebaseEnabled": bool(values["sessionRebase.enabled"]),
        "defaultScope": values["historyTools.defaultScope"],
        "localProvider": around.audience.local,
        "messages": len(around.configuration.messages),
    }
