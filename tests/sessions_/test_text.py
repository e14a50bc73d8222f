"""What of an entry can be searched: everything that was said, nothing that is private, ours, or no text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_logs import entry, said

from foundation.marks import ANSWER_START, HANDOFF_TYPES, OUTPUT_LINE, TOOL_NAMES
from sessions import entries
from sessions.text import searchable


def tools(value: dict[str, Any]) -> tuple[str, ...]:
    """Name the tools that an entry calls or answers for."""
    return entries.entry(value, "a", None).tools


def blocks(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return entry("a", None, "message", message={"role": role, "content": list(content), **more})


def call(name: Any, arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": "c", "name": name, "arguments": arguments}


@pytest.mark.parametrize("role", ["user", "assistant", "toolResult", "custom", "hookMessage"])
def test_what_was_said_is_searchable_whoever_said_it(role: str) -> None:
    """Text counts as a string or in blocks, for every role that speaks."""
    assert searchable(said("a", None, "hello", role)) == "hello"
    assert searchable(entry("a", None, "message", message={"role": role, "content": "hello"})) == "hello"


def test_a_shell_command_of_the_user_is_searchable_with_its_output() -> None:
    """What the user ran and what came of it can be found."""
    message = {"role": "bashExecution", "command": "ls", "output": "a.txt", "excludeFromContext": True}
    assert searchable(entry("a", None, "message", message=message)) == "$ ls\na.txt"


@pytest.mark.parametrize("kind", ["compaction", "branch_summary"])
def test_summaries_are_searchable(kind: str) -> None:
    """A summary is text of its own; whether it is searched is the request's choice."""
    assert searchable(entry("a", None, kind, summary="so far", details={"readFiles": ["secret"]})) == "so far"


def test_custom_messages_are_searchable() -> None:
    """What an extension said to the model can be found."""
    assert searchable(entry("a", None, "custom_message", customType="x", content="note", details={"d": 1})) == "note"


@pytest.mark.parametrize(
    "value",
    [
        blocks("assistant", {"type": "thinking", "thinking": "hidden", "thinkingSignature": "hidden"}),
        blocks("assistant", {"type": "text", "text": "", "textSignature": "hidden"}),
        blocks("toolResult", details={"hidden": "hidden"}, toolName="bash"),
        blocks("system", {"type": "text", "text": "hidden"}),
        blocks("branchSummary", summary="hidden"),
        blocks("novel", {"type": "text", "text": "hidden"}),
        blocks("user", {"type": "novel", "text": "hidden"}),
        entry("a", None, "custom", data={"text": "hidden"}),
        entry("a", None, "label", label="hidden"),
        entry("a", None, "session_info", name="hidden"),
        entry("a", None, "usage", note="hidden"),
        entry("a", None, "context_edit", replacement={"content": "hidden"}),
        entry("a", None, "novel", text="hidden"),
    ],
)
def test_what_is_private_or_no_speech_is_never_searchable(value: dict[str, Any]) -> None:
    """Thinking, signatures, details, state of extensions and unknown types stay out."""
    assert searchable(value) == ""


def test_a_tool_call_is_searchable_by_name_and_decoded_arguments() -> None:
    """Arguments are text, not JSON: escapes, brackets and quotes do not stand between a person's words and a hit."""
    arguments = {"path": "C:\\tmp", "edits": [{"old": 'say "é"', "new": 1.5}], "all": True, "none": None, "n": 7}
    text = searchable(blocks("assistant", {"type": "text", "text": "go"}, call("edit", arguments)))
    assert text == 'go\nedit\npath: C:\\tmp\nedits.old: say "é"\nedits.new: 1.5\nall: true\nn: 7'


def test_arguments_nested_without_end_are_cut_at_a_fixed_depth() -> None:
    """No depth of a tool's arguments makes reading them fail."""
    lists: Any = "deep"
    names: Any = "deep"
    for _ in range(3000):
        lists, names = [lists], {"b": names}
    assert searchable(blocks("assistant", call("x", {"top": "here", "a": lists, "b": names}))) == "x\ntop: here"


