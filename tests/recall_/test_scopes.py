"""What a scope lets a question look into, who may ask for it, and how its hits are labelled."""

import os
from typing import Any

import pytest
from asking import relations
from logs import about, header, lines, message, talk
from worlds import PROJECT, World

from recall.wire import project_id


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
    assert project.search("okapi", scope="project")["status"] == "complete"
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
        swapped = lines(header("/home/dev/pro2", "t"), message(1, None, "okapi of a sibling"))
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
