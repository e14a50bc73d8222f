"""Tool calls through MCP: what Pi tells the server with each call, launch options and the project's folder tell here.

The one who asks is always a model. The current session is looked for anew with each call: the one that was named, else
the newest of the project, and never one that the owner keeps out of searches.
"""

from typing import NamedTuple

from foundation.canonical import Json
from foundation.errors import ContextError
from pi_context.boundary import as_known
from pi_context.exclusions import excluded_sessions
from pi_context.server.around import InsidePi
from pi_context.server.calls import Stop
from pi_context.server.methods import Ask
from pi_context.server.protocol import Context, MisfitError, ToolParams
from pi_context.server.state import State
from pi_context.server.streams import complain
from pi_context.server.tool_calls import failed, tool
from pi_context.tools import HISTORY, Tool
from privacy.audiences import provider_audience
from sessions.locating import newest, read_header, session_id


class Launch(NamedTuple):
    """What was chosen when the server was started.

    `project` is an absolute folder; `session` the path of a session file, or None for the newest of the project;
    `provider` the id of who reads the answers, empty for an unknown remote one; `trusted` what was said about trust.
    """

    project: str
    session: str | None
    provider: str
    trusted: bool | None


class History:
    """The history of one project for one client; its references end with it."""

    def __init__(self, state: State, launch: Launch) -> None:
        self._state, self._launch = state, launch

    @property
    def local(self) -> bool:
        """Whether what is answered would stay on this machine."""
        return provider_audience(self._launch.provider, self._around().configuration.values).local

    def tools(self) -> tuple[Tool, ...]:
        """Give the tools that there are: none where they are switched off."""
        return HISTORY if self._around().configuration.values["historyTools.enabled"] else ()

    def call(self, name: str, arguments: Json) -> Json:
        """Answer a tool call; a refusal and a failure are answers too. Raises MisfitError for a tool that is none."""
        try:
            context = self._context(self._session(self._around()))
            return tool(Ask(ToolParams(context=context, name=name, arguments=arguments), self._state, Stop()))
        except MisfitError:
            raise
        except Exception as error:  # noqa: BLE001 - the client gets a code, whatever happens
            known = as_known(error)
            if known.code == "internal-error":
                complain(f"internal-error in a tool call: {known.message}", command="mcp")
            return failed(name, known.code)

    def _session(self, around: InsidePi) -> str | None:
        kept_out = excluded_sessions(around.own_folder) | around.visibility.hidden_sessions
        path = self._launch.session
        try:
            if path is None:
                return newest(around.files, self._launch.project, without=kept_out).file.path
            return None if session_id(path, read_header(path)) in kept_out else path
        except ContextError:
            return None

    def _context(self, session: str | None) -> Context:
        project, _, provider, trusted = self._launch
        return Context(cwd=project, session_file=session, trusted=trusted, provider=provider)

    def _around(self) -> InsidePi:
        return InsidePi(self._state, self._context(None))
