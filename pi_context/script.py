"""The door of the installed command: nothing is imported before an interruption can be met."""

import os
import sys

INTERRUPTED = 130  # as `foundation.errors` has it


def script() -> None:
    """Run the command and end the process at once: to take all modules down would take as long as a search."""
    try:
        status = _run()
    except KeyboardInterrupt:
        status = INTERRUPTED
    os._exit(status)


def _run() -> int:
    import gc

    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # nobody else's code where records are read
    gc.set_threshold(100_000, 20, 50)  # few objects die in cycles here, and most commands are over before it matters
    _give_streams()
    from pi_context.main import main

    status = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    return status


def _give_streams() -> None:
    """Let a standard stream that the caller closed be one that is empty, or takes everything and shows nothing."""
    from io import StringIO

    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, StringIO())
