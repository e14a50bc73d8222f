"""The one table of methods: what each takes, what does it, and whether it is an operation."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from foundation.canonical import Json
from pi_context.server import protocol
from pi_context.server.calls import Stop
from pi_context.server.state import State


class Ask(NamedTuple):
    """A call: its parameters, what the server keeps, and whether anybody still waits for it."""

    params: Any
    state: State
    stop: Stop


class Method(NamedTuple):
    """A method: the type of its parameters, `module:function` below here, whether it is an operation."""

    params: type[protocol.Params]
    does: str
    operation: bool = False

    @property
    def do(self) -> Callable[[Ask], Json]:
        """Give what does it, imported when it is first asked for."""
        module, _, function = self.does.partition(":")
        found: Callable[[Ask], Json] = getattr(import_module(f"pi_context.server.{module}"), function)
        return found


METHODS = {
    "hello": Method(protocol.Params, "standing:hello"),
    "settings": Method(protocol.InContext, "standing:settings"),
    "prompt": Method(protocol.InContext, "standing:prompt"),
    "tool": Method(protocol.ToolParams, "tool_calls:tool"),
    "command": Method(protocol.LineParams, "typed_lines:command"),
    "complete": Method(protocol.LineParams, "completing:complete"),
    "egress": Method(protocol.EgressParams, "egress:egress"),
    "rebase.run": Method(protocol.RunParams, "live_rebase:run", operation=True),
    "rebase.recover": Method(protocol.OperationParams, "live_rebase:recover", operation=True),
    "rebase.abandon": Method(protocol.OperationParams, "live_rebase:abandon", operation=True),
    "rebase.back": Method(protocol.InContext, "live_rebase:back"),
}
