"""Recall over a lineage: the branch, and what it came from, each source up to what its rebase recorded."""

import os
from pathlib import Path
from typing import Any

import pytest
from asking import refused
from children import HOLD, finished, go_on, started
from lineages import Family
from logs import about, entry, header, lines, message, talk
from worlds import World

from foundation.errors import ContextError
from recall.descent import Descent, Locate
from recall.evidence import Place
from recall.references import Reference
from sessions.locating import Folders, session_files

LINEAGE = "current-lineage"


@pytest.fixture
def family(made: World) -> Family:
    """Give a world whose current session is the third generation after its source."""
    made.values["historyTools.maxResults"] = 12
    return Family(made).grow(3)


def texts(made: World, query: str = "okapi", **asked: Any) -> list[str]:
    """Ask over the lineage; give the texts of the hits in alphabetical order."""
    return sorted(hit["excerpt"] for hit in made.search(query, scope=LINEAGE, limit=12, **asked)["hits"])


OLDEST = [f"turn {number} okapi of generation 0" for number in range(1, 5)]
STEPS = [f"step okapi of generation {number}" for number in range(1, 4)]


def test_a_lineage_finds_the_originals_of_all_generations(family: Family) -> None:
    """Every message that a handoff only quotes is found where it was said, labelled, and read back verified."""
    answer = family.made.search("okapi", scope=LINEAGE, limit=12)
    assert (answer["status"], answer["warnings"], answer["effectiveScope"]) == ("complete", [], LINEAGE)
    assert texts(family.made) == sorted([*STEPS, *OLDEST])
    relations = {hit["excerpt"]: hit["relation"] for hit in answer["hits"]}
    assert relations == dict.fromkeys([*OLDEST, *STEPS[:2]], "lineage-ancestor") | {STEPS[2]: "ancestor"}
    for hit in answer["hits"]:
        read = family.made.read(hit["sourceRef"])
        assert (read["verified"], read["text"], read["relation"]) == (True, hit["excerpt"], hit["relation"])


