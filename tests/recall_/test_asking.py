"""What a question can ask for besides its words: filters, pages, caps; and what it never finds."""

from typing import Any

import pytest
from logs import about, call, entry, message, stamp, talk
from worlds import World

from foundation.marks import ANSWER_START, HANDOFF_TYPES, OUTPUT_LINE, TOOL_NAMES


def test_forks_give_one_hit_with_its_other_places(made: World) -> None:
    """The same text in forked sessions is one hit, which names some of the other places and counts them."""
    made.values |= {"historyTools.allowProjectScope": True, "historyTools.maxResults": 12}
    told = [message(1, None, "okapi as told before the fork"), message(2, 1, "and the zebra")]
    for name in ("s", "t", "u", "v", "w", "x"):
        made.log(name, *told, message(3, 2, f"okapi only in {name}"))
    made.update()
    answer = made.search("okapi", scope="project")
    assert len(answer["hits"]) == 7
    shared = next(hit for hit in answer["hits"] if "fork" in hit["excerpt"])
    assert len(shared["alsoIn"]) == 3
    assert {place["entryId"] for place in shared["alsoIn"]} == {"00000001"}
    assert shared["sessionId"] not in {place["sessionId"] for place in shared["alsoIn"]}
    assert answer["omitted"] == {"budget": 0, "duplicates": 5}
    assert all("alsoIn" not in hit for hit in answer["hits"] if hit is not shared)


def test_the_current_session_has_the_say_over_its_forks(made: World) -> None:
    """Of equal places the ancestor of the live leaf is the hit."""
    made.values["historyTools.allowProjectScope"] = True
    for name in ("s", "t", "u"):
        made.log(name, message(1, None, "okapi as told before the fork"))
    made.session = "t"
    hit = made.search("okapi", scope="project")["hits"][0]
    assert (hit["sessionId"], hit["relation"]) == ("t", "ancestor")


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_what_was_edited_out_is_found_in_the_session_only(made: World, indexed: bool) -> None:
    """An entry that a context edit omits is in no branch; the session scope finds it with a label."""
    made.log(
        "s",
        *talk(4, about("okapi")),
        entry("context_edit", 5, 4, targetId="00000002", replacement=None),
        entry("context_edit", 6, 5, targetId="00000003", replacement={"content": "other words"}),
        entry("context_edit", 7, 6, targetId="00000004", replacement=None),
        entry("context_edit", 8, 7, targetId="00000004", replacement={"content": "back again"}),
        message(9, 8, "the leaf"),
    )
    if not indexed:
        made.without_index()
    assert sorted(made.found("okapi")) == ["00000001", "00000003", "00000004"]
    hits = {hit["entryId"]: hit.get("contextEdit") for hit in made.search("okapi", scope="current-session")["hits"]}
    assert hits == {"00000001": None, "00000002": "omitted", "00000003": None, "00000004": None}


def test_an_edit_on_another_branch_takes_nothing_out(made: World) -> None:
    """Edits are part of their branch: on another one the entry is as it was."""
    made.log(
        "s", *talk(2, about("okapi")), entry("context_edit", 3, 2, targetId="00000001", replacement=None),
        message(4, 2, "the leaf"),
    )  # fmt: skip
    assert sorted(made.found("okapi")) == ["00000001", "00000002"]
    made.leaf = "00000003"
    assert made.found("okapi") == ["00000002"]


@pytest.fixture(params=["index", "log"])
def mixed(made: World, request: pytest.FixtureRequest) -> World:
    """Give a world with one entry of every kind, searched in the index or in the log."""
    made.log(
        "s",
        message(1, None, "okapi user"),
        message(2, 1, "okapi assistant", "assistant"),
        call(3, 2, "read", path="okapi.txt"),
        message(4, 3, "okapi result", "toolResult", toolName="read"),
        entry("message", 5, 4, message={"role": "bashExecution", "command": "grep okapi", "output": "none"}),
        entry("custom_message", 6, 5, customType="note", content="okapi custom", display=True),
        entry("compaction", 7, 6, summary="okapi summary", firstKeptEntryId="00000001"),
        entry("branch_summary", 8, 7, summary="okapi branch", fromId="root"),
        call(9, 8, "bash", command="ls okapi"),
    )
    made.values["historyTools.maxResults"] = 12
    if request.param == "log":
        made.without_index()
    return made


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, "1234569"),
        ({"include_summaries": True}, "123456789"),
        ({"roles": ["user"]}, "1"),
        ({"roles": ["assistant"]}, "239"),
        ({"roles": ["toolResult", "bashExecution"]}, "45"),
        ({"roles": ["custom"]}, "6"),
        ({"roles": ["summary"]}, "78"),
        ({"tools": ["read"]}, "34"),
        ({"tools": ["bash", "read"]}, "349"),
        ({"tools": ["none"]}, ""),
        ({"roles": ["assistant"], "tools": ["bash"]}, "9"),
        ({"after": stamp(3)}, "4569"),
        ({"before": stamp(3)}, "12"),
        ({"after": stamp(1), "before": stamp(4)}, "23"),
        ({"after": "2026-11-20"}, "1234569"),
        ({"before": "2026-11-20"}, ""),
        ({"after": "2026-11-20T09:00:00+02:00", "before": "2026-11-20T08:00:00.003"}, "12"),
    ],
)
def test_filters_hold(mixed: World, asked: dict[str, Any], found: str) -> None:
    """Roles, tools, dates and summaries narrow the answer to exactly what they say."""
    numbers = [hit["entryId"].lstrip("0") for hit in mixed.search("okapi", scope="current-session", **asked)["hits"]]
    assert "".join(sorted(numbers)) == found


