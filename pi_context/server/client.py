"""Asks the client: how Pi stands, and to switch sessions. A client that is gone answers nothing, at once."""

from threading import Condition
from typing import Any, TypeVar

from foundation.canonical import Json
from foundation.errors import ContextError
from pi_context.server.protocol import MisfitError, typed
from pi_context.server.streams import Writer

_Answer = TypeVar("_Answer")


class Client:
    """The other end of the protocol."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._changed = Condition()
        self._asked = 0
        self._answers: dict[str, Json | None] = {}
        self._gone = False

    def ask(self, method: str, params: Json, kind: type[_Answer], *, seconds: float) -> _Answer:
        """Ask and wait for the answer. Raises ContextError `client-gone` where none that fits comes in this time."""
        with self._changed:
            self._asked += 1
            identity = f"s{self._asked}"
            self._answers[identity] = None
            if not self._gone:
                self._writer.send({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
            self._changed.wait_for(lambda: self._gone or self._answers[identity] is not None, seconds)
            answer = self._answers.pop(identity)
        if answer is None:
            raise ContextError("client-gone")
        try:
            return typed(answer.get("result"), kind)
        except MisfitError as error:
            raise ContextError("client-gone", "Pi's side gave no answer that fits.") from error

    def answered(self, identity: Any, answer: Json) -> None:
        """Take an answer in; one that nobody waits for is dropped."""
        with self._changed:
            if isinstance(identity, str) and identity in self._answers:
                self._answers[identity] = answer
                self._changed.notify_all()

    def leave(self) -> None:
        """Let everybody know that the client is gone."""
        with self._changed:
            self._gone = True
            self._changed.notify_all()