@pytest.mark.parametrize("scope", ["current-branch", "current-session"])
def test_other_scopes_do_not_look_into_sources(family: Family, scope: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A branch or session is what it was; nobody asks where it came from."""
    monkeypatch.setattr(family.made, "descend", lambda _file, _locate: pytest.fail("asked for a lineage"))
    assert [hit["excerpt"] for hit in family.made.search("okapi", scope=scope)["hits"]] == [STEPS[2]]


@pytest.mark.parametrize("probe", [1500, 0], ids=["all at once", "session by session"])
def test_only_what_the_rebase_recorded_is_found(made: World, probe: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what a source says later, nor its other branches, nor what an edit had taken out is in the lineage."""
    monkeypatch.setattr("index.querying._PROBE", probe)
    family = Family(
        made,
        *talk(2, about("okapi")),
        message(3, 2, "aside okapi"),
        message(4, 2, "gone okapi"),
        message(5, 4, "turn 5 okapi"),
        entry("context_edit", 6, 5, targetId="00000004", replacement=None),
    ).grow(1)
    family.append(0, message(7, 6, "later okapi"), entry("context_edit", 8, 7, targetId="00000001", replacement=None))
    assert texts(made) == [STEPS[0], "turn 1 okapi", "turn 2 okapi", "turn 5 okapi"]


@pytest.mark.parametrize("probe", [1500, 0], ids=["all at once", "session by session"])
def test_an_id_that_is_given_again_later_changes_no_branch(
    made: World, probe: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a source later gives ids of its branch again, the entries of the prefix are the ones that count."""
    monkeypatch.setattr("index.querying._PROBE", probe)
    family = Family(
        made,
        *talk(3, about("okapi")),
        message(9, 3, "aside okapi"),
        message(4, 3, "turn 4 okapi"),
        entry("context_edit", 5, 4, targetId="00000001", replacement=None),
    ).grow(1)
    family.append(
        0,
        message(0x50, None, "elsewhere okapi"),
        message(1, 0x50, "false first okapi"),
        message(3, 9, "false okapi"),
        message(5, 3, "false leaf okapi"),
    )
    assert texts(made) == [STEPS[0], "turn 2 okapi", "turn 3 okapi", "turn 4 okapi"]


@pytest.mark.parametrize("harm", ["gone", "edited", "cut"])
def test_a_generation_that_is_lost_is_the_only_one(family: Family, harm: str) -> None:
    """Where a source in the middle is gone or changed, the others are searched, and the answer says what is missing."""
    if harm == "gone":
        family.made.delete(family.name(1))
    elif harm == "edited":
        family.change(1, b"step okapi", b"step tapir")
    else:
        family.made.write(family.name(1), Path(family.files[1]).read_bytes()[:-20])
    answer = family.made.search("okapi", scope=LINEAGE)
    assert texts(family.made) == sorted([*STEPS[1:], *OLDEST])
    assert (answer["status"], answer["coverage"], answer["warnings"]) == ("partial", "partial", ["lineage-degraded"])
    assert answer["effectiveScope"] == LINEAGE
    assert texts(family.made, "tapir") == []


def test_a_source_that_moved_within_the_project_is_found(family: Family, tmp_path: Path) -> None:
    """A source counts under another name or in another folder, for its header says whose it is."""
    family.made.move(family.name(0), "renamed")
    assert texts(family.made) == sorted([*STEPS, *OLDEST])
    family.made.update()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.rename(family.made.path("renamed"), elsewhere / "again.jsonl")
    family.made._looks.pop(family.made.path("renamed"))
    assert texts(family.made) == sorted([*STEPS])
    both = Folders((family.made.folder, str(elsewhere)), flat=False)
    family.made.files = lambda: session_files(both)  # type: ignore[method-assign]
    answer = family.made.search("okapi", scope=LINEAGE)
    assert (answer["status"], answer["warnings"]) == ("complete", [])
    assert texts(family.made) == sorted([*STEPS, *OLDEST])


def test_sources_of_another_project_are_not_authorised(family: Family) -> None:
    """The folder in the header of the target decides: a source of another one is never searched, whatever its id."""
    family.change(-1, b'"cwd":"/home/dev/proj"', b'"cwd":"/home/dev/else"')
    answer = family.made.search("okapi", scope=LINEAGE)
    assert [hit["excerpt"] for hit in answer["hits"]] == [STEPS[2]]
    assert answer["warnings"] == ["lineage-degraded"]


def test_a_stranger_with_the_id_of_a_source_is_not_searched(family: Family) -> None:
    """A file beside the source that claims its id and name, but not its bytes, degrades that generation at most."""
    family.made.move(family.name(0), "moved")
    family.made.log("g0", *talk(2, about("stranger okapi")), identity="g0")
    assert texts(family.made) == sorted([*STEPS, *OLDEST])
    family.made.delete("moved")
    answer = family.made.search("okapi", scope=LINEAGE)
    assert (texts(family.made), answer["warnings"]) == (sorted(STEPS), ["lineage-degraded"])


def test_only_likely_files_are_offered_for_proof(family: Family) -> None:
    """A source that is gone makes nobody hash the other sessions of the project: their ids say that they are not it."""
    family.made.log("stranger", *talk(2, about("stranger okapi")))
    family.made.delete(family.name(0))
    prove = family.made.descend
    offered: list[list[str]] = []

    def watched(file: str, locate: Locate) -> Descent | None:
        def noted(identity: str, name: str) -> list[str]:
            offered.append([*locate(identity, name)])
            return offered[-1]

        return prove(file, noted)

    family.made.descend = watched
    for _ in range(2):  # with an index that knows none of them, and one that knows all
        family.made.search("okapi", scope=LINEAGE)
        assert offered == [[family.files[2]], [family.files[1]], []]
        offered.clear()
        family.made.update()


@pytest.mark.parametrize("harm", ["forged", "foreign", "half", "broken"])
def test_a_link_that_does_not_hold_leaves_the_branch(family: Family, harm: str) -> None:
    """Forged, signed by another, without handoff, or unreadable to the door: only the branch is searched, and said."""
    if harm == "forged":
        family.change(-1, b'"leafId":"', b'"leafId":"0')
    elif harm == "foreign":
        family.bench.key.name = "another"
    elif harm == "half":
        family.change(-1, b"context-rebase-handoff-v1", b"ds4-rebase-handoff-v1")
    else:

        def refuse(_file: str, _locate: object) -> None:
            raise ContextError("key-damaged")

        family.made.descend = refuse
    answer = family.made.search("step", scope=LINEAGE)
    assert [hit["excerpt"] for hit in answer["hits"]] == [STEPS[2]]
    assert (answer["status"], answer["coverage"], answer["warnings"]) == ("partial", "partial", ["lineage-unverified"])
    assert answer["effectiveScope"] == "current-branch"
    assert family.made.status(LINEAGE)["warnings"][0] == "lineage-unverified"


def before_the_handoff(family: Family) -> None:
    """Let the user branch before the handoff of the current session."""
    family.append(-1, message(0x77, None, "afresh okapi"))


@pytest.mark.parametrize("held", [False, True], ids=["index", "log"])
def test_a_branch_from_before_the_handoff_has_no_sources(family: Family, held: bool) -> None:
    """Where the live branch does not come through the handoff, its lineage is itself, whoever finds that out."""
    assert len(texts(family.made)) == 7
    reference = family.made.search("generation 0", scope=LINEAGE)["hits"][0]["sourceRef"]
    before_the_handoff(family)
    holder = started(HOLD, family.made.index_folder, "begin immediate") if held else None
    answer = family.made.search("okapi", scope=LINEAGE)
    assert [hit["excerpt"] for hit in answer["hits"]] == ["afresh okapi"]
    assert answer["warnings"] == ["lineage-equals-branch", *["index-behind"] * held]
    assert answer["effectiveScope"] == "current-branch"
    if holder:
        finished(go_on(holder))
    assert refused(family.made.read(reference), "reference-unavailable")
    family.made.leaf = f"{0x103:08x}"
    assert len(texts(family.made)) == 7
    assert family.made.read(reference)["verified"]


def test_a_live_session_is_searched_with_its_sources_before_it_is_indexed(family: Family) -> None:
    """While another process holds the index, new entries of the branch are found beside those of its sources."""
    assert len(texts(family.made)) == 7
    family.say(-1, 0x200, "new okapi")
    holder = started(HOLD, family.made.index_folder, "begin immediate")
    answer = family.made.search("okapi", scope=LINEAGE, limit=12)
    assert sorted(hit["excerpt"] for hit in answer["hits"]) == sorted(["new okapi", *STEPS, *OLDEST])
    assert (answer["effectiveScope"], answer["warnings"]) == (LINEAGE, ["index-behind"])
    finished(go_on(holder))


def test_without_an_index_the_branch_is_searched_and_the_answer_partial(family: Family) -> None:
    """Sources need the index; without one the answer says so."""
    family.made.without_index()
    answer = family.made.search("okapi", scope=LINEAGE)
    assert [hit["excerpt"] for hit in answer["hits"]] == [STEPS[2]]
    assert answer["status"] == "partial"


def test_a_piece_of_a_word_is_found_in_sources_too(family: Family) -> None:
    """What no index of words can find is looked for in the lines of all generations."""
    assert texts(family.made, "kapi of generatio") == sorted([*STEPS, *OLDEST])


@pytest.mark.parametrize("how", ["excluded", "removed"])
def test_what_the_owner_keeps_out_is_no_source(family: Family, how: str) -> None:
    """A session that was excluded or removed is not inherited, and nothing tells that it was there."""
    if how == "excluded":
        family.made.excluded = frozenset({"g0"})
    else:
        family.made.visibility = family.made.visibility._replace(hidden_sessions=frozenset({"g0"}))
    assert texts(family.made) == sorted(STEPS)
    assert family.made.search("okapi", scope=LINEAGE)["warnings"] == []
    assert family.made.status(LINEAGE)["lineage"] == {"generations": 2, "verified": 2}


def test_a_reference_to_a_source_is_asked_again(family: Family) -> None:
    """It is read only while its source is what was proved; what the source said later was never in its scope."""
    hit = family.made.search('"turn 2 okapi"', scope=LINEAGE)["hits"][0]
    family.say(0, 0x60, "later okapi")
    assert family.made.read(hit["sourceRef"])["verified"]
    family.made.session = family.name(0)
    later = family.made.search("later", scope="current-session")["hits"][0]
    place = family.made.references.find(later["sourceRef"]).place  # type: ignore[union-attr]
    family.made.session = family.name(-1)
    assert isinstance(place, Place)
    forged = family.made.references.issue([Reference(family.files[-1], LINEAGE, place)])[0]
    assert refused(family.made.read(forged), "reference-unavailable")
    family.made.excluded = frozenset({"g0"})
    assert refused(family.made.read(hit["sourceRef"]), "reference-unavailable")
    family.made.excluded = frozenset()
    family.change(0, b"turn 1 okapi", b"turn 1 tapir")
    assert refused(family.made.read(hit["sourceRef"]), "source-changed")
    family.made.delete(family.name(0))
    assert refused(family.made.read(hit["sourceRef"]), "source-unavailable")


def test_the_original_is_among_the_first_of_a_long_lineage(made: World) -> None:
    """After ten generations, the oldest message that answers literally comes first; no quoting copy stands before it."""
    made.values["historyTools.maxResults"] = 12
    family = Family(made, message(1, None, "the ledger-key stays in grams"), message(2, 1, "noted", "assistant"))
    family.grow(10)
    answer = made.search("ledger-key grams", scope=LINEAGE)
    assert (answer["hits"][0]["entryId"], answer["hits"][0]["sessionId"]) == ("00000001", "g0")
    assert len(made.search("okapi", scope=LINEAGE, limit=12)["hits"]) == 10
    assert made.status(LINEAGE)["lineage"] == {"generations": 10, "verified": 10}
    made.remote()
    assert "lineage" not in made.status(LINEAGE)


def test_a_session_without_header_has_no_lineage(made: World) -> None:
    """A file that names no project is searched as ever, and offers nobody for proof."""
    made.write("s", lines(message(1, None, "okapi")))
    answer = made.search("okapi", scope=LINEAGE)
    assert (len(answer["hits"]), answer["status"], answer["warnings"]) == (1, "complete", ["lineage-equals-branch"])


def test_many_matches_in_a_lineage_are_walked_to_the_end(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only literal hit is found though it is older than any number of places that may hold it."""
    monkeypatch.setattr("recall.candidates._MOST_WALKED", 5)
    family = Family(made, message(1, None, "a parcel-service"), *talk(20, about("parcel service"), start=2, parent=1))
    family.grow(1)
    answer = made.search("parcel-service", scope=LINEAGE)
    assert (answer["hits"][0]["entryId"], answer["warnings"]) == ("00000001", [])


def test_a_link_to_a_fork_of_a_target_keeps_the_sources(family: Family) -> None:
    """A copy of the target under another id has the same sources."""
    data = Path(family.files[-1]).read_bytes()
    identity = family.made.search("step", scope="current-branch")["hits"][0]["sessionId"]
    family.made.write("fork", data.replace(f'"id":"{identity}"'.encode(), b'"id":"fork"'))
    family.made.session = "fork"
    assert texts(family.made) == sorted([*STEPS, *OLDEST])


@pytest.mark.parametrize("scope", ["current-session", "current-branch"])
def test_an_edit_that_is_not_indexed_yet_labels_the_hit(made: World, scope: str) -> None:
    """Both parts of how a known hit stands are read from the log: whether an edit took it out, too."""
    made.write("s", lines(header(identity="s"), *talk(3, about("okapi"))))
    made.update()
    made.append("s", lines(entry("context_edit", 4, 3, targetId="00000002", replacement=None)))
    holder = started(HOLD, made.index_folder, "begin immediate")
    hits = {hit["entryId"]: hit.get("contextEdit") for hit in made.search("okapi", scope=scope)["hits"]}
    gone = {"00000002": "omitted"} if scope == "current-session" else {}
    assert hits == {"00000001": None, "00000003": None} | gone
    finished(go_on(holder))
