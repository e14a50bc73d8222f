"""The calls under way: each is answered exactly once, by its result, by its deadline, or because it was cancelled."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Condition, Thread
from typing import NamedTuple

CallId = str | int

WORKERS = 4


class Stop:
    """Tells a call that nobody waits for it any more: `reason` is a code then, else empty."""

    def __init__(self) -> None:
        self.reason = ""


class Begun(NamedTuple):
    """A call under way; `deadline` in seconds of the steady clock, None for none.

    An operation is never dropped: it hears that it should stop, and answers when it has.
    """

    stop: Stop
    deadline: float | None
    operation: bool


class Calls:
    """The calls by their ids."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._begun: dict[CallId, Begun] = {}

    def begin(self, identity: CallId, deadline: float | None, *, operation: bool) -> Stop | None:
        """Note a call; None where one with that id is under way."""
        with self._changed:
            if identity in self._begun:
                return None
            begun = Begun(Stop(), deadline, operation)
            self._begun[identity] = begun
            return begun.stop

    def finish(self, identity: CallId, stop: Stop) -> bool:
        """Tell whether a call may be answered: only once, and not when it was dropped."""
        with self._changed:
            begun = self._begun.get(identity)
            if begun is None or begun.stop is not stop:
                return False
            del self._begun[identity]
            self._changed.notify_all()
            return True

    def stop(self, identity: CallId, reason: str) -> bool:
        """Let a call stop; True where it was dropped and is to be answered with the reason now."""
        with self._changed:
            begun = self._begun.get(identity)
            if begun is None:
                return False
            begun.stop.reason = begun.stop.reason or reason
            if begun.operation:
                self._begun[identity] = begun._replace(deadline=None)
                return False
            del self._begun[identity]
            self._changed.notify_all()
            return True

    def late(self, now: float) -> list[CallId]:
        """Give the calls whose deadline is over."""
        with self._changed:
            return [name for name, begun in self._begun.items() if begun.deadline is not None and begun.deadline <= now]

    def next_deadline(self) -> float | None:
        """Give the nearest deadline."""
        with self._changed:
            return min((begun.deadline for begun in self._begun.values() if begun.deadline is not None), default=None)

    def wait(self, seconds: float, *, operations_only: bool) -> bool:
        """Wait until no call, or no operation, is under way; False where the time is over first."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not any(begun.operation or not operations_only for begun in self._begun.values()), seconds
            )


class Workers:
    """A few threads that do calls in the order in which they came; each is started when it is first needed."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._started = 0

    def do(self, task: Callable[[], None]) -> None:
        """Queue a task, which must not raise."""
        self._waiting.put(task)
        if self._started < WORKERS:
            self._started += 1
            Thread(target=self._run, name=f"worker-{self._started}", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._waiting.get()()
