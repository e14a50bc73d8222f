"""The outline of a session: its tree as Pi sees it, and every finding about the file at its place."""

import os
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from odd_sessions import Maker
from session_logs import MILLIS, NAMES, chain, entry, genuine, header, line, log, said, save

from foundation.errors import ContextError
from sessions import tree
from sessions.tree import Finding, Node, Outline, find_id, outline

MIGRATED = "20-v1-raw"
JUNK = "44-non-object-lines"


def outlined(folder: Path, *lines: Any, end: bytes = b"") -> Outline:
    return outline(save(folder, log(*lines) + end))


@pytest.mark.parametrize("name", [name for name in NAMES if name != MIGRATED])
def test_genuine_sessions_have_the_tree_that_pi_gives_them(name: str) -> None:
    """Leaf, branch, labels and name are those of the real SDK; roots and number too where all lines are objects."""
    path, told = genuine(name)
    found = outline(path)
    assert found.leaf == told["leafId"]
    assert [node.id for node in found.path_to(found.leaf)] == told["branch"]
    assert found.labels == told["labels"]
    assert (found.name or None) == told["sessionName"]
    assert found.header is not None
    assert found.header.id == told["sessionId"]
    if name != JUNK:
        assert list(found.roots) == told["roots"]
        assert len(found.entries) == told["entryCount"]
        assert set(found.tips) == {leaf["leafId"] for leaf in told["leaves"] if leaf["isTip"]}


def test_a_session_of_version_one_is_one_chain() -> None:
    """Where Pi would invent random ids, the chain is the same under fixed ones."""
    path, told = genuine(MIGRATED)
    found = outline(path)
    assert len(found.path_to(found.leaf)) == len(found.entries) == told["entryCount"]
    assert found.counts == {"older-version": 1}


def test_an_entry_is_one_row_with_its_place(tmp_path: Path) -> None:
    """A row says who, what, when and where, and nothing of the text."""
    lines = (header(), said("a", None, "hello", "assistant"))
    found = outlined(tmp_path, *lines)
    start = len(log(lines[0]))
    assert found.entries == [Node("a", None, "message", "assistant", MILLIS, 2, start, len(line(lines[1])))]
    assert (found.leaf, found.roots, found.tips, found.size) == ("a", ("a",), ("a",), len(log(*lines)))
    assert found.findings == ()


def test_branches_share_their_ancestors(tmp_path: Path) -> None:
    """Each tip has its own path, children stand in file order, a second root is a root."""
    found = outlined(
        tmp_path,
        header(),
        said("a", None, ""),
        said("b", "a", ""),
        said("c", "a", ""),
        said("d", "c", ""),
        said("e", None, ""),
    )
    assert (found.roots, found.tips, found.leaf) == (("a", "e"), ("b", "d", "e"), "e")
    assert [node.id for node in found.path_to("d")] == ["a", "c", "d"]
    assert {above: [node.id for node in below] for above, below in found.children().items()} == {
        "a": ["b", "c"],
        "c": ["d"],
    }
    assert found.path_to(None) == found.path_to("none") == []


def test_the_leaf_is_the_last_entry_of_any_type(tmp_path: Path) -> None:
    """A label or an unknown type at the end is where Pi goes on from, also without its newline."""
    lines = (*chain(2), entry("l", "e0", "label", targetId="e1", label="here"))
    assert outlined(tmp_path, *lines).leaf == "l"
    assert outlined(tmp_path, *lines, end=line(entry("n", "e1", "novel"))).leaf == "n"
    assert outlined(tmp_path, header()).leaf is None


def test_a_leaf_can_be_asked_for_by_the_start_of_its_id(tmp_path: Path) -> None:
    """A whole id wins over one that only starts so; nothing and several are told apart."""
    path = save(tmp_path, log(header(), said("ab", None, ""), said("abc", "ab", ""), said("abd", "ab", "")))
    assert outline(path, leaf="ab").leaf == "ab"
    assert outline(path, leaf="abc").leaf == "abc"
    for wanted, code in [("x", "entry-not-found"), ("", "entry-not-found"), ("a", "entry-ambiguous")]:
        with pytest.raises(ContextError) as refused:
            outline(path, leaf=wanted)
        assert refused.value.code == code


def test_an_ambiguous_start_names_up_to_five_candidates() -> None:
    """The person sees what to choose from."""
    with pytest.raises(ContextError) as refused:
        find_id([f"a{at}" for at in range(9)], "a")
    assert refused.value.message == "9 entries have an id that starts so, such as a0, a1, a2, a3, a4."


