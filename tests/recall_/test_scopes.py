"""What a scope lets a question look into, who may ask for it, and how its hits are labelled."""

import os
from typing import Any

import pytest
from children import HOLD, finished, go_on, started
from logs import about, call, entry, header, line, lines, message, stamp, talk
from worlds import PROJECT, World

from foundation.marks import ANSWER_START, HANDOFF_TYPES, OUTPUT_LINE, TOOL_NAMES
from recall.wire import project_id


def relations(made: World, query: str, **asked: Any) -> dict[str, str]:
    """Ask, and give each hit's relation by its entry's id, as a plain number."""
    return {hit["entryId"].lstrip("0"): hit["relation"] for hit in made.search(query, **asked)["hits"]}


@pytest.fixture
def forked(made: World) -> World:
    """Give a world with a session of two branches: 1-2-3-4 and 3-5-6, the leaf on the first."""
    made.log(
        "s",
        *talk(4, about("okapi")),
        message(5, 3, "turn 5 okapi, aside"),
        message(6, 5, "turn 6 okapi, aside"),
        message(7, 4, "the leaf"),
    )
    made.values["historyTools.maxResults"] = 12
    return made


def test_many_siblings_do_not_hide_one_ancestor(made: World) -> None:
    """150 other branches with better matches leave the one ancestor that matches alone in the answer."""
    siblings = [message(100 + number, 3, "zebra " * 20 + f"sibling {number}") for number in range(150)]
    made.log("s", *talk(2, about("root")), message(3, 2, "rare zebra stripe"), *siblings, message(900, 3, "the leaf"))
    answer = made.search("zebra")
    assert [hit["entryId"] for hit in answer["hits"]] == ["00000003"]
    assert answer["omitted"] == {"budget": 0, "duplicates": 0}


def test_a_branch_holds_its_ancestors_and_a_session_all(forked: World) -> None:
    """The default scope finds the path to the leaf; the session scope all branches, each hit labelled."""
    assert relations(forked, "okapi") == dict.fromkeys("1234", "ancestor")
    everything = dict.fromkeys("1234", "ancestor") | dict.fromkeys("56", "other-branch")
    assert relations(forked, "okapi", scope="current-session") == everything
    assert forked.search("okapi")["effectiveScope"] == "current-branch"


@pytest.mark.parametrize("indexed", [True, False], ids=["index", "log"])
def test_the_leaf_decides_about_the_branch(forked: World, indexed: bool) -> None:
    """With another leaf the other branch is the current one."""
    if not indexed:
        forked.without_index()
    forked.leaf = "00000006"
    assert relations(forked, "okapi") == dict.fromkeys("12356", "ancestor")
    forked.leaf = "00000002"
    assert relations(forked, "okapi", scope="current-session") == (
        dict.fromkeys("12", "ancestor") | dict.fromkeys("3456", "other-branch")
    )
    forked.leaf = "0000000f"
    assert forked.search("okapi")["code"] == "entry-not-found"


def test_a_lineage_without_rebase_is_its_branch(forked: World) -> None:
    """The lineage of a session that was never rebased is its branch and says so; a bare parent does not count."""
    forked.log("t", message(1, None, "okapi of the parent"))
    forked.write(
        "s", lines(header(identity="s", parentSession=forked.path("t")), message(1, None, "okapi of the child"))
    )
    answer = forked.search("okapi", scope="current-lineage")
    assert [hit["excerpt"] for hit in answer["hits"]] == ["okapi of the child"]
    assert (answer["status"], answer["warnings"]) == ("complete", ["lineage-equals-branch"])
    assert answer["effectiveScope"] == "current-branch"


@pytest.mark.parametrize("scope", ["current-branch", "current-session", "current-lineage"])
def test_no_session_is_said(made: World, scope: str) -> None:
    """Without a current session the scopes that need one are unavailable by their code."""
    answer = made.search("okapi", scope=scope)
    assert (answer["status"], answer["code"], answer["effectiveScope"]) == ("unavailable", "no-session", scope)


