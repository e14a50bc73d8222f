"""A long session of work on a ledger with a hundred facts planted in it, to measure what a rebase keeps findable.

The context that Pi would send takes about 80,000 tokens: the summary of a compaction, then turns of user and model with
thinking, files read, tests run, edits, shell commands, long build logs and two images. A fact is one line that nobody
could guess, and stands in the session once. The same seed gives the same session.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from live_sessions import Maker
from logs import START, Value, header, lines

COUNT = 100

SUMMARY, OLD = "summary", "old turn"
PLACES = ("user", "answer", "argument", "result", "shell", "build log", SUMMARY, OLD)
"""Where facts are planted: results and logs have them in their middle, old turns lie before the compaction."""

_OLD_TURNS, _TURNS = 12, 44
_IN_SUMMARY = 6
_ADJECTIVES = ["amber", "brisk", "coastal", "dusty", "eager", "faint", "gilded", "hollow", "ivory", "jagged", "keen", "lunar", "mossy", "narrow", "oaken", "plain", "quiet", "rustic", "silver", "tidal"]  # fmt: skip
_NOUNS = ["anchor", "basket", "compass", "derrick", "engine", "furnace", "gasket", "hangar", "inlet", "jetty", "kettle", "lantern", "manifold", "nozzle", "orchard", "piston", "quarry", "relay", "spindle", "turbine"]  # fmt: skip
_THINGS = ["timeout", "threshold", "port", "budget", "owner", "deadline", "batch", "quota", "offset", "limit"]
_PROSE = ["please", "look", "at", "the", "ledger", "import", "again", "because", "rows", "are", "lost", "when", "a", "batch", "is", "retried", "and", "I", "think", "we", "should", "keep", "it", "simple", "before", "the", "release", "as", "long", "as", "all", "tests", "pass"]  # fmt: skip
_CODE = ["def", "total(rows)", "return", "sum(row.grams", "for", "row", "in", "rows)", "if", "not", "rows:", "raise", "ValueError", "self.cache[key]", "=", "value", "for", "key,", "value", "in", "items.items()", "yield", "from"]  # fmt: skip
_SPOKEN = {
    "api": "openai-completions", "provider": "acme", "model": "m-1",
    "usage": {"input": 900, "output": 210, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1110},
}  # fmt: skip
_PIXELS = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" * 400


class Fact(NamedTuple):
    """Something that a session says once: words to ask for it, the text that tells it, its entry, and its place."""

    query: str
    text: str
    entry_id: str
    place: str


class Planted(NamedTuple):
    """The bytes of a session, and the facts in it in the order of time."""

    data: bytes
    facts: tuple[Fact, ...]


def facts(session: Planted) -> list[Fact]:
    """List the facts of a session."""
    return list(session.facts)


def planted(seed: int = 1) -> Planted:
    """Make the session."""
    worker = _Worker(seed)
    worker.work()
    return Planted(lines(header(identity=f"planted-{seed}"), *worker.log.entries), tuple(worker.told))


class _Worker:
    """Writes the session turn by turn; each text plants its fact where one is due in its place."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.log = Maker(seed)
        self.told: list[Fact] = []
        self.pending: list[Fact] = []
        self.due: list[str] = []
        self.old = True
        self.names = [f"{adjective} {noun}" for noun in _NOUNS for adjective in _ADJECTIVES]
        self.rng.shuffle(self.names)

    def work(self) -> None:
        """Work twelve turns, compact, and work on until all facts are told."""
        self.log.add("model_change", provider="acme", modelId="m-1")
        self.log.add("thinking_level_change", thinkingLevel="high")
        self.log.system()
        now = PLACES[:6]
        for turn in range(_OLD_TURNS):
            self.turn(turn, [now[turn % len(now)]])
        self.old = False
        self.compact()
        left = COUNT - len(self.told)
        for turn in range(_TURNS):
            count = left * (turn + 1) // _TURNS - left * turn // _TURNS
            self.turn(turn, [now[(2 * turn + turn // 3 + at) % len(now)] for at in range(count)])
        self.log.add("session_info", name="Ledger import")
        assert len(self.told) == COUNT

    def compact(self) -> None:
        """Stand a summary for all before but the last turn."""
        self.due = [SUMMARY] * _IN_SUMMARY
        story = [f"- {self.prose(30)}. {self.fact(SUMMARY)}" for _ in range(_IN_SUMMARY)]
        text = "\n".join(["## Goal", self.prose(40), "## Progress", *story, "## Next", self.prose(40)])
        kept = self.log.asked[-1]
        self.tell(self.log.add("compaction", summary=text, firstKeptEntryId=kept, tokensBefore=90_000))

    def turn(self, number: int, due: list[str]) -> None:
        """Ask, work and answer, and plant the facts that are due."""
        self.due = due
        asked = [_text(f"{self.prose(40)}. {self.fact('user')} {self.prose(25)}?")]
        if number in (9, 20):
            asked.append({"type": "image", "data": _PIXELS, "mimeType": "image/png"})
        self.log.asked.append(self.say("user", asked))
        path = f"src/{self.rng.choice(_NOUNS)}/{self.rng.choice(_ADJECTIVES)}.py"
        self.use("read", {"path": path}, [*self.code(32), self.fact("result"), *self.code(30)])
        new = "\n".join([*self.code(8), f"# {fact}" if (fact := self.fact("argument")) else "pass", *self.code(8)])
        self.use("edit", {"path": path, "old": self.code(1)[0], "new": new}, [f"Edited {path}."])
        if number % 4 == 0 or "build log" in due:
            self.use("bash", {"command": "make all"}, [*self.built(45), self.fact("build log"), *self.built(45)])
        self.use("bash", {"command": "make test"}, [*self.tested(16), "16 passed"])
        if number % 5 == 0 or "shell" in due:
            output = "\n".join([*self.built(8), self.fact("shell"), *self.built(8)])
            self.tell(self.log.add("message", message=_shell(output)))
        thought = {"type": "thinking", "thinking": self.prose(60), "thinkingSignature": "c2lnbmVk"}
        answer = _text(f"{self.prose(50)}. {self.fact('answer')} {self.prose(30)}.")
        self.say("assistant", [thought, answer], **_SPOKEN, stopReason="stop")
        assert self.due == []

    def use(self, name: str, arguments: Value, output: Sequence[str]) -> None:
        """Call a tool and have its result; the arguments hold the facts that are pending when the call is made."""
        inside = [fact for fact in self.pending if any(fact.text in value for value in arguments.values())]
        after = [fact for fact in self.pending if fact not in inside]
        self.pending = inside
        self.log.calls += 1
        call = {"type": "toolCall", "id": f"call_{self.log.calls}", "name": name, "arguments": arguments}
        self.say("assistant", [_text(self.prose(12)), call], **_SPOKEN, stopReason="toolUse")
        self.pending = after
        content = [_text("\n".join(line for line in output if line))]
        self.say("toolResult", content, toolCallId=call["id"], toolName=name, isError=False)

    def say(self, role: str, content: Any, **more: Any) -> str:
        """Add a message, and tell which facts it holds."""
        return self.tell(self.log.say(role, content, **more))

    def tell(self, identity: str) -> str:
        """Bind the facts that were just written to their entry."""
        self.told += [fact._replace(entry_id=identity) for fact in self.pending]
        self.pending = []
        return identity

    def fact(self, place: str) -> str:
        """Give a new fact if one is due in this place, else nothing."""
        if place not in self.due:
            return ""
        self.due.remove(place)
        name, thing = self.names.pop(), self.rng.choice(_THINGS)
        text = f"The {thing} of the {name} is {self.rng.randrange(100_000, 1_000_000)}."
        self.pending.append(Fact(f"{name} {thing}", text, "", OLD if self.old else place))
        return text

    def prose(self, count: int) -> str:
        """Give words of a person or a model."""
        return " ".join(self.rng.choices(_PROSE, k=count))

    def code(self, count: int) -> list[str]:
        """Give lines of a program."""
        return [f"    {' '.join(self.rng.choices(_CODE, k=6))}" for _ in range(count)]

    def built(self, count: int) -> list[str]:
        """Give lines of a build log."""
        rng = self.rng
        return [f"[{rng.randrange(999):3}/999] cc -O2 -c {rng.choice(_NOUNS)}_{rng.choice(_ADJECTIVES)}.c" for _ in range(count)]  # fmt: skip

    def tested(self, count: int) -> list[str]:
        """Give lines of a test run."""
        return [f"tests/test_{self.rng.choice(_NOUNS)}.py::test_{self.rng.choice(_PROSE)} PASSED" for _ in range(count)]


def _text(text: str) -> Value:
    return {"type": "text", "text": text}


def _shell(output: str) -> Value:
    ran = {"role": "bashExecution", "command": "git status", "output": output, "exitCode": 0, "cancelled": False}
    return {**ran, "truncated": False, "timestamp": START}