def test_labels_and_name_are_the_last_in_the_file(tmp_path: Path) -> None:
    """A later label replaces an earlier one, an empty one clears it, on whatever branch; so with the name."""

    def label(identity: str, target: str, text: Any) -> dict[str, Any]:
        return entry(identity, "e0", "label", targetId=target, label=text)

    lines = [
        *chain(3),
        label("l1", "e0", "one"),
        label("l2", "e0", "two"),
        label("l3", "e1", "x"),
        label("l4", "e1", ""),
    ]
    lines += [label("l5", "gone", "dead"), label("l6", "e2", 7), entry("n1", "e0", "session_info", name="first")]
    named = outlined(tmp_path, *lines, entry("n2", "e0", "session_info", name="\u00a0 last\ufeff"))
    assert (named.labels, named.name) == ({"e0": "two"}, "last")
    assert outlined(tmp_path, *lines, entry("n2", "e0", "session_info", name="")).name == ""
    assert outlined(tmp_path, *lines, entry("n2", "e0", "session_info")).name == ""


def finding(kind: str, at: int, lines: list[Any], detail: str = "") -> Finding:
    """Say where the line of index `at` stands."""
    offset = len(log(*lines[:at]))
    return Finding(kind, at + 1, offset, len(log(lines[at])) - 1, detail)


CASES: dict[str, tuple[list[Any], list[tuple[str, int, str]]]] = {
    "quarantined lines, each with its reason": (
        [*chain(1), b"{broken", b"5", b'{"a":' + b"[" * 6000 + b"]" * 6000 + b"}"],
        [
            ("quarantined", 2, "invalid-json"),
            ("quarantined", 3, "not-an-object"),
            ("quarantined", 4, "nested-too-deep"),
        ],
    ),
    "a byte-identical repeat": ([*chain(2), chain(2)[1]], [("repeat", 3, "e0")]),
    "one id for two entries": ([*chain(2), said("e0", None, "other!")], [("conflicting-id", 3, "e0")]),
    "one id for two entries of one length": ([*chain(2), said("e0", None, "text 9")], [("conflicting-id", 3, "e0")]),
    "a parent that is not there": ([header(), said("a", "gone", "")], [("orphan", 1, "a")]),
    "a circle of parents": (
        [header(), said("a", "b", ""), said("b", "a", ""), said("c", "c", "")],
        [("cycle", 1, "a"), ("cycle", 3, "c")],
    ),
    "a second header": ([*chain(1), header(id="s-2")], [("extra-header", 2, "")]),
    "a header without an id": ([*chain(1), {"type": "session"}], [("extra-header", 2, "")]),
    "a header that is not first": ([said("a", None, ""), header()], [("late-header", 1, "")]),
    "padding between lines and within": (
        [header(), b"\x00\x00", b"\x00" + line(said("a", None, ""))],
        [("padding", 1, ""), ("padding", 2, "")],
    ),
    "a byte order mark": ([b"\xef\xbb\xbf" + line(header())], [("bom", 0, "")]),
    "an older version": ([header(version=2), said("a", None, "")], [("older-version", 0, "2")]),
    "an entry without an id": ([header(), {"type": "novel", "timestamp": 5}], [("no-id", 1, "n0000001")]),
    "an entry without a time": ([header(), {"type": "novel", "id": "a"}], [("no-timestamp", 1, "a")]),
    "blank lines, which are nothing": ([header(), b"", b"  ", b"\r", b"\xc2\xa0"], []),
    "kept entries off the path, missing or of a wrong type": (
        [
            *chain(2),
            said("side", "e0", ""),
            entry("c1", "e1", "compaction", firstKeptEntryId="side"),
            entry("c2", "c1", "compaction", firstKeptEntryId="gone"),
            entry("c3", "c2", "compaction", firstKeptEntryId=5),
            entry("c4", "c3", "compaction"),
            entry("c5", "c4", "compaction", firstKeptEntryId="e0"),
            entry("c6", "c5", "compaction", firstKeptEntryId="c6"),
        ],
        [("kept-entry-off-path", at, f"c{at - 3}") for at in (4, 5, 6, 7)],
    ),
}


@pytest.mark.parametrize(("lines", "expected"), CASES.values(), ids=CASES.keys())
def test_each_finding_is_told_with_its_place(
    tmp_path: Path, lines: list[Any], expected: list[tuple[str, int, str]]
) -> None:
    """Whatever is wrong with a file is named, with line, offset and length, and nothing else is."""
    found = outlined(tmp_path, *lines)
    assert found.findings == tuple(finding(kind, at, lines, detail) for kind, at, detail in expected)
    assert sum(found.counts.values()) == len(expected)


def test_a_glued_line_is_told_once_at_its_first_record(tmp_path: Path) -> None:
    """However many records ran together, the line is one finding, and all of them are entries."""
    pieces = [line(value) for value in chain(3)]
    found = outlined(tmp_path, pieces[0], b"".join(pieces[1:]))
    assert found.findings == (Finding("glued", 2, len(pieces[0]) + 1, len(pieces[1])),)
    assert [node.offset for node in found.entries] == [len(b"".join(pieces[: at + 1])) + 1 for at in range(3)]


def test_a_torn_tail_is_told_with_its_place(tmp_path: Path) -> None:
    """Bytes after the last newline are reported; a complete entry among them counts, as in Pi."""
    start = len(log(*chain(1)))
    half = outlined(tmp_path, *chain(1), end=b'{"type":"mess')
    assert half.findings == (Finding("torn-tail", 3, start, 13, "invalid-json"),)
    nuls = outlined(tmp_path, *chain(1), end=b"\x00" * 1728)
    assert nuls.findings == (Finding("torn-tail", 3, start, 1728, "padding"),)
    whole = line(said("e1", "e0", ""))
    complete = outlined(tmp_path, *chain(1), end=whole)
    assert complete.findings == (Finding("torn-tail", 3, start, len(whole)),)
    assert complete.leaf == "e1"


def test_a_file_without_a_header_is_outlined_all_the_same(tmp_path: Path) -> None:
    """What Pi refuses can still be looked at, with the reason first."""
    found = outlined(tmp_path, said("a", None, "x"))
    assert (found.header, found.leaf) == (None, "a")
    assert found.findings == (Finding("missing-header", 1, 0, 0),)
    assert outlined(tmp_path).counts == {"missing-header": 1}


def test_of_two_entries_with_one_id_the_later_wins(tmp_path: Path) -> None:
    """Both are listed, but the tree holds the later, as Pi's does; a repeat is one entry and may be the leaf."""
    found = outlined(tmp_path, *chain(2), said("e0", "e1", "changed"), chain(2)[2])
    assert [node.id for node in found.entries] == ["e0", "e1", "e0"]
    assert (found.by_id["e0"].parent, found.leaf) == ("e1", "e1")
    assert found.counts == {"conflicting-id": 1, "repeat": 1, "cycle": 1}


def test_a_circle_never_loops_and_hides_nothing(tmp_path: Path) -> None:
    """Walking up ends, and every entry can be reached from a root."""
    found = outlined(tmp_path, header(), said("a", "c", ""), said("b", "a", ""), said("c", "b", ""), said("d", "b", ""))
    assert [node.id for node in found.path_to("d")] == ["c", "a", "b", "d"]
    assert found.roots == ("a",)
    below = found.children()
    reached, todo = set(), list(found.roots)
    while todo:
        reached.add(todo[0])
        todo = todo[1:] + [node.id for node in below.get(todo[0], [])]
    assert reached == {"a", "b", "c", "d"}


def test_findings_are_listed_up_to_a_number_and_counted_beyond(tmp_path: Path) -> None:
    """A file of nothing but damage does not fill the memory with findings."""
    found = outlined(tmp_path, header(), *[b"x"] * (tree.MOST_FINDINGS + 50))
    assert found.counts == {"quarantined": tree.MOST_FINDINGS + 50}
    assert len(found.findings) == tree.MOST_FINDINGS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**9))
def test_any_file_is_outlined_and_each_place_holds_what_it_says(tmp_path: Path, seed: int) -> None:
    """No damage makes the outline fail; spans and paths hold for whatever is found."""
    data = Maker(seed).session()
    found = outline(save(tmp_path, data))
    assert all(data[node.offset : node.offset + node.length].strip() for node in found.entries)
    assert set(found.roots) <= set(found.by_id)
    assert all(found.path_to(tip)[-1].id == tip for tip in found.tips)
    assert sum(found.counts.values()) == len(found.findings)
    below = found.children()
    todo, reached = list(found.roots), 0
    while todo:
        reached += 1
        todo += [node.id for node in below.get(todo.pop(), [])]
    assert reached == len(found.by_id)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    """What cannot be opened is told apart from what is damaged."""
    with pytest.raises(ContextError) as refused:
        outline(os.path.join(tmp_path, "none.jsonl"))
    assert refused.value.code == "file-missing"


@pytest.mark.slow
def test_a_row_costs_no_more_than_six_hundred_bytes(tmp_path: Path) -> None:
    """The outline of the largest sessions fits beside everything else, while it is made and afterwards."""
    count = 20_000
    body = "x" * 500
    lines = [header(), *(said(f"{at:08x}", f"{at - 1:08x}" if at else None, body) for at in range(count))]
    path = save(tmp_path, log(*lines))
    outline(path)
    tracemalloc.start()
    found = outline(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.entries) == count
    assert most / count < 600 + 4 * 1024 * 1024 / count
    assert sys.getsizeof(found.entries[0]) < 200