def test_the_setting_includes_summaries(mixed: World) -> None:
    """The setting counts where the question does not say."""
    mixed.values["historyTools.includeSummaries"] = True
    assert len(mixed.found("okapi", scope="current-session")) == 9
    assert len(mixed.found("okapi", scope="current-session", include_summaries=False)) == 7


def test_instants_are_echoed(mixed: World) -> None:
    """Dates of the question come back as the instants that they were taken for."""
    answer = mixed.search("okapi", after="2026-11-19", before="2026-11-21T10:00:00+02:00")
    assert (answer["after"], answer["before"]) == ("2026-11-19T00:00:00.000Z", "2026-11-21T08:00:00.000Z")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"scope": "galaxy"}, "invalid-scope"),
        ({"scope": 7}, "invalid-scope"),
        ({"limit": 0}, "invalid-limit"),
        ({"limit": 13}, "invalid-limit"),
        ({"limit": True}, "invalid-limit"),
        ({"limit": "6"}, "invalid-limit"),
        ({"skip": -1}, "invalid-limit"),
        ({"max_output_tokens": 255}, "invalid-budget"),
        ({"max_output_tokens": 6001}, "invalid-budget"),
        ({"roles": ["system"]}, "invalid-role"),
        ({"roles": "user"}, "invalid-role"),
        ({"roles": [7]}, "invalid-role"),
        ({"tools": [""]}, "invalid-tool"),
        ({"tools": ["x" * 201]}, "invalid-tool"),
        ({"tools": "read"}, "invalid-tool"),
        ({"before": "yesterday"}, "invalid-date"),
        ({"after": 7}, "invalid-date"),
        ({"after": "2026-13-01"}, "invalid-date"),
        ({"after": "x" * 50}, "invalid-date"),
        ({"after": "2026-11-20", "before": "2026-11-20"}, "invalid-date-range"),
    ],
)
def test_an_invalid_field_is_refused_by_its_code(mixed: World, asked: dict[str, Any], code: str) -> None:
    """Each field that is out of its range makes the answer unavailable, and nothing is searched."""
    answer = mixed.search("okapi", **asked)
    assert (answer["status"], answer["code"], answer["coverage"]) == ("unavailable", code, "unknown")
    assert (answer["warnings"], answer["hits"], answer["omitted"]) == ([code], [], {"budget": 0, "duplicates": 0})


def test_skip_goes_on_where_the_last_answer_ended(made: World) -> None:
    """Pages of an answer follow each other without gap or repeat."""
    made.log("s", *talk(20, about("okapi")))
    pages = [made.found("okapi", limit=5, skip=skip) for skip in range(0, 25, 5)]
    assert [len(page) for page in pages] == [5, 5, 5, 5, 0]
    assert len({identity for page in pages for identity in page}) == 20


def test_the_settings_cap_what_is_asked_for(made: World) -> None:
    """The number of hits is the smaller of what was asked for and what the settings allow; six by default."""
    made.log("s", *talk(20, about("okapi")))
    assert len(made.found("okapi")) == 6
    assert len(made.found("okapi", limit=12)) == 6
    assert len(made.found("okapi", limit=2)) == 2
    made.values["historyTools.maxResults"] = 12
    assert len(made.found("okapi")) == 12


def test_switched_off_history_answers_nothing(mixed: World) -> None:
    """With the history tools off, search, read and status are unavailable by one code."""
    reference = mixed.search("okapi")["hits"][0]["sourceRef"]
    mixed.values["historyTools.enabled"] = False
    assert mixed.search("okapi")["code"] == "history-disabled"
    assert mixed.read(reference)["code"] == "history-disabled"
    assert (mixed.status()["code"], mixed.status()["enabled"]) == ("history-disabled", False)


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_we_never_find_ourselves(made: World, indexed: bool) -> None:
    """Our tools, our handoffs and our own output in a shell's are no evidence of anything."""
    quoted = f"{OUTPUT_LINE}\n1. okapi"
    made.log(
        "s",
        call(1, None, TOOL_NAMES[0], query="okapi"),
        message(2, 1, "okapi found", "toolResult", toolName=TOOL_NAMES[0]),
        entry("custom_message", 3, 2, customType=HANDOFF_TYPES[0], content="okapi handed off", display=True),
        message(4, 3, f"$ pi-context\n{quoted}", "toolResult"),
        message(5, 4, f'{ANSWER_START}history-result-v1","hits":["okapi"]}}\nafter', "toolResult"),
        entry("message", 6, 5, message={"role": "bashExecution", "command": "x", "output": quoted}),
        entry("custom", 7, 6, customType="other", data={"text": "okapi"}),
        message(8, 7, "the one okapi that was there"),
    )
    if not indexed:
        made.without_index()
    assert made.found("okapi", scope="current-session") == ["00000008"]
    assert made.found("kapi", scope="current-session") == ["00000008"]
