"""What a command says, kept instead of printed: lines for people, and the answer for programs."""

from typing import Any

from pi_context.output import Output, plain
from pi_context.verbs import Words


class Captured(Output):
    """Keeps the output of one command; nothing of it reaches a stream."""

    def __init__(self, words: Words, *, columns: int, as_json: bool = False) -> None:
        super().__init__(words, {"NO_COLOR": "1"})
        self.json, self.coloured, self._marked = as_json, False, True
        self.kept: Any = None
        self._said: list[str] = []
        self._columns = columns

    @property
    def columns(self) -> int:
        """How wide tables and trees may be."""
        return self._columns

    @property
    def text(self) -> str:
        """What was said, results and remarks in the order in which they came."""
        return "".join(self._said).strip("\n")

    def answer_measured(self, value: Any) -> None:
        """Keep an answer."""
        self.kept = value
        super().answer_measured(value)

    def complain(self, text: str) -> None:
        """Keep a remark."""
        self._said.append(plain(self._safe(text)) + "\n")

    def _write(self, text: str) -> None:
        self._said.append(text)
