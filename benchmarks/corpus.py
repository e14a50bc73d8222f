"""A made-up archive of Pi sessions: deterministic, with the shape of real ones, of any size.

Words follow Zipf's law; code, listings and prose mix; identifiers, hashes and paths keep the vocabulary growing.
Sessions branch, compact and call tools. One session can be made very large.
"""

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SYLLABLES = [
    "ka",
    "lo",
    "mi",
    "ter",
    "an",
    "vo",
    "re",
    "du",
    "sha",
    "pe",
    "gri",
    "no",
    "bel",
    "fa",
    "ust",
    "qui",
    "zor",
    "en",
    "ty",
    "la",
    "cor",
    "wim",
    "ja",
    "ox",
    "hel",
    "ri",
    "su",
    "bran",
]
KEYWORDS = [
    "def",
    "return",
    "if",
    "else",
    "for",
    "while",
    "class",
    "import",
    "from",
    "try",
    "except",
    "with",
    "async",
    "await",
    "const",
    "let",
    "function",
    "new",
]
FIRST_MS = 1_735_718_400_000
HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 1500)]


class Archive(NamedTuple):
    """Where an archive lies, its size in bytes, and how many entries it has."""

    folder: Path
    size: int
    entries: int


class Words:
    """Draws text of a wanted length from streams that are made once."""

    def __init__(self, rng: random.Random, *, vocabulary: int = 40_000, stream: int = 1_000_000) -> None:
        self.rng = rng
        words = list(
            {"".join(rng.choices(SYLLABLES, k=rng.choice((1, 2, 2, 3, 4)))): None for _ in range(2 * vocabulary)}
        )
        weights = list(itertools.accumulate(1 / (rank + 2.5) ** 1.05 for rank in range(len(words))))
        names = [
            a + rng.choice(("_", "")) + (b if rng.random() < 0.5 else b.title())
            for a, b in zip(rng.choices(words, k=20_000), rng.choices(words, k=20_000), strict=True)
        ]
        self.words = words
        self.paths = [
            "src/" + "/".join(rng.choices(words[:4000], k=rng.randint(1, 3))) + rng.choice((".py", ".ts", ".go", ".md"))
            for _ in range(8000)
        ]
        self.prose = rng.choices(words, cum_weights=weights, k=stream)
        self.code = [
            rng.choice(pool)
            for pool in rng.choices(
                (KEYWORDS, names, words[:3000], ["=", "(", ")", "{", "}", ":", ".", "\n    ", "\n"]),
                (2, 4, 2, 5),
                k=stream,
            )
        ]

    def length(self, median: float, sigma: float = 1.0, *, most: int = 40_000) -> int:
        """Draw a length: most are near the median, a few very long."""
        return int(min(most, max(10, self.rng.lognormvariate(0, sigma) * median)))

    def cut(self, stream: list[str], length: int) -> str:
        """Cut a piece out of a stream."""
        count = length // 6 + 1
        start = self.rng.randrange(len(stream) - count)
        return " ".join(stream[start : start + count])[:length]

    def say(self, length: int) -> str:
        """Draw prose, now and then in Chinese."""
        if self.rng.random() < 0.04:
            return "".join(self.rng.choices(HAN, k=length // 3 + 1))
        return self.cut(self.prose, length)

    def output(self, length: int) -> str:
        """Draw what a tool prints: code, or a listing with paths and hashes."""
        if self.rng.random() < 0.5:
            return f"# {self.rng.choice(self.paths)} {self.rng.getrandbits(64):016x}\n{self.cut(self.code, length)}"
        lines = length // 70 + 1
        return "\n".join(
            f"{self.rng.choice(self.paths)}:{self.rng.randint(1, 999)}: {self.cut(self.prose, 40)}"
            for _ in range(lines)
        )


def make(folder: Path, megabytes: float, *, big: float = 0, seed: int = 7, projects: int = 20) -> Archive:
    """Make an archive of about so many megabytes, one session of it `big` megabytes; an existing one is taken as it is."""
    done = folder / "done.json"
    if not done.exists():
        rng = random.Random(seed)
        words, left, count, entries = Words(rng), megabytes * 1e6, 0, 0
        while left > 0:
            wanted = big * 1e6 if big and not count else min(20e6, max(5_000, rng.lognormvariate(0, 1.4) * 1e6))
            path = folder / f"--p{rng.randrange(projects)}--" / f"{count:05d}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = list(
                session(words, rng, min(wanted, left), f"/home/dev/{path.parent.name}", f"{rng.getrandbits(96):024x}")
            )
            path.write_bytes(b"".join(lines))
            left, count, entries = left - path.stat().st_size, count + 1, entries + len(lines) - 1
        done.write_text(json.dumps({"entries": entries}), "utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*.jsonl"))
    return Archive(folder, size, json.loads(done.read_text("utf-8"))["entries"])


