"""Whether the process that started us is still there; no server outlives its client, however that died."""

import os
import signal
import sys
import time
from threading import Thread

_PR_SET_PDEATHSIG = 1
POLL_SECONDS = 2.0
"""How often to look where the kernel does not tell."""


class Parent:
    """The process that started this one."""

    def __init__(self) -> None:
        self._pid = os.getppid()

    @property
    def gone(self) -> bool:
        """Tell whether it died: its children then have another parent."""
        return os.getppid() != self._pid

    def tell_by(self, number: signal.Signals) -> bool:
        """Let the kernel send this signal when the parent dies; False where it cannot.

        Linux sends it when the thread dies that started us, so whoever gets it asks `gone`.
        """
        if not sys.platform.startswith("linux"):
            return False
        try:
            import ctypes

            return bool(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0) == 0)
        except (ImportError, OSError, AttributeError):
            return False


def end_with() -> None:
    """End this process, which has nothing to finish, as soon as the parent is gone."""
    parent = Parent()

    def watch() -> None:
        while not parent.gone:
            time.sleep(POLL_SECONDS)
        os._exit(0)

    Thread(target=watch, name="parent", daemon=True).start()
