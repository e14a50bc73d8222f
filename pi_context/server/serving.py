"""The loop: reads lines, hands calls to workers, drops what is late or cancelled, and ends with the client.

The main thread only reads and looks at the clock; it never runs a call and never writes to the client itself.
"""

import json
import os
import select
import signal
import time
from collections.abc import Mapping
from functools import partial
from threading import Thread
from typing import Any, NoReturn

from foundation.canonical import Json
from foundation.errors import CODES, ContextError
from pi_context.boundary import as_known
from pi_context.server import protocol
from pi_context.server.calls import CallId, Calls, Workers
from pi_context.server.client import Client
from pi_context.server.methods import METHODS, Ask, Method
from pi_context.server.parent import POLL_SECONDS, Parent
from pi_context.server.protocol import MisfitError, typed
from pi_context.server.state import State
from pi_context.server.streams import Lines, Writer, complain
from pi_context.server.words import in_pi
from pi_context.verbs import Words

_LAST_ANSWERS_SECONDS = 2.0
_OPERATION_SECONDS = 30.0
_CHUNK = 1 << 20


class Server:
    """One client, from its first line to its end."""

    def __init__(self, source: int, sink: Any, words: Words, variables: Mapping[str, str]) -> None:
        self._parent = Parent()
        self._source = source
        woken, waking = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(waking, False)
        self._woken, self._waking = woken, waking
        self._wake = os.fdopen(waking, "wb", 0)
        self._ending = False
        self._writer = Writer(sink, broken=self._end)
        self._calls, self._workers, self._client = Calls(), Workers(), Client(self._writer)
        self._state = State(words, variables, self._client)

    def run(self) -> None:
        """Serve until the client is gone."""
        told = self._mind_signals()
        lines = Lines()
        while not self._ending:
            ready, _, _ = select.select([self._source, self._woken], [], [], self._patience(told=told))
            if self._woken in ready:
                os.read(self._woken, _CHUNK)
            self._drop_late()
            if self._parent.gone:
                self._ending = True
            elif self._source in ready:
                data = os.read(self._source, _CHUNK)
                if not data:
                    self._ending = True
                for line in lines.feed(data):
                    self._take(line)
        self._finish()

    def _mind_signals(self) -> bool:
        """Let signals wake the loop; tell whether the kernel says when the parent dies."""
        signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for Pi to answer, and we end with it
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self._end())
        signal.signal(signal.SIGUSR2, lambda *_: None)  # wakes the loop, which looks for the parent
        return self._parent.tell_by(signal.SIGUSR2)

    def _end(self) -> None:
        self._ending = True
        try:
            self._wake.write(b".")
        except OSError:
            return

    def _patience(self, *, told: bool) -> float | None:
        """Give how long the loop may sleep."""
        deadline = self._calls.next_deadline()
        waits = [] if told else [POLL_SECONDS]
        waits += [max(0.0, deadline - time.monotonic())] if deadline is not None else []
        return min(waits, default=None)

    def _finish(self) -> None:
        """Let calls end that are nearly done; an operation must come to a point from which it can be recovered."""
        self._client.leave()
        orphaned = self._parent.gone
        self._calls.wait(0.0 if orphaned else _LAST_ANSWERS_SECONDS, operations_only=False)
        self._calls.wait(_OPERATION_SECONDS, operations_only=True)
        self._writer.close(_LAST_ANSWERS_SECONDS)

    # --- messages ---------------------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            self._fail(None, protocol.PARSE_ERROR, "not JSON")
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self._fail(None, protocol.INVALID_REQUEST, "not JSON-RPC 2.0")
            return
        identity, method = message.get("id"), message.get("method")
        name = _id(identity)
        if method is None and ("result" in message or "error" in message):
            self._client.answered(identity, message)
        elif not isinstance(method, str):
            self._fail(name, protocol.INVALID_REQUEST, "no method")
        elif "id" not in message:
            self._notice(method, message.get("params"))
        elif name is None:
            self._fail(None, protocol.INVALID_REQUEST, "an id is a string or a whole number")
        else:
            self._call(name, method, message.get("params"))

    def _notice(self, method: str, params: Any) -> None:
        """Take a notification; one that is not known is nothing."""
        identity = _id(params.get("id")) if isinstance(params, dict) else None
        if method == "$/cancel" and identity is not None:
            self._drop(identity, "cancelled")

    def _call(self, identity: CallId, name: str, given: Any) -> None:
        method = METHODS.get(name)
        if method is None:
            self._fail(identity, protocol.METHOD_NOT_FOUND, "no such method")
            return
        try:
            params = typed({} if given is None else given, method.params)
        except MisfitError as error:
            self._fail(identity, protocol.INVALID_PARAMS, str(error), "invalid-params")
            return
        patience = params.deadline_ms
        deadline = None if patience is None else time.monotonic() + patience / 1000
        stop = self._calls.begin(identity, deadline, operation=method.operation)
        if stop is None:
            self._fail(None, protocol.INVALID_REQUEST, "the id is in use")
            return
        task = partial(self._do, identity, name, method, Ask(params, self._state, stop))
        if method.operation:
            Thread(target=task, name="operation", daemon=True).start()
        else:
            self._workers.do(task)

    def _do(self, identity: CallId, name: str, method: Method, ask: Ask) -> None:
        """Do a call and answer it, whatever happens; on a worker."""
        if ask.stop.reason and not method.operation:
            return
        try:
            answer: Json = {"result": method.do(ask)}
        except MisfitError as error:
            answer = {"error": _error(protocol.INVALID_PARAMS, str(error), "invalid-params")}
        except Exception as error:  # noqa: BLE001 - the server goes on, whatever a method does
            answer = {"error": _told(name, error)}
        if self._calls.finish(identity, ask.stop):
            self._answer(identity, answer)

    def _answer(self, identity: CallId | None, answer: Json) -> None:
        try:
            self._writer.send({"jsonrpc": "2.0", "id": identity, **answer})
        except (ValueError, RecursionError):  # nested too deeply to be written
            complain("an answer could not be written")
            self._fail(identity, protocol.INTERNAL_ERROR, CODES["internal-error"].meaning, "internal-error")

    # --- what is not answered by a result ---------------------------------------------------------------------

    def _drop_late(self) -> None:
        for identity in self._calls.late(time.monotonic()):
            self._drop(identity, "deadline")

    def _drop(self, identity: CallId, code: str) -> None:
        if self._calls.stop(identity, code):
            self._fail(identity, protocol.REFUSED, CODES[code].meaning, code)

    def _fail(self, identity: CallId | None, number: int, message: str, code: str = "") -> None:
        self._writer.send({"jsonrpc": "2.0", "id": identity, "error": _error(number, message, code)})


def _error(number: int, message: str, code: str) -> Json:
    told: Json = {"code": number, "message": message}
    return told | ({"data": {"code": code, "hint": CODES[code].hint}} if code else {})


def _told(name: str, error: Exception) -> Json:
    """Tell of an error by its code; what was not foreseen is a defect, of which only the place is told."""
    known = as_known(error)
    if known.code == "internal-error":
        complain(f"internal-error in {name}: {known.message}")
        return _error(protocol.INTERNAL_ERROR, known.message, known.code)
    message = error.message if isinstance(error, ContextError) else CODES[known.code].meaning  # no name of a file
    told = _error(protocol.REFUSED, message, known.code)
    told["data"]["hint"] = in_pi(known.code, known.hint)
    return told


def _id(value: Any) -> CallId | None:
    """Give an id that can be answered; a number with a fraction is none, and neither is true."""
    return value if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
