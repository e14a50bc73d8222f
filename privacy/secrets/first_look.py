"""The first look: one RE2 pass that tells whether a text can hold a secret at all.

Most texts cannot, and most commands meet few that can: so this module knows the pattern of all triggers as a constant,
and the detectors themselves are imported when the first text needs them.
"""

import functools
from typing import Any

from privacy.secrets.triggers import INVISIBLE, TRIGGERS

_MOST_MEMORY = 32 << 20  # a limit for the states of the automaton; 700 MB of code needed some 20 MB


def search(data: bytes, start: int = 0) -> Any:
    """Find the first place in a UTF-8 text that is worth a look, from a byte on; None where there is none."""
    return compiled(invisible=True).search(data, start)


@functools.cache
def compiled(*, invisible: bool) -> Any:
    """Compile the triggers, with or without that for invisible parts: one of those is enough to know."""
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # bytes as they are: half the program of UTF-8
    options.never_capture = True
    options.max_mem = _MOST_MEMORY
    return re2.compile(TRIGGERS + b"|" + INVISIBLE if invisible else TRIGGERS, options)
