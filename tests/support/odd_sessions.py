"""Makes session logs as no one would write them: random trees with every kind of damage, the same for one seed."""

import json
import random
from collections.abc import Callable
from typing import Any

Value = dict[str, Any]

NUMBERS = (
    "0", "-0", "-0.0", "1.0", "1e400", "-1e999", "1e21", "1e20", "123456789012345680000", "9007199254740993",
    "-9007199254740993", "12345678901234567890", "0.000001", "1e-7", "1.5e-10", "5e-324", "1E5", "2.50", "0.1",
    "18446744073709551616", "1" * 30, "9" * 400, "1700000000000", "1.7e12", "-1",
)  # fmt: skip
WORDS = ("alpha", "beta\n", "é", "索引", "😀", "\u2028", "\x00", "\x7f", '"', "\\", "\ud83d", "\udc00x", "\ufeff", "")
TIMES: tuple[Any, ...] = (
    "2026-11-20T08:00:01.000Z", "2026-11-20T08:00:01Z", "2026-11-20", "2026-11", "2026-11-20T08:00:01.123456+02:00",
    "2026-11-20T08:00", "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z", "2026-13-01T00:00:00Z", "yesterday", "",
    "+012026-01-01T00:00:00Z", "-000000-01-01T00:00:00Z", "2026-11-20T08:00:01.5-0330", None, 0, 1, 1700000000000,
    1.9, -5, 8640000000000001, True, False, [], [2026], {}, ["2026-11-20"], "Nov 20 2026 8:00 pm GMT+1 (noon)",
    "11/20/2026", "2026-11-20 08:00:01", "20 Nov 2026", "foo 5", "2026-11-20T08:00:01.000Z ", "12",
)  # fmt: skip
ODD: tuple[Any, ...] = (None, 0, "", 5, 1.5, True, False, [], {}, "x", [1, "a"], {"a": 1}, {"content": "c"})
TYPES = (
    "message", "message", "message", "message", "message", "thinking_level_change", "model_change", "usage",
    "compaction", "branch_summary", "custom", "custom_message", "context_edit", "label", "session_info", "novel",
)  # fmt: skip
ROLES = ("user", "assistant", "toolResult", "system", "bashExecution", "custom", "hookMessage", "branchSummary", "new")
_NUMBER_MARK = "@number@"


