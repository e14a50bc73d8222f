"""What a command gets: its words, what surrounds it, and where it speaks."""

from typing import NamedTuple

from pi_context.output import Output
from pi_context.surroundings import Surroundings
from pi_context.verbs import Words


class Call(NamedTuple):
    """One command as it was called."""

    words: Words
    around: Surroundings
    out: Output
