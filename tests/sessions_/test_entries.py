"""Records become entries: ids and parents of every version, roles, times and headers as Pi accepts them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_logs import MILLIS, STAMP, entry, header, said

from foundation import clock
from foundation.texts import RawText
from sessions import entries
from sessions.entries import Chain, Header


def test_a_header_is_read_with_all_it_says() -> None:
    """The header gives id, version, time, project and parent session."""
    value = header(parentSession="/logs/old.jsonl", other=1)
    assert entries.header(value) == Header("s-1", 3, MILLIS, "/home/dev/proj", "/logs/old.jsonl")


@pytest.mark.parametrize("value", [{}, header(id=5), header(id=None), said("a", None, "x"), {"type": ["session"]}])
def test_what_pi_would_not_take_for_a_header_is_none(value: dict[str, Any]) -> None:
    """Only a session record with a string for its id is a header."""
    assert entries.header(value) is None


@pytest.mark.parametrize(
    ("version", "read"),
    [
        (3, 3), (1, 1), (2, 2), (99, 99), (2.5, 2), (1.9, 1), (1e400, 1_000_000), (-5, 0), (10**30, 1_000_000),
        ("3", 3), (" 2 ", 2), ("0x2", 2), ("", 0), ("abc", 3), (True, 1), (False, 0), ([3], 3), ([], 0), ({}, 3),
        ([1, 2], 3),
    ],
)  # fmt: skip
def test_versions_compare_as_in_javascript(version: object, read: int) -> None:
    """A version that is no number migrates exactly where Pi would migrate it."""
    found = entries.header({**header(), "version": version})
    assert found is not None
    assert found.version == read


@pytest.mark.parametrize("value", [header(version=None), {**header(), "version": None}])
def test_a_header_without_a_version_is_of_version_one(value: dict[str, Any]) -> None:
    """The oldest files carry no version."""
    assert entries.header(value) == Header("s-1", 1, MILLIS, "/home/dev/proj", "")


def test_a_header_with_odd_fields_is_read_all_the_same() -> None:
    """Fields of a wrong type count as absent and cost nothing else."""
    odd = {**header(), "cwd": 5, "timestamp": "soon", "parentSession": ["x"]}
    assert entries.header(odd) == Header("s-1", 3, None, "", "")


def test_entries_keep_the_ids_that_they_carry() -> None:
    """From version 2 on the file itself says who follows whom."""
    chain = Chain()
    chain.skip()
    assert [chain.follow(said("a", None, "")), chain.follow(said("b", "a", "")), chain.follow(said("c", "", ""))] == [
        ("a", None),
        ("b", "a"),
        ("c", None),
    ]
    assert (chain.position, chain.last) == (4, "c")


def test_entries_of_version_one_form_a_chain_under_fixed_names() -> None:
    """Entries without ids follow one another, under the same names on every reading."""
    chain = Chain(version=1)
    chain.skip()
    old = {"type": "message", "id": "ignored", "parentId": "ignored"}
    assert [chain.follow(old), chain.follow({}), chain.follow({})] == [
        ("n0000001", None),
        ("n0000002", "n0000001"),
        ("n0000003", "n0000002"),
    ]


@pytest.mark.parametrize("identity", [None, 5, "", ["a"], True])
def test_an_entry_without_a_usable_id_is_named_by_its_place(identity: object) -> None:
    """A missing id does not lose the entry, and the name can be no hexadecimal id of Pi."""
    chain = Chain(position=7, last="before")
    assert chain.follow({"id": identity, "parentId": "up"}) == ("n0000007", "up")
    assert Chain(position=7, last="before").follow({"id": identity}) == ("n0000007", "before")
    with pytest.raises(ValueError, match="invalid literal"):
        int("n0000007", 16)


@given(st.lists(st.sampled_from([{"id": "a"}, {}, {"id": "b", "parentId": "a"}, {"id": 5}]), max_size=12), st.data())
def test_a_chain_goes_on_from_where_it_was_left(values: list[dict[str, Any]], data: st.DataObject) -> None:
    """Position and last id are all that reading on later needs."""
    whole = Chain(version=data.draw(st.sampled_from([1, 2, 3])))
    together = [whole.follow(value) for value in values]
    cut = data.draw(st.integers(0, len(values)))
    first = Chain(version=whole.version)
    parts = [first.follow(value) for value in values[:cut]]
    second = Chain(version=first.version, position=first.position, last=first.last)
    assert parts + [second.follow(value) for value in values[cut:]] == together


@pytest.mark.parametrize(
    ("value", "role"),
    [
        (said("a", None, "x", "user"), "user"),
        (said("a", None, "x", "assistant"), "assistant"),
        (said("a", None, "x", "toolResult"), "toolResult"),
        (said("a", None, "x", "bashExecution"), "bashExecution"),
        (said("a", None, "x", "custom"), "custom"),
        (said("a", None, "x", "hookMessage"), "custom"),
        (said("a", None, "x", "system"), ""),
        (said("a", None, "x", "summary"), ""),
        (said("a", None, "x", "novel"), ""),
        (entry("a", None, "message", message=None), ""),
        (entry("a", None, "message", message={"role": ["user"]}), ""),
        (entry("a", None, "custom_message"), "custom"),
        (entry("a", None, "compaction"), "summary"),
        (entry("a", None, "branch_summary"), "summary"),
        (entry("a", None, "custom"), ""),
        (entry("a", None, "label"), ""),
        ({"type": None}, ""),
        ({}, ""),
    ],
)
def test_roles_are_those_that_a_search_can_ask_for(value: dict[str, Any], role: str) -> None:
    """Each entry has one of the known roles or none; of `hookMessage`, an old name, the new one."""
    assert entries.role_of(value) == role
    assert role in (*entries.ROLES, "")


def test_an_entry_says_who_what_and_when() -> None:
    """All that is known of an entry is read at once."""
    value = said("a", "p", "hello", "assistant")
    value["message"]["content"].append({"type": "toolCall", "name": "bash", "arguments": {"command": "ls"}})
    assert entries.entry(value, "a", "p") == entries.Entry(
        "a", "p", "message", "assistant", MILLIS, ("bash",), RawText("hello\nbash\ncommand: ls"), marked=False
    )


@pytest.mark.parametrize(
    ("value", "marked"),
    [
        (said("a", None, "x"), True),
        (entry("a", None, "custom_message", content="x"), True),
        (said("a", None, "x", "assistant"), False),
        (entry("a", None, "compaction", summary="x"), False),
    ],
)
def test_markers_count_in_user_and_custom_text_only(value: dict[str, Any], *, marked: bool) -> None:
    """A model or a tool cannot set the class of an entry."""
    assert entries.entry(value, "a", None).marked is marked


@pytest.mark.parametrize(
    ("stamp", "inner", "millis"),
    [
        (STAMP, 5, MILLIS),
        (None, MILLIS, MILLIS),
        ("nonsense", MILLIS, MILLIS),
        ("nonsense", None, None),
        (MILLIS, None, MILLIS),
        (True, None, None),
        (1e300, None, None),
        ("2026-11-20T09:00:01+01:00", None, MILLIS),
        ("2026-11-20T08:60:01.000Z", None, None),
        ("2026-11-20T08:00:61.000Z", None, None),
        ("2026-11-20T24:00:00.000Z", None, None),
        ("2026-11-31T08:00:01.000Z", None, None),
        ("2026-11-20T08:00:01.00xZ", None, None),
    ],
)
def test_the_time_is_the_entrys_own_or_else_its_messages(stamp: object, inner: object, millis: int | None) -> None:
    """Version 1 has its times in the messages; what is no time is none."""
    assert entries.timestamp_of({"timestamp": stamp, "message": {"timestamp": inner}}) == millis


@given(st.integers(0, 4_000_000_000_000))
def test_every_time_that_pi_writes_is_read_back(millis: int) -> None:
    """The quick way of reading Pi's form of a time gives what the clock module gives."""
    assert entries.timestamp_of({"timestamp": clock.iso(millis)}) == millis == clock.millis(clock.iso(millis))
