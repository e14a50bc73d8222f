"""A real `pi-context mcp` over pipes, with the client of the SDK at the other end."""

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

Json = dict[str, Any]
_Result = TypeVar("_Result")

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds after which a test gives up; no test measures by it."""


class Spoken:
    """The client, while it is connected."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, **arguments: Any) -> tuple[Json, bool]:
        """Call a tool; give what the model reads, and whether it is marked as an error."""
        result = await self.client.call_tool(f"context_history_{name}", arguments)
        (content,) = result.content
        assert content.type == "text"
        assert result.structured_content is None
        answer = json.loads(content.text)
        assert isinstance(answer, dict)
        return answer, result.is_error

    async def tool(self, name: str, **arguments: Any) -> Json:
        """Call a tool; give what the model reads."""
        return (await self.call(name, **arguments))[0]

    async def found(self, query: str, **arguments: Any) -> str:
        """Search; give all excerpts."""
        return "\n".join(hit["excerpt"] for hit in (await self.tool("recall", query=query, **arguments))["hits"])


def speak(
    agent_dir: Path, cwd: Path, do: Callable[[Spoken], Awaitable[_Result]], *options: str, **variables: str
) -> _Result:
    """Start the server, connect, do this, and end it by closing its standard input."""
    env = {"PYTHONPATH": str(ROOT), "HOME": os.environ["HOME"], **variables}
    words = ["-m", "pi_context", "mcp", "--agent-dir", str(agent_dir), *options]
    started = StdioServerParameters(command=sys.executable, args=words, env=env, cwd=cwd)

    async def run() -> _Result:
        with anyio.fail_after(PATIENCE):
            async with Client(stdio_client(started, errlog=sys.__stderr__ or sys.stderr), mode="legacy") as client:
                return await do(Spoken(client))

    return anyio.run(run)
