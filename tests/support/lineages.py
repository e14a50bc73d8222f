"""A world whose current session was rebased, generation by generation, with the key of a bench."""

import os

from logs import Value, header, lines, talk
from rebasing import Bench, append, last_id, say
from worlds import World

from rebase.lineage import generations, head_link
from recall.descent import Descent, Generation, Locate


class Family:
    """Sessions of a world, each the target of the one before; `files` has the oldest first, the current one last."""

    def __init__(self, made: World, *entries: Value) -> None:
        self.made = made
        self.bench = Bench(made.folder)
        self.files: list[str] = []
        made.descend = self.descend
        first = entries or talk(4, lambda number: f"turn {number} okapi of generation 0")
        self._has(self.bench.write(lines(header(identity="g0"), *first), "g0.jsonl"))

    def grow(self, count: int) -> "Family":
        """Rebase so often, and say something in each target."""
        for _ in range(count):
            number = len(self.files)
            self._has(self.bench.rebased(self.files[-1])[1])
            say(self.files[-1], 0x100 + number, f"step okapi of generation {number}")
            self.made.seen(self.name())
        return self

    def name(self, at: int = -1) -> str:
        """Give the short name of a session."""
        return os.path.basename(self.files[at]).removesuffix(".jsonl")

    def append(self, at: int, *values: Value) -> None:
        """Go on in a session as Pi does."""
        append(self.files[at], *values)
        self.made.seen(self.name(at))

    def say(self, at: int, number: int, text: str) -> None:
        """Say something at the end of a session."""
        say(self.files[at], number, text)
        self.made.seen(self.name(at))

    def change(self, at: int, old: bytes, new: bytes) -> None:
        """Change bytes of a session in place."""
        with open(self.files[at], "rb") as file:
            data = file.read()
        assert old in data
        self.made.write(self.name(at), data.replace(old, new))

    def last_id(self, at: int = -1) -> str:
        """Give the id of the last entry of a session."""
        return last_id(self.files[at])

    def descend(self, file: str, locate: Locate) -> Descent | None:
        """Prove as the door does, without remembering anything."""
        own = head_link(file, self.bench.key.verify)
        if own is None:
            return None
        found = generations(own.origins, lambda origin: locate(origin.sessionId, origin.file), {})
        return Descent(
            own.handoff_id,
            tuple(
                Generation(one.origin.sessionId, one.origin.leafId, one.origin.size, one.file, one.state)
                for one in found.generations
            ),
        )

    def _has(self, path: str) -> None:
        self.files.append(path)
        self.made.session = self.name()
        self.made.seen(self.name())
