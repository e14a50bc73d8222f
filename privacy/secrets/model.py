"""The records of the detectors: what is looked for, how, and what must and must not be found.

Examples are templates: `{an:36}` stands for 36 made-up letters and digits (`examples.py` has the list), and the
part between « and » is the exact span that must be found. So this code holds nothing that looks like a key.
"""

from collections.abc import Callable
from typing import NamedTuple


class Secret(NamedTuple):
    """A place in a text that holds a secret: `[start, end)` in characters, and the kind of secret."""

    start: int
    end: int
    kind: str


class Span(NamedTuple):
    """The same in bytes of the UTF-8 text, as the detectors see it."""

    start: int
    end: int
    kind: str


class Token(NamedTuple):
    """A key that shows itself by its first characters.

    After one of the `prefixes` come `low` to `high` characters of an alphabet of `runs.ALPHABETS` (`high` 0: no
    upper limit). A `plain` prefix is also found in ordinary text, so its body must be whole, stand alone and look
    random; with any other prefix twelve random characters are enough, since the rest may be cut off. `guard` tells
    how many characters of a class, and which mark after them, must follow a prefix that is so common that not every
    place can be looked at.
    """

    kind: str
    what: str
    prefixes: tuple[str, ...]
    alphabet: str
    low: int
    high: int
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...] = ()
    plain: bool = False
    guard: tuple[str, int] | tuple[str, int, str] | None = None


class Detector(NamedTuple):
    """What people read about one kind of secret."""

    kind: str
    what: str
    how: str
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]


class Probe(NamedTuple):
    """How a detector takes part in the scan.

    `trigger` is an RE2 pattern over bytes that finds the places worth a look, and `first` are the bytes that its
    matches start with; `recognises` tells whether matched bytes are of this trigger; `look` judges the place (text,
    start and end of the match) and gives the span.
    """

    trigger: bytes
    first: bytes
    recognises: Callable[[bytes], bool]
    look: Callable[[bytes, int, int], Span | None]
