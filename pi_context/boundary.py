"""The one place that turns errors of a command into text, JSON and an exit status.

Nothing foreseeable ends in a traceback. Only mistakes in the words of a command are told by click: see `command_line`.
"""

import os
import sys
from collections.abc import Callable

from foundation.errors import INTERRUPTED, ContextError, foreseen
from pi_context.output import Output, plain


def guarded(do: Callable[[], int], output: Output) -> int:
    """Run a command; give its exit status, or that of what went wrong."""
    try:
        return do()
    except BrokenPipeError:
        _let_go_of_stdout()
        return 0
    except KeyboardInterrupt:
        tell(ContextError("interrupted"), output)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last line of defence: a person gets a sentence, not a stack
        known = as_known(error)
        tell(known, output)
        if output.verbose and known.code == "internal-error":
            import traceback

            output.complain("".join(traceback.format_exception(error)))
        return known.exit_status


def as_known(error: Exception) -> ContextError:
    """Give the code and the words for any error."""
    known = foreseen(error)
    if known is not None:
        if isinstance(error, OSError) and isinstance(error.filename, str | bytes):
            return ContextError(known.code, f"{known.message} ({os.fsdecode(error.filename)})")
        return known
    if type(error).__module__ == "apsw":
        import apsw

        from index.failures import translated

        assert isinstance(error, apsw.Error)
        return translated(error)
    frame, at = error.__traceback__, ""
    while frame is not None:
        at = f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"
        frame = frame.tb_next
    return ContextError("internal-error", f"A defect of pi-context: {type(error).__name__} at {at}.")


def tell(error: ContextError, output: Output) -> None:
    """Say on stderr what happened and what to do next."""
    if output.json:
        from foundation.canonical import dumps

        output.complain(dumps({"error": {"code": error.code, "message": error.message, "hint": error.hint}}))
    else:
        output.complain(plain(f"pi-context: {error.message}\n  {error.hint}"))  # either may name an id of the log


def _let_go_of_stdout() -> None:
    """Keep Python from complaining about the closed pipe once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