class Maker:
    """One source of chance and the ids given so far."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ids: list[Any] = []
        self.oddness = self.rng.choice((0.0, 0.0, 0.02, 0.1, 0.3))

    def session(self) -> bytes:
        """Give the bytes of one log."""
        rng = self.rng
        lines = [self.header()] if rng.random() < 0.97 else []
        if self.odd():
            lines.insert(0, rng.choice((b"", b"null", b"junk {", b"0", b'""', b"false", b"7", b"[]", b"{}")))
        for _ in range(rng.choice((0, 1, 3, 10, 30, 60))):
            lines.append(self.line(self.entry()))
            if self.odd():
                lines.append(self.noise(lines))
        ending = rng.choice((b"\n", b"\n", b"\n", b"", b"\r\n", b"\n\n  \n", b"\x00" * 9, b"\n" + b"\x00" * 9))
        log = b"\n".join(lines) + ending
        if rng.random() < 0.05:
            log = log[: rng.randrange(len(log) + 1)]
        return b"\xef\xbb\xbf" + log if self.rng.random() < 0.01 else log

    def odd(self) -> bool:
        """Decide whether to do something odd here."""
        return self.rng.random() < self.oddness

    def header(self) -> bytes:
        """Give a header of some version."""
        rng = self.rng
        value: Value = {"type": "session", "version": 3, "id": f"s-{rng.randrange(99)}", "timestamp": TIMES[0]}
        value["cwd"] = "/home/dev/proj"
        kind = rng.random()
        if kind < 0.12:
            value["version"] = 1
        elif kind < 0.2:
            del value["version"]
        elif kind < 0.3:
            value["version"] = 2
        elif kind < 0.4:
            value["version"] = rng.choice(("3", "2", " 1 ", "0x2", "abc", "", True, False, None, 2.5, 99, [3], [], {}))
        if self.odd():
            value[rng.choice(("id", "type"))] = rng.choice(ODD)
        return json.dumps(value).encode()

    def entry(self) -> Value:
        """Give an entry, most often a child of the one before."""
        rng = self.rng
        identity: Any = f"{rng.randrange(16**8):08x}"
        if self.odd():
            identity = rng.choice((*ODD, 5.0, "5", "true", *self.ids[-3:]))
        parent = self.ids[-1] if self.ids else None
        if rng.random() < 0.12 and self.ids:
            parent = rng.choice(self.ids)
        if self.odd():
            parent = rng.choice((None, "missing", identity, *ODD, *self.ids[-2:]))
        kind = rng.choice(TYPES)
        value: Value = {
            "type": kind,
            "id": identity,
            "parentId": parent,
            "timestamp": self.time(),
            **BODIES.get(kind, _other)(self),
        }
        self.ids.append(identity)
        if self.odd():
            value.pop(rng.choice(list(value)))
        if self.odd():
            value[rng.choice(list(value) or ["id"])] = rng.choice(ODD)
        return value

    def time(self) -> Any:
        """Give a timestamp, by chance a strange one."""
        return self.rng.choice(TIMES) if self.odd() or self.rng.random() < 0.05 else TIMES[0]

    def message(self) -> Any:
        """Give a message."""
        rng = self.rng
        value: Value = {"role": rng.choice(ROLES), "content": self.content(), "timestamp": _NUMBER_MARK}
        if value["role"] == "assistant":
            value |= {"provider": rng.choice("pq"), "model": "m", "usage": {"cost": _NUMBER_MARK}, "10": 1, "9": 2}
        if rng.random() < 0.1:
            value["content"] = rng.choice((None, "", {}))
        if self.odd():
            value.pop(rng.choice(list(value)))
        return rng.choice(ODD) if self.odd() and rng.random() < 0.3 else value

    def content(self) -> Any:
        """Give the content of a message."""
        if self.rng.random() < 0.3:
            return self.text()
        return [{"type": "text", "text": self.text()} for _ in range(self.rng.randrange(3))]

    def text(self) -> str:
        """Give a few words."""
        return " ".join(self.rng.choices(WORDS, k=self.rng.randrange(1, 5)))

    def line(self, value: Value) -> bytes:
        """Write an entry, by chance with numbers, keys and bytes that `json` would not write."""
        rng = self.rng
        text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=(",", ":"))
        while f'"{_NUMBER_MARK}"' in text:
            text = text.replace(f'"{_NUMBER_MARK}"', rng.choice(NUMBERS), 1)
        if self.odd():
            text = text.replace("{", '{"id":"twice","0":1,', 1)
        raw = text.encode("utf-8", "surrogatepass")
        if not self.odd():
            return raw
        at = rng.randrange(len(raw) + 1)
        nested = rng.choice((50, 1200, 3000))
        return rng.choice((
            b" \t" + raw + b" \r",
            b"\x00\x00" + raw,
            b"\xef\xbb\xbf" + raw,
            raw + raw,
            raw + b"\x00" + raw,
            raw[:at],
            raw[:at] + bytes([rng.randrange(256)]) + raw[at:],
            raw[:at] + b"\xf0\x9f" + raw[at:],
            raw.replace(b'"alpha', b'"\xff\xfe\xed\xa0\x80\xc3'),
            raw[:-1] + b',"deep":' + b"[" * nested + b"]" * nested + b"}",
            raw[:-1] + b',"deep":NaN}',
            b"\xc2\xa0" + raw,
            raw + b"\x0b",
        ))  # fmt: skip

    def noise(self, lines: list[bytes]) -> bytes:
        """Give a line that is no entry, or one that was there before."""
        rng = self.rng
        return rng.choice((
            b"", b"   ", b"\r", b"\x0c", b"\xc2\xa0", b"\xef\xbb\xbf", b"\x00" * 20, b"null", b"0", b"42", b'"text"',
            b"true", b"[]", b"[1]", b"{}", b'{"type":"message"}', b"NaN", b"{broken", b"\xff\xfe", rng.choice(lines),
            self.header(),
        ))  # fmt: skip


def _compaction(made: Maker) -> Value:
    rng, some = made.rng, made.ids or ["none"]
    kept = rng.choice((rng.choice(some), rng.choice(some[-5:]), "self", "gone"))
    body: Value = {"summary": made.text(), "firstKeptEntryId": kept, "tokensBefore": _NUMBER_MARK}
    if rng.random() < 0.3:
        body["systemMessage"] = rng.choice(({"role": "system", "content": "s"}, {"role": "user"}, "s", None))
    if rng.random() < 0.4:
        del body["firstKeptEntryId"]
        body["firstKeptEntryIndex"] = rng.choice((0, 1, 2, 5, -1, 1.5, 999, 3.0, "2", True))
    return body


def _custom_message(made: Maker) -> Value:
    body = {"customType": "x", "content": made.content(), "display": True, "details": {"2": 1, "1": 2}}
    if made.rng.random() < 0.3:
        del body[made.rng.choice(list(body))]
    return body


def _context_edit(made: Maker) -> Value:
    new = made.rng.choice((None, {"content": made.content()}, {"content": "edited"}, {"content": None}, {}, 0))
    return {"targetId": made.rng.choice((made.ids or ["none"])[-6:]), "replacement": new}


def _branch_summary(made: Maker) -> Value:
    return {"fromId": made.rng.choice(made.ids or ["none"]), "summary": made.rng.choice((made.text(), ""))}


def _label(made: Maker) -> Value:
    return {"targetId": made.rng.choice(made.ids or ["none"]), "label": made.rng.choice(("mark", "", "two"))}


def _other(made: Maker) -> Value:
    return {"data": made.text()}


BODIES: dict[str, Callable[[Maker], Value]] = {
    "message": lambda made: {"message": made.message()},
    "thinking_level_change": lambda made: {"thinkingLevel": made.rng.choice(("off", "high"))},
    "model_change": lambda made: {"provider": made.rng.choice(("p", "q")), "modelId": "m"},
    "compaction": _compaction,
    "branch_summary": _branch_summary,
    "custom_message": _custom_message,
    "context_edit": _context_edit,
    "label": _label,
    "session_info": lambda made: {"name": made.rng.choice((" named\u00a0", "", "n"))},
}
