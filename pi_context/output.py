"""Where a command speaks: results on stdout, the rest on stderr; JSON for programs, plain or coloured text for people.

Text of a log never reaches a terminal as control characters: whatever could move the cursor or rename the window is
shown as what it is. Output for people that goes into a pipe opens with a line by which recall knows its own echo.
"""

import sys
from collections.abc import Mapping
from typing import Any, TextIO

from foundation.canonical import dumps
from foundation.marks import OUTPUT_LINE
from foundation.texts import RawText
from pi_context.verbs import Words
from privacy.redaction import redact, redact_value

_WIDE = 200
_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_SHOWN = {code: f"\\x{code:02x}" for code in (*range(32), 127, *range(128, 160)) if chr(code) not in "\n\t"} | {
    code: f"\\u{code:04x}"
    for code in (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000))
}


class Output:
    """Writes for one command, in the manner that its options ask for."""

    def __init__(self, words: Words, variables: Mapping[str, str]) -> None:
        self.json = bool(words["json"])
        self.verbose, self.quiet = bool(words["verbose"]), bool(words["quiet"])
        self.revealing = bool(words["reveal"])
        self._marked = self.json or is_a_terminal(sys.stdout)
        self.coloured = _coloured(words["color"] or "auto", variables, sys.stdout)

    @property
    def columns(self) -> int:
        """How wide tables and trees may be."""
        return width() if is_a_terminal(sys.stdout) else _WIDE

    def answer(self, value: Any) -> None:
        """Write a value as one line of JSON, without the secrets that stand in names, paths, ids and the like."""
        self.answer_measured(value if self.revealing else redact_value(value))

    def answer_measured(self, value: Any) -> None:
        """Write an answer whose length counts, and which is safe already, as one line of JSON."""
        self._write(dumps(value) + "\n")

    def say(self, text: str = "") -> None:
        """Write a line of result for people, without secrets; text of a log must have passed `plain`."""
        if not self._marked:
            self._marked = True
            self._write(OUTPUT_LINE + "\n")
        self._write(self._safe(text) + "\n")

    def draw(self, drawing: Any) -> None:
        """Write a table or tree, as wide as the terminal, in a pipe as wide as it needs."""
        from io import StringIO

        from rich.console import Console

        canvas = StringIO()
        console = Console(
            file=canvas, width=self.columns, force_terminal=self.coloured, legacy_windows=False,
            color_system="standard" if self.coloured else None, highlight=False, markup=False, emoji=False,
        )  # fmt: skip
        console.print(drawing)
        for line in canvas.getvalue().rstrip("\n").split("\n"):
            self.say(line.rstrip())

    def script(self, text: str) -> None:
        """Write text that a program reads, just as it is."""
        self._write(text)

    def note(self, text: str) -> None:
        """Write a line beside the result, to stderr; not with `--quiet`."""
        if not self.quiet:
            self.complain(text)

    def complain(self, text: str) -> None:
        """Write a line to stderr."""
        write(sys.stderr, self._safe(text) + "\n")

    def ask(self, question: str) -> None:
        """Put a question to stderr after all that was said, and leave the cursor behind it."""
        self.flush()
        write(sys.stderr, self._safe(question))
        sys.stderr.flush()

    def style(self, text: str, *styles: str) -> str:
        """Colour a text, where colours are wanted."""
        if not self.coloured or not text:
            return text
        return f"\x1b[{';'.join(_STYLES[name] for name in styles)}m{text}\x1b[0m"

    def _safe(self, text: str) -> str:
        return text if self.revealing else redact(RawText(text)).text

    def flush(self) -> None:
        """Bring the results out; a full disk or a closed pipe shows here."""
        sys.stdout.flush()

    def _write(self, text: str) -> None:
        write(sys.stdout, text)


def plain(text: str) -> str:
    """Show control characters, marks of writing direction and lone surrogates as what they are."""
    return text.translate(_SHOWN)


def write(stream: TextIO, text: str) -> None:
    """Write text in UTF-8 whatever the stream's encoding; what no encoding can hold becomes `?`."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
        return
    stream.flush()
    buffer.write(text.encode("utf-8", "replace"))


def is_a_terminal(stream: TextIO | None) -> bool:
    """Tell whether a stream is a terminal."""
    return stream is not None and stream.isatty()


def _coloured(wish: str, variables: Mapping[str, str], stream: TextIO) -> bool:
    if wish != "auto":
        return wish == "always"
    return is_a_terminal(stream) and not variables.get("NO_COLOR") and variables.get("TERM") != "dumb"


def width() -> int:
    """Give the columns of the terminal."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns
