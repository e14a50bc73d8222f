"""Compactions, edits, settings and projections: each rule of a resolved context by itself."""

from pathlib import Path
from typing import Any

import pytest
from resolved_contexts import edited, refusal, resolved, texts
from session_logs import MILLIS, chain, entry, header, said

from foundation.canonical import dumps


def test_level_and_model_are_the_last_on_the_whole_path(tmp_path: Path) -> None:
    """Also what was set before a compaction holds; an answer names its model as a change does."""
    lines = [
        header(),
        entry("t", None, "thinking_level_change", thinkingLevel="high"),
        entry("m", "t", "model_change", provider="p", modelId="one"),
        entry("c", "m", "compaction", summary="s", firstKeptEntryId="c", tokensBefore=1),
    ]
    found = resolved(tmp_path, *lines)
    assert (found.thinking_level, found.model) == ("high", {"provider": "p", "modelId": "one"})
    again = entry("t2", "c", "thinking_level_change", thinkingLevel="low")
    assert resolved(tmp_path, *lines, again, entry("m2", "t2", "model_change", provider="z", modelId="three"))[2:4] == (
        "low",
        {"provider": "z", "modelId": "three"},
    )
    answered = resolved(tmp_path, *lines, said("a", "c", "x", "assistant", provider="q", model="two"))
    assert answered.model == {"provider": "q", "modelId": "two"}
    assert resolved(tmp_path, *lines, entry("n", "c", "model_change")).model == {}


def compacted(*, kept: Any, more: list[dict[str, Any]] | None = None, **body: Any) -> list[dict[str, Any]]:
    """Give a branch of a system message and two turns, a compaction and a turn after it."""
    lines = [header(), said("sys", None, "prompt", "system"), said("a", "sys", "A"), said("b", "a", "B")]
    lines += [*(more or []), entry("c", (more or lines)[-1]["id"], "compaction", summary="S", tokensBefore=7, **body)]
    if kept is not None:
        lines[-1]["firstKeptEntryId"] = kept
    return [*lines, said("d", "c", "D")]


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("b", ["S", "B", "D"]), ("a", ["S", "A", "B", "D"]), ("sys", ["S", "A", "B", "D"]), ("c", ["S", "D"]),
        ("gone", ["S", "D"]), (None, ["S", "D"]), ("d", ["S", "D"]), (5, ["S", "D"]), ({}, ["S", "D"]),
    ],
)  # fmt: skip
def test_a_compaction_stands_for_all_before_what_it_kept(tmp_path: Path, kept: Any, expected: list[str]) -> None:
    """The summary comes first; a kept entry that is missing, later or the compaction itself keeps nothing."""
    assert texts(resolved(tmp_path, *compacted(kept=kept))) == expected


def test_a_kept_entry_off_the_path_keeps_nothing(tmp_path: Path) -> None:
    """An entry of another branch is no place to go on from."""
    lines = compacted(kept="side")
    assert texts(resolved(tmp_path, lines[0], said("side", None, "side"), *lines[1:])) == ["S", "D"]


def test_only_system_messages_before_the_compaction_are_dropped(tmp_path: Path) -> None:
    """The prompt of a compaction travels with it; later ones stay."""
    system = {"role": "system", "content": "folded"}
    lines = compacted(kept="sys", systemMessage=system)
    found = resolved(tmp_path, *lines, said("e", "d", "later", "system"))
    assert found.messages[0] == system
    assert [message["role"] for message in found.messages] == [
        "system", "compactionSummary", "user", "user", "user", "system",
    ]  # fmt: skip
    assert found.sources == ("c", "c", "a", "b", "d", "e")


def test_only_the_last_compaction_counts(tmp_path: Path) -> None:
    """An older one gives nothing, also where it lies within what the last one kept."""
    older = entry("old", "b", "compaction", summary="old", firstKeptEntryId="a", tokensBefore=1)
    assert texts(resolved(tmp_path, *compacted(kept="b", more=[older]))) == ["S", "B", "D"]