@pytest.mark.parametrize(
    ("size", "note"),
    [
        (5_000_000, "[image/png 3.7 MB]"),
        (1600, "[image/png 1.2 kB]"),
        (400, "[image/png 300 B]"),
        (0, "[image/png 0 B]"),
    ],
)
def test_an_image_is_its_kind_and_size(size: int, note: str) -> None:
    """Five megabytes of base64 become one short note."""
    assert searchable(blocks("user", {"type": "image", "mimeType": "image/png", "data": "A" * size})) == note


def test_an_image_without_its_fields_is_still_an_image() -> None:
    """A damaged image block costs nothing."""
    assert searchable(blocks("user", {"type": "image", "data": 5})) == "[image 0 B]"


@pytest.mark.parametrize("name", TOOL_NAMES)
def test_our_own_tools_are_no_source(name: str) -> None:
    """Neither a call of our tools nor its answer can be found again; that such a tool was used stays known."""
    asked = blocks("assistant", {"type": "text", "text": "looking"}, call(name, {"query": "needle"}))
    assert searchable(asked) == "looking"
    assert tools(asked) == (name,)
    assert searchable(blocks("toolResult", {"type": "text", "text": "needle"}, toolName=name)) == ""


@pytest.mark.parametrize("kind", HANDOFF_TYPES)
def test_our_own_handoffs_are_no_source(kind: str) -> None:
    """A handoff quotes another session and is not found a second time."""
    assert searchable(entry("a", None, "custom_message", customType=kind, content="quoted")) == ""
    assert searchable(blocks("custom", {"type": "text", "text": "quoted"}, customType=kind)) == ""


def test_our_own_output_is_left_out_of_a_shell_tools_result() -> None:
    """What our command printed does not come back as a find, what was printed before it does."""
    human = f"building\n{OUTPUT_LINE}\nneedle"
    answer = f'before\n  {ANSWER_START}history-result-v1","hits":["needle"]}}\nafter'
    assert searchable(blocks("toolResult", {"type": "text", "text": human}, toolName="bash")) == "building\n"
    assert searchable(blocks("toolResult", {"type": "text", "text": answer}, toolName="bash")) == "before\nafter"
    shell = {"role": "bashExecution", "command": "pi-context x", "output": human}
    assert searchable(entry("a", None, "message", message=shell)) == "$ pi-context x\nbuilding\n"


def test_what_a_person_quotes_of_our_output_stays() -> None:
    """Only tools echo; a user who pastes our line has said it."""
    assert OUTPUT_LINE in searchable(said("a", None, f"look: {OUTPUT_LINE} x"))


def test_tools_are_named_once_each_in_order() -> None:
    """A filter by tool sees every tool that an entry calls or answers for."""
    assert tools(blocks("assistant", call("b", {}), call("a", {}), call("b", {}), call(5, {}), "x")) == ("b", "a")
    assert tools(blocks("toolResult", toolName="bash")) == ("bash",)
    assert tools(blocks("toolResult", toolName=None)) == ()
    assert tools(blocks("user", call("a", {}))) == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["type", "message", "role", "content", "text", "name", "arguments", "toolName", "summary", "data", "customType"]
)
WORDS = st.sampled_from(["message", "user", "assistant", "text", "toolCall", "image", "compaction", "toolResult"])


@given(st.recursive(JSON | WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner)))
def test_no_shape_of_an_entry_makes_reading_its_text_fail(value: Any) -> None:
    """Fields of any type, anywhere, give text or none."""
    entry_value = {"type": "message", "message": value} if not isinstance(value, dict) else value
    assert isinstance(searchable(entry_value), str)
    assert all(isinstance(name, str) for name in tools(entry_value))
