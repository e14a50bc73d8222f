"""The two streams of the protocol: whole lines in, whole lines out, and nobody else can write there.

Lines are split at LF and nowhere else, and may be of any size. What the client does not read waits in a queue, so
neither a call nor the reader ever waits for it.
"""

import io
import os
import sys
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

from foundation.canonical import Json, dumps


class Lines:
    """Puts lines together from the pieces that a pipe gives."""

    def __init__(self) -> None:
        self._begun = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take a piece and yield the lines that it completes, without their LF."""
        first, *more = data.split(b"\n")
        self._begun += first
        for piece in more:
            line = bytes(self._begun)
            self._begun = bytearray(piece)
            yield line


class Writer:
    """Writes messages in the order in which they are handed in, on a thread of its own."""

    def __init__(self, stream: BinaryIO, *, broken: Callable[[], None]) -> None:
        self._stream, self._broken = stream, broken
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def send(self, message: Json) -> None:
        """Queue a message."""
        self._waiting.put(dumps(message).encode("utf-8") + b"\n")

    def close(self, seconds: float) -> None:
        """Write what is queued, within this time."""
        self._waiting.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            while (line := self._waiting.get()) is not None:
                self._stream.write(line)
                self._stream.flush()
        except (OSError, ValueError):
            self._broken()


class _Diagnostics(io.TextIOWrapper):
    """Standard error as no terminal: nothing may draw on the one that Pi draws on."""

    def isatty(self) -> bool:
        return False


def taken() -> tuple[int, BinaryIO]:
    """Take the standard streams for the protocol: give what to read from and what to write to.

    From then on whatever prints, in Python or below it, prints to standard error, and standard input is empty.
    """
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr = _Diagnostics(os.fdopen(2, "wb", closefd=False), encoding="utf-8", errors="replace")
    return source, os.fdopen(sink, "wb")


def complain(text: str, *, command: str = "serve") -> None:
    """Write one line of diagnostics: codes and places in our code, never a text or a name from outside."""
    try:
        sys.stderr.write(f"pi-context {command}: {text}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


__all__ = ["Lines", "Writer", "complain", "taken"]