# --- project and everywhere -----------------------------------------------------------------------------------


@pytest.fixture
def project(made: World) -> World:
    """Give a world with sessions of two projects whose folders have one name, and the project scope allowed."""
    made.log("s", message(1, None, "okapi mine"))
    made.log("t", message(1, None, "okapi of a sibling"))
    made.log("u", message(1, None, "okapi of another project"), cwd="/home-dev/proj")
    made.log("v", message(1, None, "okapi of nobody"), cwd="")
    made.write("w", lines(message(1, None, "okapi without header")))
    made.values |= {"historyTools.allowProjectScope": True, "historyTools.maxResults": 12}
    return made


def sessions(made: World, query: str, **asked: Any) -> list[str]:
    """Ask, and give the ids of the sessions of the hits, in alphabetical order."""
    return sorted(hit["sessionId"] for hit in made.search(query, **asked)["hits"])


def test_a_project_is_what_headers_say(project: World) -> None:
    """Sessions of another project are never found, though their files lie in the same folder."""
    assert sessions(project, "okapi", scope="project") == ["s", "t"]
    project.update()
    assert sessions(project, "okapi", scope="project") == ["s", "t"]
    assert project.found("another", scope="project") == []
    labels = {hit["sessionId"]: hit["relation"] for hit in project.search("okapi", scope="project")["hits"]}
    assert labels == {"s": "ancestor", "t": "sibling-session"}


def test_links_to_one_folder_are_one_project(made: World) -> None:
    """A working folder that was recorded through a link is the project that it leads to."""
    real, linked = os.path.join(made.root, "real"), os.path.join(made.root, "linked")
    os.mkdir(real)
    os.symlink(real, linked)
    made.log("s", message(1, None, "okapi one"), cwd=linked)
    made.log("t", message(1, None, "okapi two"), cwd=real)
    made.project = real
    made.values["historyTools.allowProjectScope"] = True
    assert sessions(made, "okapi", scope="project") == ["s", "t"]


def test_a_file_that_became_another_project_s_is_not_found(project: World) -> None:
    """A file that is put in the place of a sibling counts by its own header, whatever the index had of the old one."""
    project.update()
    project.replace("t", lines(header("/elsewhere", "x"), message(1, None, "okapi of elsewhere")))
    assert sessions(project, "okapi", scope="project") == ["s"]
    project.write("s", lines(header(identity="s"), message(1, None, "okapi mine"), message(2, 1, "more")))
    assert project.found("elsewhere", scope="project") == []


