"""References: given out by us, short-lived, and asked again for what they stand for."""

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from asking import reference_to, refused
from children import HOLD, finished, go_on, started
from logs import about, entry, header, lines, message, talk
from worlds import World

from recall.evidence import Place
from recall.references import MOST_LIVE, VALID_MS, MemoryReferences, Reference

Json = dict[str, Any]


@pytest.fixture
def asked(made: World) -> tuple[World, str]:
    """Give a world of two branches, the leaf on the first, and a reference to entry 4 of it."""
    made.log("s", *talk(4, about("okapi")), message(5, 2, "turn 5 okapi, aside"), message(6, 4, "the leaf"))
    made.log("t", message(1, None, "another session"))
    return made, made.search('"turn 4"')["hits"][0]["sourceRef"]


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "h_",
        "h_" + "0" * 22,
        "x" * 5000,
        "../../etc/passwd",
        "00000004",
        "s:00000004",
        "\ud83d",
        None,
        7,
        ["h"],
        b"h",
    ],
)
def test_only_references_that_were_given_out_are_read(asked: tuple[World, str], forged: Any) -> None:
    """No path, no id and no guess is a reference."""
    assert refused(asked[0].read(forged), "reference-unavailable")


def test_one_changed_character_is_another_reference(asked: tuple[World, str]) -> None:
    """A reference is taken to the letter."""
    made, reference = asked
    assert made.read(reference)["verified"]
    for other in (reference[:-1] + "x", reference + " ", " " + reference, reference.upper(), reference[:-1]):
        assert refused(made.read(other), "reference-unavailable")


def test_a_reference_lives_ten_minutes(asked: tuple[World, str]) -> None:
    """A reference is valid for 600 seconds and not a millisecond longer."""
    made, reference = asked
    made.now += VALID_MS - 1
    assert made.read(reference)["verified"]
    made.now += 1
    assert refused(made.read(reference), "reference-unavailable")
    assert VALID_MS == 600_000


def test_a_reference_belongs_to_its_session(asked: tuple[World, str]) -> None:
    """From another current session, or none, the reference is unknown."""
    made, reference = asked
    made.session = "t"
    assert refused(made.read(reference), "reference-unavailable")
    made.session = "nowhere"
    assert refused(made.read(reference), "reference-unavailable")


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_the_scope_is_asked_again(asked: tuple[World, str], indexed: bool) -> None:
    """An entry that is no ancestor any more because the leaf moved is out of a branch reference's scope."""
    made, reference = asked
    if not indexed:
        made.without_index()
    made.leaf = "00000005"
    assert refused(made.read(reference), "reference-unavailable")
    made.leaf = None
    assert made.read(reference)["relation"] == "ancestor"
    made.append("s", lines(message(7, 5, "the log goes on aside")))
    assert refused(made.read(reference), "reference-unavailable")


def test_a_session_reference_outlives_the_branch(asked: tuple[World, str]) -> None:
    """In session scope an entry stays readable when the leaf moves, and is labelled anew."""
    made, _ = asked
    reference = reference_to(made, '"turn 4"', scope="current-session")
    made.leaf = "00000005"
    assert made.read(reference)["relation"] == "other-branch"


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_what_was_edited_out_is_read_with_its_label(made: World, indexed: bool) -> None:
    """An entry that a context edit omits is read in session scope with its label, and is out of the branch's."""
    made.log("s", *talk(3, about("okapi")), message(4, 3, "the leaf"))
    if not indexed:
        made.without_index()
    in_branch = reference_to(made, '"turn 2"')
    in_session = reference_to(made, '"turn 2"', scope="current-session")
    assert "contextEdit" not in made.read(in_session)
    made.append("s", lines(entry("context_edit", 5, 4, targetId="00000002", replacement=None)))
    assert refused(made.read(in_branch), "reference-unavailable")
    read = made.read(in_session)
    assert (read["contextEdit"], read["relation"], read["text"]) == ("omitted", "ancestor", "turn 2 okapi")


@pytest.mark.parametrize(
    "change",
    [
        lambda made: setattr(made, "excluded", frozenset({"t"})),
        lambda made: setattr(made, "visibility", made.visibility._replace(hidden_sessions=frozenset({"t"}))),
        lambda made: setattr(made, "trusted", False),
        lambda made: made.values.update({"historyTools.allowProjectScope": False}),
        lambda made: made.values.update({"historyTools.maxProjectSessions": 1}),
        lambda made: setattr(made, "project", "/elsewhere"),
    ],
    ids=["excluded", "removed", "untrusted", "disallowed", "capped", "project"],
)
def test_a_sibling_s_reference_needs_all_that_the_search_needed(made: World, change: Callable[[World], object]) -> None:
    """Exclusion, removal, trust, settings and project are asked again at the moment of reading."""
    made.values["historyTools.allowProjectScope"] = True
    made.log("t", message(1, None, "okapi"))
    made.log("s", message(1, None, "here"))
    reference = reference_to(made, scope="project")
    assert made.read(reference)["relation"] == "sibling-session"
    change(made)
    assert refused(made.read(reference), "reference-unavailable")