def test_a_summary_of_a_branch_needs_words(tmp_path: Path) -> None:
    """An empty summary is no message."""
    lines = [*chain(1), entry("s", "e0", "branch_summary", fromId="x", summary="over there")]
    assert resolved(tmp_path, *lines).messages[1] == {
        "role": "branchSummary", "summary": "over there", "fromId": "x", "timestamp": MILLIS,
    }  # fmt: skip
    assert texts(resolved(tmp_path, *lines, entry("s", "e0", "branch_summary", fromId="x", summary=""))) == ["text 0"]


def test_a_custom_message_has_only_the_keys_that_are_there(tmp_path: Path) -> None:
    """JSON leaves out what is undefined; missing content is empty, a time that is no date is null."""
    bare = {**entry("m", None, "custom_message"), "timestamp": "soon"}
    assert resolved(tmp_path, header(), bare).messages == [{"role": "custom", "content": [], "timestamp": None}]
    full = entry("m", None, "custom_message", details=None, display=False, content="c", customType="x")
    assert dumps(resolved(tmp_path, header(), full).messages) == (
        f'[{{"role":"custom","customType":"x","content":"c","display":false,"details":null,"timestamp":{MILLIS}}}]'
    )


@pytest.mark.parametrize("kind", ["usage", "custom", "label", "session_info", "novel", "context_edit", 5, None])
def test_other_entries_say_nothing(tmp_path: Path, kind: Any) -> None:
    """What is no message is on the path and not in the context."""
    assert texts(resolved(tmp_path, *chain(1), {**entry("x", "e0", "x", data="x"), "type": kind})) == ["text 0"]


@pytest.mark.parametrize(
    ("role", "replacement", "content"),
    [
        ("user", {"content": "new"}, "new"),
        ("custom", {"content": "new"}, "new"),
        ("assistant", {"content": "new"}, [{"type": "text", "text": "new"}]),
        ("toolResult", {"content": "new"}, [{"type": "text", "text": "new"}]),
        ("assistant", {"content": []}, []),
        ("user", {"content": None}, None),
        ("bashExecution", {"content": "new"}, [{"type": "text", "text": "old"}]),
        ("system", {"content": "new"}, [{"type": "text", "text": "old"}]),
    ],
)
def test_an_edit_replaces_content_where_it_may(tmp_path: Path, role: str, replacement: Any, content: Any) -> None:
    """Text becomes a block where the role needs blocks; other roles cannot be edited."""
    assert resolved(tmp_path, *edited(role, replacement)).messages[0]["content"] == content


def test_an_edit_can_take_a_message_away(tmp_path: Path) -> None:
    """Null omits the entry, whatever its role."""
    assert resolved(tmp_path, *edited("user", None)).messages == []
    assert resolved(tmp_path, *edited("system", None)).messages == []


@pytest.mark.parametrize("replacement", [{}, 0, "text", False, []])
def test_an_edit_without_content_leaves_none(tmp_path: Path, replacement: Any) -> None:
    """A malformed replacement takes the key away, as undefined does."""
    assert "content" not in resolved(tmp_path, *edited("user", replacement)).messages[0]


def test_an_edit_without_a_replacement_is_refused_where_pi_fails(tmp_path: Path) -> None:
    """Pi fails on it only where it has a message to edit."""
    lines = edited("user", None)
    del lines[2]["replacement"]
    assert refusal(tmp_path, *lines) == "entry-broken"
    lines = edited("system", None)
    del lines[2]["replacement"]
    assert texts(resolved(tmp_path, *lines)) == ["old"]


def test_the_last_edit_within_the_context_counts(tmp_path: Path) -> None:
    """Edits of another branch or from before the kept entries are forgotten."""
    other = [entry("y", "x", "context_edit", targetId="m", replacement={"content": "newer"})]
    assert resolved(tmp_path, *edited("user", None), *other).messages[0]["content"] == "newer"
    assert texts(resolved(tmp_path, *edited("user", None), leaf="m")) == ["old"]
    lines = compacted(kept="b")
    edit = entry("x", "a", "context_edit", targetId="b", replacement=None)
    lines[3]["parentId"] = "x"
    assert texts(resolved(tmp_path, *lines[:3], edit, *lines[3:])) == ["S", "B", "D"]
