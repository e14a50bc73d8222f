"""A new session as bytes: every line is what JavaScript would write again, and nothing is left to chance."""

import itertools
import json
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.composing import Written, entry_ids, file_name, line, session, session_id
from sessions.context import resolve
from sessions.decoding import slow_parse

REPEAT = """
const lines = require("fs").readFileSync(0, "utf8").split("\\n").slice(0, -1);
process.stdout.write(lines.map(text => JSON.stringify(JSON.parse(text)) + "\\n").join(""));
"""
texts = st.text(st.characters(codec=None)) | st.sampled_from(
    ["\ud83d", "\udc00x", "\u2028\u2029", "\x7f\x00\x1f", "😀", "</script>"]
)
numbers = (
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([1e21, 1e-7, -0.0, 2**53 + 1])
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(texts | st.sampled_from(["1", "0", "10", "01", "__proto__"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH: the engine itself cannot be asked")
def test_node_writes_every_line_again_byte_for_byte() -> None:
    """`JSON.stringify(JSON.parse(line))` of the real engine is the line: numbers, surrogates, U+2028, order of keys."""
    found: list[bytes] = []

    @given(values)
    def gather(value: Any) -> None:
        found.append(line({"type": "custom", "data": value}))

    gather()
    found.append(line({"type": "custom", "data": Written('{"b":"\u2028é😀"}')}))
    told = subprocess.run(["node", "-e", REPEAT], input=b"".join(found), capture_output=True, check=True)
    assert told.stdout == b"".join(found)
    assert len(found) > 50


@given(values)
def test_a_line_is_one_line_of_json(value: Any) -> None:
    """Whatever the value, it is written without a newline inside, and read back it is written the same."""
    written = line({"type": "custom", "data": value})
    assert written.count(b"\n") == 1
    assert line(slow_parse(written)) == written


def test_a_session_is_a_chain_that_pi_reads(tmp_path: Any) -> None:
    """The header comes first and names its parent; each entry follows the one before; the context is the messages."""
    entries: list[dict[str, Any]] = [
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        {"type": "custom_message", "customType": "x", "content": "hi", "display": False},
    ]
    data = session("id-1", cwd="/p", parent="/s.jsonl", created_at=1795161601000, seed=b"seed", entries=entries)
    head, first, second = (json.loads(text) for text in data.splitlines())
    assert list(head) == ["type", "version", "id", "timestamp", "cwd", "parentSession"]
    assert (first["parentId"], second["parentId"]) == (None, first["id"])
    assert list(first)[:4] == ["type", "id", "parentId", "timestamp"]
    path = tmp_path / file_name("id-1", 1795161601000)
    path.write_bytes(data)
    context = resolve(str(path))
    assert (context.thinking_level, [message["content"] for message in context.messages]) == ("high", ["hi"])


def test_names_and_ids_are_derived(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed gives the same ids, another one others; a file is named as Pi names files."""
    assert session_id(b"a") == session_id(b"a") != session_id(b"b")
    assert [len(group) for group in session_id(b"a").split("-")] == [8, 4, 4, 4, 12]
    ids = list(itertools.islice(entry_ids(b"a"), 5000))
    assert len(set(ids)) == 5000
    assert all(len(name) == 8 for name in ids)
    assert file_name("id", 1795161601000) == "2026-11-20T08-00-01-000Z_id.jsonl"
    monkeypatch.setattr("sessions.composing._ID_DIGITS", 2)
    assert len(set(itertools.islice(entry_ids(b"a"), 200))) == 200