def session(words: Words, rng: random.Random, size: float, cwd: str, identity: str) -> Iterator[bytes]:
    """Yield the lines of one session of about `size` bytes."""
    now, done, parent = FIRST_MS + rng.randrange(10**9), 0, None
    whole: list[str] = []  # entries after which no call waits for its result: one may branch there
    kept = ""
    line = _line({"type": "session", "version": 3, "id": identity, "timestamp": _stamp(now), "cwd": cwd})
    call: tuple[str, str] | None = None
    while True:
        yield line
        done += len(line)
        if done >= size and call is None:
            return
        now += rng.randrange(1000, 40_000)
        if call is None and len(whole) > 40 and rng.random() < 0.004:
            parent = rng.choice(whole[-40:])
        entry: dict[str, Any] = {
            "type": "message",
            "id": f"{rng.getrandbits(32):08x}",
            "parentId": parent,
            "timestamp": _stamp(now),
        }
        if call is None and parent == kept and rng.random() < 0.02:
            entry |= {
                "type": "compaction",
                "summary": words.say(5000),
                "firstKeptEntryId": kept,
                "tokensBefore": 100_000,
            }
        else:
            entry["message"], call = _message(words, rng, call)
            if entry["message"]["role"] == "user":
                kept = entry["id"]
        parent = entry["id"]
        if call is None:
            whole.append(parent)
        line = _line(entry)


def _message(
    words: Words, rng: random.Random, call: tuple[str, str] | None
) -> tuple[dict[str, Any], tuple[str, str] | None]:
    if call:
        text = words.output(words.length(1100, 1.2))
        return {
            "role": "toolResult",
            "toolCallId": call[0],
            "toolName": call[1],
            "content": [{"type": "text", "text": text}],
            "isError": False,
        }, None
    if rng.random() < 0.15:
        return {"role": "user", "content": [{"type": "text", "text": words.say(words.length(200))}]}, None
    name = rng.choice(("bash", "read", "edit", "grep"))
    made = (f"toolu_{rng.getrandbits(96):024x}", name)
    arguments = {
        "edit": {"path": rng.choice(words.paths), "newText": words.cut(words.code, words.length(400))},
        "bash": {"command": "rg -n " + words.say(40)},
    }
    content = [
        {
            "type": "thinking",
            "thinking": words.say(words.length(400)),
            "thinkingSignature": f"{rng.getrandbits(256):064x}",
        },
        {"type": "text", "text": words.say(words.length(280))},
        {
            "type": "toolCall",
            "id": made[0],
            "name": name,
            "arguments": arguments.get(name, {"path": rng.choice(words.paths)}),
        },
    ]
    return {
        "role": "assistant",
        "content": content,
        "api": "x",
        "provider": "example",
        "model": "example-1",
        "usage": {"input": rng.randint(1, 9999), "output": rng.randint(1, 999)},
        "stopReason": "toolUse",
    }, made


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _stamp(millis: int) -> str:
    from foundation.clock import iso

    return iso(millis)
