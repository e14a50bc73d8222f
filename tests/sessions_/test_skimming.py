"""One strict pass over a log: the same entries as Pi's loader has where all is sound, and the first flaw where not."""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_logs import NAMES, chain, entry, genuine, header, line, log, said, save

from sessions import fingerprint
from sessions.decoding import fast_parser
from sessions.loading import load
from sessions.reading import open_log
from sessions.skimming import Said, Skimmed, said_by, skim


def skimmed(path: str, size: int | None = None) -> Skimmed:
    with open_log(path) as opened:
        return skim(opened, os.path.getsize(path) if size is None else size)


@pytest.mark.parametrize("name", NAMES)
def test_sound_logs_have_the_entries_that_pi_loads(name: str) -> None:
    """A genuine log without a flaw has exactly the steps of the loader, and the digest of its bytes."""
    path, _ = genuine(name)
    found = skimmed(path)
    if found.flaw is not None:
        assert name in {
            "20-v1-raw", "30-truncated-tail", "32-blank-and-garbage", "35-duplicate-ids", "44-non-object-lines",
        }  # fmt: skip
        return
    with open_log(path) as opened:
        assert found.loaded.steps == load(opened, fast_parser()).steps
    data = Path(path).read_bytes()
    assert found.fingerprint == (len(data), sha256(data).hexdigest())


@pytest.mark.parametrize(
    ("lines", "kind", "number"),
    [
        ([], "no-header", 1),
        ([said("a", None, "x")], "no-header", 1),
        ([b"\xef\xbb\xbf" + line(header())], "damaged-line", 1),
        ([header(version=2)], "version", 1),
        ([header(version=None)], "version", 1),
        ([header(version=4)], "version", 1),
        ([header(), b"{broken"], "damaged-line", 2),
        ([header(), b"null"], "damaged-line", 2),
        ([header(), b"[1]"], "damaged-line", 2),
        ([header(), b'{"a":1}{"b":2}'], "damaged-line", 2),
        ([header(), b"\0\0\0"], "damaged-line", 2),
        ([header(), header(id="other")], "second-header", 2),
        ([header(), {"type": "message", "message": {"role": "user"}}], "no-id", 2),
        ([header(), said("a", None, "x") | {"id": 5}], "no-id", 2),
        ([header(), said("a", None, "x") | {"parentId": 5}], "bad-parent", 2),
        ([header(), said("a", None, "x"), said("a", None, "y")], "conflicting-id", 3),
        ([header(), said("a", None, "x"), said("a", "b", "x")], "conflicting-id", 3),
    ],
)
def test_the_first_flaw_is_told(tmp_path: Path, lines: list[Any], kind: str, number: int) -> None:
    """Whatever Pi would pass over or take otherwise is named with its line."""
    flaw = skimmed(save(tmp_path, log(*lines))).flaw
    assert flaw is not None
    assert (flaw.kind, flaw.line) == (kind, number)


def test_a_line_without_an_end_is_torn(tmp_path: Path) -> None:
    """Bytes behind the last newline are a flaw, also where they are valid JSON; before them nothing is wrong."""
    data = log(*chain(2))
    path = save(tmp_path, data + line(said("e2", "e1", "x")))
    flaw = skimmed(path).flaw
    assert flaw is not None
    assert (flaw.kind, flaw.line) == ("torn-tail", 4)
    assert skimmed(path, len(data)).flaw is None


def test_what_an_old_pi_writes_twice_counts_once(tmp_path: Path) -> None:
    """Repeats of header and entries, byte for byte, add nothing; the last line is still the leaf."""
    lines = [*chain(3), entry("n", "e2", "session_info", name="one")]
    found = skimmed(save(tmp_path, log(*lines, *lines, said("e3", "n", "more"), lines[1])))
    assert found.flaw is None
    assert [step.id for step in found.loaded.steps] == ["e0", "e1", "e2", "n", "e3"]
    assert (found.last, found.named) == (0, 3)


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    """White space, also JavaScript's own, is no damage."""
    found = skimmed(save(tmp_path, log(header(), b"", b"  \t\r", "\u00a0\ufeff".encode(), said("a", None, "x"))))
    assert found.flaw is None
    assert [step.id for step in found.loaded.steps] == ["a"]


CALL = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "assistant", "content": [CALL], "stopReason": "toolUse"}, Said(("c1",))),
        ({"role": "assistant", "content": [{"type": "text", "text": "\ud83d"}, CALL], "stopReason": "aborted"}, Said(("c1",), None, stopped=True)),
        ({"role": "assistant", "content": ["bare", CALL, CALL], "stopReason": "error"}, Said(("c1", "c1"), None, stopped=True)),
        ({"role": "assistant", "content": [{**CALL, "id": 1}]}, Said((("number", 1.0),))),
        ({"role": "assistant", "content": "text"}, None),
        ({"role": "assistant"}, None),
        ({"role": "toolResult", "toolCallId": "c1", "content": []}, Said((), "c1")),
        ({"role": "toolResult", "toolCallId": {}}, Said((), None)),
        ({"role": "user", "content": [CALL]}, None),
        ({"role": 5}, None),
    ],
)  # fmt: skip
def test_calls_and_results_are_seen(tmp_path: Path, message: Any, expected: Said | None) -> None:
    """The typed pass and a whole reading see the same calls and results, also in lines that only the slow parser reads."""
    found = skimmed(save(tmp_path, log(header(), entry("a", None, "message", message=message))))
    assert found.flaw is None
    assert found.said.get(0) == expected == said_by(message)


@given(st.binary(max_size=300), st.integers(0, 300))
def test_a_prefix_is_named_by_its_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int) -> None:
    """The fingerprint of a prefix is its size and SHA-256, and there is none of a file that is too short."""
    path = tmp_path_factory.mktemp("f") / "log"
    path.write_bytes(data)
    with open_log(str(path)) as opened:
        found = fingerprint.prefix(opened, size)
    assert found == ((size, sha256(data[:size]).hexdigest()) if size <= len(data) else None)
