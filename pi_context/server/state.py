"""What the server keeps from call to call: references, the settings it began with, and who is at the other end."""

import os
from collections.abc import Mapping, Sequence
from threading import Lock

from foundation.errors import ContextError
from pi_context import environment
from pi_context.configuration import Configuration
from pi_context.server.client import Client
from pi_context.verbs import Words
from recall.references import MemoryReferences, Reference


class SharedReferences:
    """The references of one server, given out and asked for by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known = MemoryReferences(environment.clock, environment.token)

    def issue(self, targets: Sequence[Reference]) -> list[str]:
        """Give each target a reference."""
        with self._lock:
            return self._known.issue(targets)

    def find(self, reference: str) -> Reference | None:
        """Give what a reference stands for; None where it is unknown or expired."""
        with self._lock:
            return self._known.find(reference)


class State:
    """What the server keeps; settings are those of the first question about a project.

    `mark` names the variable by which a model's shell is known that started all of this; empty where a person did.
    """

    def __init__(self, words: Words, variables: Mapping[str, str], client: Client | None = None) -> None:
        self.words, self.variables, self._client = words, dict(variables), client
        self.mark = environment.agent_mark(variables)
        self.references = SharedReferences()
        self.configurations: dict[tuple[str, bool | None], Configuration] = {}
        self.pid = os.getpid()

    @property
    def client(self) -> Client:
        """Who can be asked how Pi stands; raises ContextError `client-gone` where there is no Pi at the other end."""
        if self._client is None:
            raise ContextError("client-gone")
        return self._client
