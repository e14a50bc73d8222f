"""The shell command: parse, do, and turn whatever happens into output and an exit status.

The commonest questions take the short way past click; commands are imported when they run.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from pi_context import direct
from pi_context.boundary import guarded
from pi_context.call import Call
from pi_context.environment import is_terminal
from pi_context.output import Output
from pi_context.surroundings import Surroundings
from pi_context.verbs import Verb, Words


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; give the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parsed = direct.parse(given)
    if parsed is None:
        from pi_context import command_line

        read = command_line.read(given)
        if isinstance(read, int):
            return read
        parsed = read
    return run(*parsed)


def run(verb: Verb, words: Words) -> int:
    """Do one command."""
    output = Output(words, os.environ)

    def do() -> int:
        module, _, function = verb.does.partition(":")
        around = Surroundings(words, os.environ, terminal=is_terminal())
        command = getattr(import_module(f"pi_context.commands.{module}"), function)
        status = command(Call(words, around, output))
        output.flush()
        return int(status)

    return guarded(do, output)
