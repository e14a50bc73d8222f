"""How the index stands, and whether it is sound: told by numbers and codes, never by a word of content."""

import os

import pytest
from logs import about, header, lines, message, talk
from worlds import World

from index import health
from index.sql import run, transaction


def problems(made: World) -> list[tuple[str, str]]:
    """Do what `index check` does; files by their short names."""
    with made.index() as db:
        return [(os.path.basename(path), code) for path, code in health.problems(db)]


@pytest.fixture
def indexed(made: World) -> World:
    """Give a world with an index of two sessions."""
    made.log("s", *talk(200, about("okapi and other striped beasts")))
    made.log("t", *talk(5, about("zebra")))
    made.update()
    return made


def test_a_sound_index_has_no_problems(indexed: World) -> None:
    """An index of the logs as they are is sound, also when they have grown since."""
    assert problems(indexed) == []
    indexed.append("s", lines(message(201, 200, "more")))
    assert problems(indexed) == []


def test_a_check_reads_every_byte(indexed: World) -> None:
    """An edit that no catching up noticed is found by a check, and what is gone is told."""
    with open(indexed.path("s"), "rb") as log:
        old = log.read()
    indexed.write("s", old.replace(b"turn 77 okapi", b"turn 77 tapir") + lines(message(201, 200, "more")))
    indexed.update(thorough=False)
    assert problems(indexed) == [("s.jsonl", "source-changed")]
    indexed.delete("t")
    assert problems(indexed) == [("s.jsonl", "source-changed"), ("t.jsonl", "file-missing")]


@pytest.mark.parametrize("harm", ["delete from entry where rid % 7 = 0", "delete from words_data where id > 1000"])
def test_a_check_finds_damage(indexed: World, harm: str) -> None:
    """Pages of words that are lost are found; so are tables that do not agree."""
    with indexed.index() as db, transaction(db):
        run(db, harm)
    found = problems(indexed)
    assert ("", "index-damaged") in found


def test_the_owner_hears_numbers_and_others_do_not(indexed: World) -> None:
    """The owner's status counts; a remote audience learns whether the index is current, and no more."""
    told = indexed.status("current-session")
    assert told["index"] == {
        "sessions": 2, "entries": 205, "filesBehind": 0, "bytesBehind": 0, "quarantinedLines": 0,
        "detectorsBehind": False, "pendingErase": False, "unfinished": False, "bytes": told["index"]["bytes"],
    }  # fmt: skip
    assert told["index"]["bytes"] > 10_000
    assert (told["status"], told["indexCurrent"], told["effectiveScope"]) == ("complete", True, "current-session")
    indexed.remote()
    told = indexed.status()
    assert "index" not in told
    assert set(told) == {
        "schema", "quotedData", "status", "warnings", "enabled", "effectiveScope", "indexCurrent", "pendingRebase",
    }  # fmt: skip


def test_what_is_behind_is_counted_for_the_scope(indexed: World) -> None:
    """Status reads no log: it tells files and bytes that are missing of the scope that is asked about."""
    more = lines(message(6, 5, "more"))
    indexed.append("t", more)
    assert indexed.status()["indexCurrent"] is True
    told = indexed.status("everywhere")
    assert (told["status"], told["warnings"], told["indexCurrent"]) == ("partial", ["index-behind"], False)
    assert (told["index"]["filesBehind"], told["index"]["bytesBehind"]) == (1, len(more))


def test_quarantined_lines_are_counted(indexed: World) -> None:
    """Lines that could not be read are counted, and listed by file, line, offset, length and reason."""
    start = os.path.getsize(indexed.path("t"))
    indexed.append("t", b"{junk\n" + lines(message(6, 5, "more")))
    indexed.update()
    assert indexed.status()["index"]["quarantinedLines"] == 1
    with indexed.index() as db:
        assert health.quarantine(db) == [(indexed.path("t"), 7, start, 5, "invalid-json")]


def test_older_rules_are_shown_as_lag_until_a_rebuild(indexed: World) -> None:
    """An index whose words were made by other rules says so until it is made anew, and answers meanwhile."""
    with indexed.index() as db, transaction(db):
        run(db, "update meta set value = 'older' where key = 'rules'")
    told = indexed.status()
    assert (told["index"]["detectorsBehind"], told["indexCurrent"], told["status"]) == (True, False, "partial")
    assert indexed.search("okapi")["hits"]
    indexed.rebuild()
    assert indexed.status()["index"]["detectorsBehind"] is False


@pytest.mark.parametrize(
    ("scope", "code"),
    [("galaxy", "invalid-scope"), ("project", "project-scope-disabled"), ("everywhere", "owner-act-required")],
)
def test_status_refuses_what_a_search_would(indexed: World, scope: str, code: str) -> None:
    """A scope that may not be searched may not be asked about either."""
    indexed.owner = False
    told = indexed.status(scope)
    assert (told["status"], told["code"], told["enabled"]) == ("unavailable", code, True)


def test_status_without_a_session_says_so(indexed: World) -> None:
    """Where the project has no session yet, status says that and does not fail."""
    indexed.session = "nowhere"
    told = indexed.status()
    assert "no-session" in told["warnings"]


def test_branches_are_counted_by_their_tips(made: World) -> None:
    """A stretch that is left and gone on with later is still one branch: the count is that of Pi's tree."""
    from logs import message

    from index.listing import branches, sessions
    from sessions.tree import outline

    chain = [(1, None), (2, 1), (3, 2), (4, 2), (5, 3), (6, 5), (7, 1), (8, 4)]
    made.write("s", lines(header(identity="s"), *(message(number, parent, "x") for number, parent in chain)))
    made.write("t", lines(header(identity="t"), *talk(3, about("y"))))
    made.update()
    with made.index() as db:
        rows = sessions(db)
        counted = {name: branches(db)[rows[made.path(name)].sid] for name in ("s", "t")}
    assert counted == {name: len(outline(made.path(name)).tips) for name in ("s", "t")} == {"s": 3, "t": 1}


def test_names_of_sessions_follow_their_log(made: World) -> None:
    """The last name in the file counts, an empty one clears it, and no secret stays in one."""
    from logs import entry

    from index.listing import branches, sessions

    made.write("s", lines(header(identity="s"), *talk(2, about("x")), entry("session_info", 3, 2, name="one\n two")))
    made.update()
    with made.index() as db:
        row = sessions(db)[made.path("s")]
        assert (row.name, row.entries, row.repeats, row.version) == ("one two", 3, 0, 3)
        assert branches(db) == {row.sid: 1}
    made.append("s", lines(entry("session_info", 4, 2, name="")))
    made.update()
    with made.index() as db:
        row = sessions(db)[made.path("s")]
        assert row.name == ""
        assert branches(db) == {row.sid: 2}
