"""Strategies for session logs with every kind of damage, in pieces that shrink well: one draw for each line."""

import json
from typing import Any

from hypothesis import strategies as st
from logs import Value, header, line, stamp

IDS: tuple[Any, ...] = (
    "0000000a",
    "0000000b",
    "0000000c",
    "0000000d",
    "n0000003",
    "a longer id",
    "é",
    "\ud83d",
    "",
    None,
    5,
)
WORDS = ("alpha", "beta gamma", "RetryBudget", "retry_budget", "数据库", "é", "😀", "\ud83d", "a\nb", "don't", "x" * 70)
_LAST = "(the entry before)"

ids = st.sampled_from(IDS)
texts = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
times = st.sampled_from((stamp(1), stamp(2), stamp(3), "2026-11-20", "", None, 7))
versions = st.sampled_from((3, 3, 3, 2, 1, 0, -4, None, "2", 99))


@st.composite
def entries(draw: st.DrawFn) -> Value:
    """Draw an entry, most often a child of the one before."""
    kind = draw(st.sampled_from(("message", "message", "message", "context_edit", "session_info", "custom_message")))
    value: Value = {"type": kind, "timestamp": draw(times)}
    if draw(st.integers(0, 9)):
        value["id"] = draw(ids)
    parent = draw(st.sampled_from((_LAST, _LAST, _LAST, _LAST, *IDS[:7], "missing", None)))
    if parent == _LAST or draw(st.integers(0, 9)):
        value["parentId"] = parent
    match kind:
        case "message":
            role = draw(st.sampled_from(("user", "assistant", "toolResult", "unheard of")))
            content: list[Value] = [{"type": "text", "text": draw(texts)}]
            if role == "assistant" and draw(st.booleans()):
                content.append({"type": "toolCall", "id": "c", "name": draw(texts), "arguments": {"path": draw(texts)}})
            value["message"] = {"role": role, "content": content, "toolName": "bash"}
        case "context_edit":
            value |= {"targetId": draw(ids), "replacement": draw(st.sampled_from((None, {"content": "x"})))}
        case "session_info":
            value["name"] = draw(texts)
        case _:
            value |= {"customType": "note", "content": draw(texts), "display": True}
    return value


@st.composite
def pieces(draw: st.DrawFn) -> tuple[str, Any]:
    """Draw one line: what it is, and what it is made of."""
    what = draw(st.sampled_from(("entry",) * 12 + ("repeat", "header", "garbage", "blank", "mended")))
    match what:
        case "entry":
            return what, draw(entries())
        case "repeat":
            return what, draw(st.integers(0, 30))
        case "header":
            return what, header(identity=draw(st.sampled_from(("s-1", "s-2", "\ud83d"))), version=draw(versions))
        case "garbage":
            junk = (b"junk {", b"7", b"[]", b"null", b"{}", b"\xff\xfe", b'{"type":"message"', b"{" * 3, b"NaN")
            return what, draw(st.sampled_from(junk))
        case "blank":
            return what, draw(st.sampled_from((b"", b"  ", b"\r", b"\x00\x00", b"\xef\xbb\xbf", b"\xc2\xa0")))
        case _:
            return draw(st.sampled_from(("glued", "nul", "bom", "crlf", "spaced"))), draw(entries())


def logs(*, most: int = 12) -> st.SearchStrategy[bytes]:
    """Give whole logs, most often with a header, sometimes without their last newline."""
    first = st.one_of(st.just([("header", header())]), st.just([]), pieces().map(lambda piece: [piece]))
    body = st.lists(pieces(), max_size=most)
    ending = st.sampled_from((b"\n", b"\n", b"\n", b"", b"\x00" * 9))
    return st.builds(lambda start, rest, end: written([*start, *rest], end), first, body, ending)


def written(drawn: list[tuple[str, Any]], ending: bytes = b"\n") -> bytes:
    """Write the lines that were drawn."""
    done: list[bytes] = []
    last: Any = None
    for what, made in drawn:
        if isinstance(made, dict):
            value = {name: last if name == "parentId" and inner == _LAST else inner for name, inner in made.items()}
            last = value.get("id", last)
            done.append(_dressed(what, line(value)))
        elif what == "repeat":
            done.append(done[made % len(done)] if done else b"")
        else:
            done.append(made)
    return b"\n".join(done) + ending


def _dressed(what: str, raw: bytes) -> bytes:
    other = json.dumps({"type": "custom", "id": "0000000e", "parentId": None}).encode()
    dresses = {"glued": raw + other, "nul": b"\x00" * 3 + raw, "bom": b"\xef\xbb\xbf" + raw, "crlf": raw + b"\r"}
    return dresses.get(what, b" " + raw + b"\t" if what == "spaced" else raw)
