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
from pi_context.verbs import GLOBAL_OPTIONS, VERBS, nothing_given
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

    @property
    def memory(self) -> "Memory":
        """What is remembered of the project, and what was taken away from it; for the owner's own program."""
        return Memory(self._given)

    def _here(self) -> Here:
        """Look at the world anew: sessions grow, and settings may have changed."""
        here = Surroundings(self._given, os.environ, terminal=True).here(self._references)
        return here._replace(owner=here.owner and here.audience.local)


class Memory:
    """The commands of `pi-context memory` as calls: each gives what the command answers with `--json`.

    Raises ContextError where the command refuses; removals are owner acts, so `audience` must be `local`.
    """

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given

    def preview(self, kind: str, target: str, *, in_parts: bool = False) -> Json:
        """Tell what a removal would do; nothing is changed."""
        return self._do("remove", kind=kind, target=target, in_parts=in_parts)

    def remove(self, kind: str, target: str, *, in_parts: bool = False, plan_id: str | None = None) -> Json:
        """Remove an entity, a name, a session or a fact; with `plan_id` only what was previewed."""
        return self._do("remove", kind=kind, target=target, in_parts=in_parts, confirm_plan=plan_id, apply=True)

    def removed(self) -> Json:
        """List what is removed, the newest first."""
        return self._do("removed")

    def restore(self, removal_id: str) -> Json:
        """Bring back what was removed."""
        return self._do("restore", id=removal_id)

    def delete(self, removal_ids: Sequence[str], *, confirm: str) -> Json:
        """Delete removed things for good; `confirm` is the word `delete`."""
        return self._do("delete", ids=list(removal_ids), confirm=confirm)

    def map(self, *, as_of: str | None = None) -> Json:
        """Draw the map."""
        return self._do("map", as_of=as_of)

    def facts(self, *, every: bool = False, as_of: str | None = None) -> Json:
        """List the facts that hold, or all of them."""
        return self._do("fact", "list", all=every, as_of=as_of)

    def _do(self, *words: str, **given: Any) -> Json:
        from importlib import import_module

        from pi_context.call import Call
        from pi_context.captured import Captured

        verb = next(verb for verb in VERBS if verb.words == ("memory", *words))
        around = Surroundings(nothing_given(verb) | self._given | given | {"json": True}, os.environ, terminal=False)
        around.owner = not around.mark and self._given["audience"] == "local"
        out = Captured(around.words, columns=100, as_json=True)
        module, _, function = verb.does.partition(":")
        getattr(import_module(f"pi_context.commands.{module}"), function)(Call(around.words, around, out))
        kept: Json = out.kept
        return kept


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


__all__ = ["ContextError", "History", "Memory", "open"]
