"""The Python API: the same questions as in the shell, the same answers as `--json`.

from pi_context import api
history = api.open(session="2026-11-20T08-00-00-000Z_….jsonl", audience="local")
for hit in history.search("retry budget")["hits"]:
    print(hit["excerpt"], history.read(hit["sourceRef"])["sha256"])
"""

import os
from collections.abc import Sequence
from typing import Any

from foundation.canonical import Json
from foundation.errors import ContextError
from pi_context import environment
from pi_context.surroundings import Surroundings
from pi_context.verbs import GLOBAL_OPTIONS
from recall import answering, reading, status
from recall.here import Here
from recall.references import MemoryReferences


class History:
    """The history as one caller sees it; references live as long as this object, ten minutes at most."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self._references = MemoryReferences(environment.clock, environment.token)

    def search(
        self,
        query: str,
        *,
        scope: str | None = None,
        limit: int | None = None,
        max_output_tokens: int | None = None,
        roles: Sequence[str] = (),
        tools: Sequence[str] = (),
        before: str | None = None,
        after: str | None = None,
        include_summaries: bool | None = None,
        skip: int = 0,
    ) -> Json:
        """Search; gives `context-history-result-v1`. Dates without a zone are UTC. Never raises for a refusal."""
        return answering.search(
            self._here(), query, scope=scope, limit=limit, max_output_tokens=max_output_tokens, roles=roles,
            tools=tools, before=before, after=after, include_summaries=include_summaries, skip=skip,
        )  # fmt: skip

    def read(
        self,
        source_ref: str,
        start_line: int = 1,
        max_lines: int = 120,
        *,
        start_column: int = 1,
        max_output_tokens: int | None = None,
    ) -> Json:
        """Read a hit back; gives `context-history-read-v1`. Never raises for a refusal."""
        return reading.read(
            self._here(), source_ref, start_line=start_line, max_lines=max_lines, start_column=start_column,
            max_output_tokens=max_output_tokens,
        )  # fmt: skip

    def status(self, *, scope: str | None = None) -> Json:
        """Tell how recall stands; gives `context-history-status-v1`."""
        return status.status(self._here(), scope)

    def _here(self) -> Here:
        """Look at the world anew: sessions grow, and settings may have changed."""
        here = Surroundings(self._given, os.environ, terminal=True).here(self._references)
        return here._replace(owner=here.owner and here.audience.local)


def open(  # noqa: A001 - the name of the door, always used as api.open
    *,
    agent_dir: str | os.PathLike[str] | None = None,
    session_dir: str | os.PathLike[str] | None = None,
    project: str | os.PathLike[str] | None = None,
    session: str | os.PathLike[str] | None = None,
    leaf: str | None = None,
    audience: str | None = None,
) -> History:
    """Open the history; what is not given is found as in the shell.

    `audience` is `local` for the owner's own program, or the id of the provider that will see the answers; not given
    it is an unknown remote provider. Raises ContextError where the session is not found, or a local audience is asked
    for by a process that an agent started.
    """
    given: dict[str, Any] = {option.name: None for option in GLOBAL_OPTIONS}
    paths = {"agent_dir": agent_dir, "session_dir": session_dir, "project": project, "session": session}
    given |= {name: os.fspath(path) if path is not None else None for name, path in paths.items()}
    given |= {"leaf": leaf, "audience": audience or ""}
    history = History(given)
    history._here()  # noqa: SLF001 - a session that is not there is said at once
    return history


__all__ = ["ContextError", "History", "open"]
