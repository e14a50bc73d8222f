"""Sound sessions as Pi 1.6.0 could have written them, with everything that one can hold; the same for one seed.

Turns with thinking, tools, images and shell commands, model and level changes, names, labels, private state, messages
of extensions, aborted calls, context edits, side branches with summaries, compactions; words in every script, with
halves of characters and line separators among them.
"""

import random
from collections.abc import Callable
from typing import Any

from logs import START, Value, header, lines, stamp

WORDS = (
    "ledger", "grams", "Bücher", "索引を作る", "😀", "a\u2028b", "\ud83d", "\udc00x", "\x7f", "\x01", '"quoted"', "back\\slash",
    "naïve", "שלום", "tab\there", "two\nlines", "\u0085", "\ufeff", "[aaaaaa end]", "{}", "-", "0",
)  # fmt: skip
SECRET = "ghp_" + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2"
_PIXELS = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" * 9
_USAGE = {"input": 5, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12}
_ANSWERS = {"api": "openai-completions", "provider": "acme", "model": "m-1", "usage": _USAGE}


class Maker:
    """One source of chance, and the log so far."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.identity = f"live-{seed}"
        self.entries: list[Value] = []
        self.parent: str | None = None
        self.calls = 0
        self.asked: list[str] = []  # entries of the branch that begin a turn, back to the last compaction
        self.plain: list[str] = []  # those that an edit may change without cutting an exchange
        self.ends: list[tuple[str, int]] = []  # where a turn is over, and how many of `asked` were there then

    def session(self, turns: int) -> bytes:
        """Give the bytes of a session with about so many turns."""
        if self.rng.random() < 0.7:
            self.add("model_change", provider="acme", modelId=f"m-{self.rng.randrange(3)}")
            self.add("thinking_level_change", thinkingLevel=self.rng.choice(("off", "low", "high")))
        self.system()
        for _ in range(turns):
            self.turn()
            for chance, act in _ACTS:
                if self.rng.random() < chance:
                    act(self)
        return lines(header(identity=self.identity), *self.entries)

    def add(self, kind: str, **body: Any) -> str:
        """Add an entry behind the leaf and give its id."""
        identity = f"{self.rng.getrandbits(16):04x}{len(self.entries):04x}"
        at = stamp(1000 * len(self.entries))
        self.entries.append({"type": kind, "id": identity, "parentId": self.parent, "timestamp": at, **body})
        self.parent = identity
        return identity

    def say(self, role: str, content: Any, **more: Any) -> str:
        """Add a message."""
        when = START + 1000 * len(self.entries)
        return self.add("message", message={"role": role, "content": content, **more, "timestamp": when})

    def text(self) -> str:
        """Give some words."""
        return " ".join(self.rng.choices(WORDS, k=self.rng.randrange(1, 30)))

    def block(self) -> Value:
        """Give a text block, seldom with a secret in it."""
        secret = f" use {SECRET} " if self.rng.random() < 0.03 else ""
        return {"type": "text", "text": f"{self.text()}{secret}"}

    def turn(self) -> None:
        """Let the user ask, and the model answer after some calls."""
        rng = self.rng
        asked: list[Value] = [self.block()]
        if rng.random() < 0.2:
            asked.append({"type": "image", "data": _PIXELS, "mimeType": "image/png"})
        self.asked.append(self.say("user", asked if rng.random() < 0.8 else self.text()))
        self.plain.append(self.asked[-1])
        for _ in range(rng.randrange(4)):
            self.exchange()
        thought = {"type": "thinking", "thinking": self.text(), "thinkingSignature": "c2lnbmVk"}
        answer = [thought, self.block()] if rng.random() < 0.5 else [self.block() | {"textSignature": "c2ln"}]
        self.plain.append(self.say("assistant", answer, **_ANSWERS, stopReason="stop"))
        self.ends.append((self.plain[-1], len(self.asked)))

    def exchange(self) -> None:
        """Call one tool or two, and have the results."""
        called = [self.call() for _ in range(self.rng.choice((1, 1, 2)))]
        self.say("assistant", [self.block(), *called], **_ANSWERS, stopReason="toolUse")
        for call in called:
            more: Value = {"details": {"diff": self.text()}} if self.rng.random() < 0.3 else {}
            content = [self.block() | {"text": self.text() * self.rng.choice((1, 1, 8))}]
            failed = self.rng.random() < 0.2
            self.say("toolResult", content, toolCallId=call["id"], toolName=call["name"], isError=failed, **more)

    def call(self) -> Value:
        """Give a tool call."""
        self.calls += 1
        arguments: Value = {"path": self.text(), "deep": {"list": [1, self.text(), True, None]}, "count": 2.5}
        name = self.rng.choice(("bash", "read", "edit"))
        return {"type": "toolCall", "id": f"call_{self.calls}", "name": name, "arguments": arguments}

    def system(self) -> None:
        """Declare prompt and tools."""
        tool = {"name": "bash", "description": self.text(), "parameters": {"type": "object"}}
        self.say("system", "", sections={"base": self.text()}, toolsAdded=[tool])

    def aborted(self) -> None:
        """Stop an answer in a call."""
        self.asked.append(self.say("user", [self.block()]))
        self.say("assistant", [self.block(), self.call()], **_ANSWERS, stopReason="aborted")

    def failed(self) -> None:
        """Let an answer fail before its first word."""
        self.plain.append(self.say("assistant", [], **_ANSWERS, stopReason="error", errorMessage=self.text()))

    def shell(self) -> None:
        """Let the user run a command, sometimes kept from the model."""
        body: Value = {"command": self.text(), "output": self.text(), "exitCode": self.rng.choice((0, 2))}
        flags: Value = {"cancelled": False, "truncated": False, "excludeFromContext": self.rng.random() < 0.4}
        self.add("message", message={"role": "bashExecution", **body, **flags, "timestamp": START})

    def extension(self) -> None:
        """Let an extension keep state, and say something."""
        self.add("custom", customType="todo", data={"open": [self.text()]})
        self.plain.append(self.add("custom_message", customType="note", content=self.text(), display=True))

    def edit(self) -> None:
        """Change or take away what a message of the branch says to the model."""
        new = self.rng.choice((None, {"content": self.text()}, {"content": [self.block()]}))
        self.add("context_edit", targetId=self.rng.choice(self.plain), replacement=new)

    def branch(self) -> None:
        """Go back to the end of an earlier turn, most often with a summary of what is left behind."""
        left = self.parent
        self.parent, count = self.rng.choice(self.ends)
        at = [end for end, _ in self.ends].index(self.parent)
        gone = [entry["id"] for entry in self.entries]
        behind = set(gone[gone.index(self.parent) + 1 :])
        self.ends, self.asked = self.ends[: at + 1], self.asked[:count]
        self.plain = [identity for identity in self.plain if identity not in behind]
        if self.rng.random() < 0.7:
            self.add("branch_summary", fromId=left, summary=self.text())

    def compact(self) -> None:
        """Compact, and keep some turns or none."""
        kept = self.rng.choice((*self.asked[-3:], "none"))
        identity = self.add("compaction", summary=self.text(), firstKeptEntryId=kept, tokensBefore=9000)
        if kept == "none":
            self.entries[-1]["firstKeptEntryId"] = identity
        self.asked = self.asked[self.asked.index(kept) :] if kept != "none" else []
        order = [entry["id"] for entry in self.entries]
        first = order.index(kept) if kept != "none" else len(order)
        self.plain = [entry for entry in self.plain if order.index(entry) >= first]
        self.ends = []  # an earlier leaf would be a branch without this compaction, and is another story
        self.turn()

    def settings(self) -> None:
        """Change the model, the level or the name, or set a label."""
        rng = self.rng
        match rng.randrange(4):
            case 0:
                self.add("model_change", provider="acme", modelId=f"m-{rng.randrange(9)}")
            case 1:
                self.add("thinking_level_change", thinkingLevel=rng.choice(("off", "medium", "xhigh")))
            case 2:
                self.add(
                    "session_info", name=rng.choice(("The ledger", "Bücher 索引 😀", "", "x" * 90, " two  words "))
                )
            case _:
                self.add("label", targetId=rng.choice(self.plain), label="mark")


_ACTS: tuple[tuple[float, Callable[[Maker], None]], ...] = (
    (0.4, Maker.settings),
    (0.15, Maker.shell),
    (0.15, Maker.extension),
    (0.1, Maker.edit),
    (0.1, Maker.branch),
    (0.05, Maker.aborted),
    (0.05, Maker.failed),
    (0.08, Maker.compact),
)