def test_a_reference_of_another_session_of_the_project_is_foreign(made: World) -> None:
    """Who may search the project himself still cannot read by a reference that another session was given."""
    made.values["historyTools.allowProjectScope"] = True
    made.log("t", message(1, None, "okapi"))
    made.log("s", message(1, None, "here"))
    reference = reference_to(made, scope="project")
    made.session = "t"
    assert refused(made.read(reference), "reference-unavailable")
    assert made.read(reference_to(made, scope="project"))["verified"]


def test_everywhere_is_asked_again_too(made: World) -> None:
    """Who is no owner any more reads nothing by a reference of an owner's search."""
    made.log("t", message(1, None, "okapi"), cwd="/elsewhere")
    made.log("s", message(1, None, "here"))
    reference = reference_to(made, scope="everywhere")
    assert made.read(reference)["verified"]
    made.owner = False
    assert refused(made.read(reference), "reference-unavailable")


def test_a_sibling_that_became_another_project_s_is_not_read(made: World) -> None:
    """The header is held against the project when the bytes are read."""
    made.values["historyTools.allowProjectScope"] = True
    raw = message(1, None, "okapi")
    made.log("t", raw, cwd="/home/dev/proj")
    made.log("s", message(1, None, "here"))
    reference = reference_to(made, scope="project")
    made.write("t", lines(header("/home/dev/pro2", "t"), raw))
    assert made.read(reference)["status"] == "unavailable"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"start_line": 0}, "invalid-range"),
        ({"start_line": "1"}, "invalid-range"),
        ({"start_column": 0}, "invalid-range"),
        ({"max_lines": 0}, "invalid-range"),
        ({"max_lines": 201}, "invalid-range"),
        ({"max_lines": True}, "invalid-range"),
        ({"max_output_tokens": 255}, "invalid-budget"),
        ({"max_output_tokens": 6001}, "invalid-budget"),
        ({"start_line": 2}, "range-out-of-bounds"),
        ({"start_column": 14}, "range-out-of-bounds"),
        ({"start_line": 10**9}, "range-out-of-bounds"),
    ],
)
def test_an_invalid_range_is_refused_by_its_code(asked: tuple[World, str], given: Json, code: str) -> None:
    """Lines, columns and budgets out of range are refused, and nothing is read."""
    made, reference = asked
    assert made.read(reference)["text"] == "turn 4 okapi"
    assert refused(made.read(reference, **given), code)


def test_a_read_waits_for_nobody(asked: tuple[World, str]) -> None:
    """While another process holds the index a reference is read all the same, and its scope asked of the log."""
    made, reference = asked
    made.append("s", lines(message(7, 6, "the log goes on")))
    holder = started(HOLD, made.index_folder, "begin immediate")
    assert made.read(reference)["verified"]
    made.append("s", lines(message(8, 5, "the log goes on aside")))
    assert refused(made.read(reference), "reference-unavailable")
    finished(go_on(holder))


def some_reference(number: int) -> Reference:
    """Make a reference to nothing in particular."""
    return Reference("/s.jsonl", "current-branch", Place("/s.jsonl", "s", number, 1, b"", number))


def table(now: list[int]) -> MemoryReferences:
    """Make a table whose clock the test moves."""
    issued = iter(range(10**6))
    return MemoryReferences(lambda: now[0], lambda: f"h_{next(issued)}")


def test_at_most_512_references_live() -> None:
    """The oldest references make room; the newest 512 all stand for their entries."""
    references = table([0])
    names = [references.issue([some_reference(number)])[0] for number in range(600)]
    assert [references.find(name) for name in names] == [
        some_reference(number) if number >= 600 - MOST_LIVE else None for number in range(600)
    ]
    assert MOST_LIVE == 512


def test_expired_references_make_room_first() -> None:
    """What has expired counts no more."""
    now = [0]
    references = table(now)
    old = references.issue([some_reference(number) for number in range(500)])
    now[0] = VALID_MS
    new = references.issue([some_reference(number) for number in range(512)])
    assert not any(references.find(name) for name in old)
    assert all(references.find(name) for name in new)


def test_references_are_not_kept_in_the_clear() -> None:
    """The table holds digests: whoever sees it cannot read a reference out of it."""
    references = table([0])
    name = references.issue([some_reference(1)])[0]
    assert name not in json.dumps([key.hex() for key in references._live]) + repr(references._live)


def test_a_named_pipe_in_the_place_of_a_log_waits_for_nobody(made: World) -> None:
    """A log that has become a pipe is unavailable at once."""
    made.values["historyTools.allowProjectScope"] = True
    made.log("s", message(1, None, "here"))
    made.log("t", message(1, None, "okapi"))
    reference = reference_to(made, scope="project")
    made.delete("t")
    os.mkfifo(made.path("t"))
    try:
        assert made.read(reference)["status"] == "unavailable"
        assert made.search("okapi", scope="project")["hits"] == []
    finally:
        os.unlink(made.path("t"))