def test_a_file_that_becomes_another_project_s_under_our_eyes_is_not_found(
    project: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The header is held against the project on the very descriptor that is read."""
    project.update()
    from index import fresh

    real = fresh.bring_up_to_date

    def then_swap(*arguments: Any, **named: Any) -> Any:
        done = real(*arguments, **named)
        monkeypatch.setattr("recall.searching.bring_up_to_date", real)
        swapped = lines(header("/elsewhere", "t"), message(1, None, "okapi of a sibling"))
        project.replace("t", swapped)
        return done

    monkeypatch.setattr("recall.searching.bring_up_to_date", then_swap)
    assert sessions(project, "okapi", scope="project") == ["s"]


def test_project_scope_must_be_allowed_and_trusted(project: World) -> None:
    """Without the setting, or in a project that Pi does not trust, the scope is refused by its code."""
    project.trusted = False
    answer = project.search("okapi", scope="project")
    assert (answer["status"], answer["code"], answer["hits"]) == ("unavailable", "project-not-trusted", [])
    assert project.search("okapi")["status"] == "complete"
    project.values["historyTools.allowProjectScope"] = False
    assert project.search("okapi", scope="project")["code"] == "project-scope-disabled"


def test_everywhere_is_for_the_owner_and_names_projects(project: World) -> None:
    """Only an owner may search everywhere; each hit then names its project."""
    project.owner = False
    assert project.search("okapi", scope="everywhere")["code"] == "owner-act-required"
    project.owner = True
    hits = project.search("okapi", scope="everywhere")["hits"]
    named = {hit["sessionId"]: hit["project"] for hit in hits}
    assert named == {"s": PROJECT, "t": PROJECT, "u": "/home-dev/proj", "v": "", "w": ""}
    assert {hit["projectId"] for hit in hits if hit["sessionId"] in "st"} == {project_id(PROJECT)}


def test_hits_of_a_project_have_its_id_and_not_its_path(project: World) -> None:
    """In project scope a hit carries an opaque project id, and no path of the machine."""
    project.remote()
    for hit in project.search("okapi", scope="project")["hits"]:
        assert hit["projectId"] == project_id(PROJECT)
        assert "project" not in hit
    assert PROJECT not in str(project.search("okapi", scope="project"))


def test_only_the_newest_sessions_of_a_project_are_searched(made: World) -> None:
    """The cap on sessions takes the newest by their files, the current one first, and is reported when it bites."""
    made.values |= {
        "historyTools.allowProjectScope": True,
        "historyTools.maxProjectSessions": 3,
        "historyTools.maxResults": 12,
    }
    for number in range(6):
        made.log(f"s{number}", message(1, None, f"okapi {number}"))
        made.touch(f"s{number}", seconds=1_790_000_000 + number)
        made.log(f"other{number}", message(1, None, f"okapi of others {number}"), cwd="/elsewhere")
    made.session = "s0"
    answer = made.search("okapi", scope="project")
    assert sorted(hit["sessionId"] for hit in answer["hits"]) == ["s0", "s4", "s5"]
    assert (answer["status"], answer["warnings"]) == ("partial", ["project-session-limit"])
    made.values["historyTools.maxProjectSessions"] = 6
    answer = made.search("okapi", scope="project")
    assert (len(answer["hits"]), answer["status"]) == (6, "complete")


def test_excluded_sessions_are_found_by_nobody_but_themselves(project: World) -> None:
    """The owner's exclusions hold in every scope that reaches other sessions; a session may search itself."""
    project.excluded = frozenset({"t"})
    assert sessions(project, "okapi", scope="project") == ["s"]
    assert "t" not in sessions(project, "okapi", scope="everywhere")
    project.session = "t"
    assert sessions(project, "okapi") == ["t"]
    assert sessions(project, "okapi", scope="project") == ["s", "t"]


def test_removed_sessions_are_found_by_nobody(project: World) -> None:
    """A session that was removed is in no scope that reaches other sessions."""
    project.visibility = project.visibility._replace(hidden_sessions=frozenset({"t"}))
    assert sessions(project, "okapi", scope="project") == ["s"]
    assert "t" not in sessions(project, "okapi", scope="everywhere")


def test_a_needle_deep_in_an_unnamed_session_of_another_project_is_found(made: World) -> None:
    """Content is searched, not titles: turn 57 of a session elsewhere is found everywhere."""
    made.log("s", message(1, None, "here"))
    made.log("far", *talk(100, lambda number: "the needle" if number == 57 else f"hay {number}"), cwd="/far/away")
    hit = made.search("needle", scope="everywhere")["hits"][0]
    assert (hit["sessionId"], hit["entryId"], hit["project"]) == ("far", f"{57:08x}", "/far/away")


@pytest.mark.parametrize("count", [3, 40])
def test_a_project_of_many_sessions_gives_the_best_of_all(made: World, count: int) -> None:
    """However many sessions there are, the only literal hit comes first, and all-words hits before the rest."""
    made.values |= {"historyTools.allowProjectScope": True, "historyTools.maxResults": 4}
    for number in range(count):
        made.log(f"s{number}", *talk(60, about(f"parcel {number}")))
    made.log("old", message(1, None, "a parcel-service, long ago"), message(2, 1, "service of the parcel"))
    made.touch("old", seconds=1_000_000_000)
    made.session = "s0"
    made.update()
    assert made.search("parcel-service", scope="project")["hits"][0]["sessionId"] == "old"
    assert [hit["sessionId"] for hit in made.search("service parcel", scope="project")["hits"][:2]] == ["old", "old"]
    assert len(made.search("parcel", scope="project")["hits"]) == 4


# --- the same text twice -----------------------------------------------------------------------------------------


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


# --- what an edit of the context took out --------------------------------------------------------------------------


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


# --- filters --------------------------------------------------------------------------------------------------------


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


# --- ourselves ------------------------------------------------------------------------------------------------------


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


# --- while the index is behind ----------------------------------------------------------------------------------------


def test_a_branch_that_moved_before_the_index_saw_it_counts(forked: World) -> None:
    """With the index held by another process, the branch is that of the log, not the one that the index knows."""
    forked.update()
    forked.append("s", lines(message(8, 6, "turn 8 okapi, on the other branch now")))
    holder = started(HOLD, forked.index_folder, "begin immediate")
    answer = forked.search("okapi")
    assert {hit["entryId"].lstrip("0"): hit["relation"] for hit in answer["hits"]} == dict.fromkeys(
        "123568", "ancestor"
    )
    assert "index-behind" in answer["warnings"]
    for hit in answer["hits"]:
        assert forked.read(hit["sourceRef"])["verified"]
    labels = relations(forked, "okapi", scope="current-session")
    assert labels == dict.fromkeys("123568", "ancestor") | {"4": "other-branch"}
    finished(go_on(holder))


def test_a_log_that_was_rewritten_before_the_index_saw_it_counts(forked: World) -> None:
    """With the index held by another process, a rewritten log is read from its beginning."""
    forked.update()
    forked.write("s", lines(header(identity="s"), *talk(2, about("okapi anew"))))
    holder = started(HOLD, forked.index_folder, "begin immediate")
    assert relations(forked, "okapi") == dict.fromkeys("12", "ancestor")
    assert sorted(hit["excerpt"] for hit in forked.search("okapi")["hits"]) == [
        "turn 1 okapi anew",
        "turn 2 okapi anew",
    ]
    finished(go_on(holder))


def test_a_live_session_is_searched_before_it_is_indexed(made: World) -> None:
    """Where time does not suffice to index a session, its log is searched, and the answer says what is missing."""
    made.log("s", *talk(20, about("okapi")))
    made.tick = 3000
    answer = made.search("okapi")
    assert answer["status"] == "partial"
    assert "index-behind" in answer["warnings"]
    made.tick = 0
    assert made.search("okapi")["status"] == "complete"


def test_growth_while_we_search_is_no_lag(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that grows between being listed and being read is indexed as it is; nothing is behind."""
    made.log("s", *talk(3, about("okapi")))
    made.update()
    here = made.here()
    made.append("s", lines(message(4, 3, "turn 4 okapi")))
    monkeypatch.setattr(made, "here", lambda: here)
    first = made.search("okapi")
    made.append("s", lines(message(5, 4, "turn 5 okapi")))
    second = made.search("okapi")
    assert (len(first["hits"]), first["status"], len(second["hits"]), second["status"]) == (
        3,
        "complete",
        3,
        "complete",
    )


def test_odd_names_are_names(made: World) -> None:
    """A session whose id, folder and entry ids hold quotes, newlines and lone surrogates is found and read."""
    odd = "\ud83d\"'\n\x00é"
    made.write("s", line(header("/home/\ud83d", odd)) + b"\n" + line(message(1, None, "okapi") | {"id": odd}) + b"\n")
    made.values["historyTools.allowProjectScope"] = True
    hit = made.search("okapi")["hits"][0]
    assert (hit["entryId"], hit["relation"]) == (odd, "ancestor")
    assert made.read(hit["sourceRef"])["text"] == "okapi"
