"""Asks a person a question on the terminal, where somebody is there to answer."""

import sys

from foundation.errors import ContextError
from pi_context.call import Call


def agreed(call: Call, question: str) -> None:
    """Let the owner agree, unless `--yes` did. Raises ContextError: `confirmation-required`, `declined`."""
    if call.words["yes"]:
        return
    if call.out.json or not call.around.terminal:
        raise ContextError("confirmation-required")
    call.out.ask(f"{question} [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise ContextError("declined")
