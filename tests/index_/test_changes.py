"""What an update notices of a file that changed, and what it costs."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from index_rows import compare_with_rebuild, contents
from logs import about, header, lines, message, talk
from worlds import World

from index.catching_up import Counters, catch_up
from index.lagging import lags
from index.sql import rows, value
from sessions.reading import open_log

WHOLE = lines(header(identity="s"), *talk(400, lambda number: f"turn {number:03} about tapirs " + "and so on " * 20))
EARLY = WHOLE.index(b"turn 150")


def say(data: bytes, old: bytes, new: bytes) -> bytes:
    """Put other words of the same length into a log."""
    assert len(old) == len(new)
    assert data.count(old) == 1
    return data.replace(old, new)


def without_reading(monkeypatch: pytest.MonkeyPatch, update: Callable[[], Counters]) -> Counters:
    """Update while every opening of a log fails the test."""

    def refuse(path: str, **_: Any) -> None:
        pytest.fail(f"opened {path}")

    with monkeypatch.context() as patch:
        patch.setattr("index.catching_up.open_log", refuse)
        patch.setattr("sessions.reading.open_log", refuse)
        return update()


def test_an_update_without_news_opens_no_log(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no stat result changed, an update costs stat calls and reads no byte of any log."""
    for name in ("s", "t", "u"):
        made.log(name, *talk(5, lambda number: f"turn {number}"))
    made.update()
    counters = without_reading(monkeypatch, made.update)
    assert counters == Counters()


def test_growth_reads_what_was_added(made: World) -> None:
    """A grown file is read from where the last reading ended."""
    made.write("s", WHOLE)
    made.update()
    tail = lines(message(401, 400, "the last turn"))
    made.append("s", tail)
    assert made.update(thorough=False)[:4] == (1, 1, len(tail), 1)


@pytest.mark.parametrize("thorough", [False, True])
def test_a_touch_reads_nothing_anew(made: World, thorough: bool) -> None:
    """New times alone make no entry come anew."""
    made.write("s", WHOLE)
    made.update()
    with made.index() as db:
        before = value(db, "select sid from session")
    made.touch("s", seconds=1_700_000_000)
    counters = made.update(thorough=thorough)
    assert (counters.bytes_read, counters.entries_added) == (0, 0)
    with made.index() as db:
        assert value(db, "select sid from session") == before
    assert made.update(thorough=thorough) == Counters()


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda made: made.write("s", say(WHOLE, b"turn 150", b"turn ABC")),
        lambda made: made.write("s", say(WHOLE, b"turn 400", b"turn ABC")),
        lambda made: made.write("s", say(WHOLE, b'"id":"s"', b'"id":"z"')),
        lambda made: made.write("s", WHOLE[: len(WHOLE) // 2]),
        lambda made: made.write("s", WHOLE[WHOLE.index(b"\n") + 1 :]),
        lambda made: made.write("s", b""),
        lambda made: made.replace("s", say(WHOLE, b"turn 150", b"turn ABC")),
        lambda made: made.replace("s", say(WHOLE, b"turn 150", b"turn ABC") + lines(message(401, 400, "more"))),
        lambda made: made.write("s", lines(header(identity="s"), *talk(500, lambda number: f"other {number}"))),
    ],
    ids=["early", "late", "header", "cut", "headless", "emptied", "replaced", "replaced-longer", "rewritten"],
)
def test_a_change_that_shows_is_noticed_at_once(made: World, change: Callable[[World], object], thorough: bool) -> None:
    """Truncation, replacement, migration and edits of a file that did not just grow never leave old rows behind."""
    made.write("s", WHOLE)
    made.update()
    change(made)
    made.update(thorough=thorough)
    compare_with_rebuild(made)


def test_the_same_times_and_size_do_not_hide_a_change(made: World) -> None:
    """A file that is put back to its old size and time of modification is read again: its ctime moved."""
    path = made.write("s", WHOLE)
    os.utime(path, ns=(10**18, 10**18))
    made.seen("s")
    made.update()
    made.write("s", say(WHOLE, b"turn 150", b"turn ABC"))
    os.utime(path, ns=(10**18, 10**18))
    made.seen("s")
    made.update()
    compare_with_rebuild(made)


def edit_early_and_grow(made: World) -> None:
    """Change a word far from both ends, and add a line, as one change of the file."""
    made.write("s", WHOLE)
    made.update()
    made.write("s", say(WHOLE, b"turn 150", b"turn ABC") + lines(message(401, 400, "one more")))


def test_an_early_edit_and_growth_is_found_by_an_update(made: World) -> None:
    """`index update` trusts no file that grew: an edit far from its end is found although the ends look alike."""
    edit_early_and_grow(made)
    made.update()
    compare_with_rebuild(made)


def test_an_early_edit_that_a_search_passed_over_is_found_by_the_next_update(made: World) -> None:
    """What a search took on trust is read in full by the next update, although no stat result moved since."""
    edit_early_and_grow(made)
    made.update(thorough=False)
    with made.index() as db:
        assert value(db, "select count(*) from session where not proved") == 1
    made.update()
    compare_with_rebuild(made)
    assert made.update() == Counters()


def test_a_search_that_meets_a_changed_line_heals_the_index(made: World) -> None:
    """A hit whose line is another one now is not shown; the session is read anew and the answer made from that."""
    edit_early_and_grow(made)
    answer = made.search("one more")
    assert [hit["entryId"] for hit in answer["hits"]] == [f"{401:08x}"]
    answer = made.search('"turn 150"')
    assert (answer["hits"], answer["status"]) == ([], "complete")
    compare_with_rebuild(made)
    assert made.found('"turn ABC"') == [f"{150:08x}"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"turn {{ broken", b'{"type":"x"}  '),
        (b" " * 40, b'{"type":"message","id":"cccccccc"}'.ljust(40)),
        (lines(message(1, None, "one"))[:-1], lines(message(1, None, "two"))[:-1]),
    ],
    ids=["quarantined", "blank", "repeat"],
)
@pytest.mark.parametrize("grown", [False, True])
def test_a_mended_line_that_was_no_entry_is_taken_in(made: World, before: bytes, after: bytes, grown: bool) -> None:
    """A line that gave no entry of its own is watched too: mended in place it is indexed."""
    start = WHOLE[:EARLY] + WHOLE[EARLY : WHOLE.index(b"\n", EARLY) + 1]
    rest = WHOLE[len(start) :]
    one = lines(message(1, None, "one"))
    made.write("s", lines(header(identity="s")) + one + start[start.index(b"\n") + 1 :] + before + b"\n" + rest)
    made.update()
    more = lines(message(401, 400, "one more")) if grown else b""
    made.write("s", lines(header(identity="s")) + one + start[start.index(b"\n") + 1 :] + after + b"\n" + rest + more)
    made.update()
    compare_with_rebuild(made)


@pytest.mark.parametrize("grown", [False, True])
def test_entries_that_only_changed_their_place_are_found_there(made: World, grown: bool) -> None:
    """A blank line that moves shifts what lies between: the same records at other bytes are another file."""
    first, middle, last = (WHOLE[: len(WHOLE) // 3], WHOLE[len(WHOLE) // 3 : -9000], WHOLE[-9000:])
    first, middle = first[: first.rindex(b"\n") + 1], first[first.rindex(b"\n") + 1 :] + middle
    middle, last = middle[: middle.rindex(b"\n") + 1], middle[middle.rindex(b"\n") + 1 :] + last
    made.write("s", first + b"     \n" + middle + last)
    made.update()
    made.write("s", first + middle + b"     \n" + last + (lines(message(401, 400, "one more")) if grown else b""))
    made.update()
    compare_with_rebuild(made)


def test_a_moved_file_is_found_under_its_new_path_only(made: World) -> None:
    """After a move and an update the old path is gone from the index, and hits carry the new one."""
    made.log("s", *talk(3, about("okapi")))
    made.update()
    made.move("s", "t")
    made.update()
    with made.index() as db:
        assert list(contents(db)) == ["t.jsonl"]
    compare_with_rebuild(made)


def test_an_unreadable_file_does_not_keep_others_out(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that cannot be opened, or that fails while it is read, is skipped by its code; the others are indexed."""
    made.log("s", *talk(3, lambda number: f"turn {number}"))
    made.log("t", *talk(3, lambda number: f"turn {number}"))
    made.log("u", *talk(3, lambda number: f"turn {number}"))
    files = made.files()
    made.delete("s")

    class Failing:
        """A log on a disk that fails."""

        def __init__(self, path: str) -> None:
            self.log = open_log(path)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.log, name)

        def readline(self, *_: int) -> bytes:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(
        "index.catching_up.open_log", lambda path: Failing(path) if path.endswith("t.jsonl") else open_log(path)
    )
    with made.index() as db:
        counters = catch_up(db, lags(db, files))
        assert {name: len(held["entry"]) for name, held in contents(db).items()} == {"t.jsonl": 0, "u.jsonl": 3}
        assert [lag.file.path for lag in lags(db, files)] == [made.path("t"), made.path("s")]
    assert dict(counters.skipped) == {made.path("s"): "file-missing", made.path("t"): "file-unreadable"}


def test_a_line_that_is_too_long_is_named_and_the_rest_searched(made: World) -> None:
    """A line beyond 32 MiB is quarantined with its place and length, read again by nobody, and hides nothing."""
    first, last = lines(header(identity="s"), message(1, None, "before")), lines(message(3, 1, "after"))
    long = lines(message(2, 1, "x" * (32 * 1024 * 1024)))
    made.write("s", first + long + last)
    counters = made.update()
    assert [line[1:] for line in counters.quarantined] == [(3, len(first), len(long) - 1, "record-too-large")]
    assert counters.entries_added == 2
    assert made.found("before after", scope="current-session") != []
    answer = made.search("after")
    assert (answer["status"], answer["warnings"]) == ("partial", ["lines-quarantined"])
    compare_with_rebuild(made)


def test_records_beyond_the_most_are_named(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session with more records than a session may have keeps the first, and each of the rest is quarantined."""
    monkeypatch.setattr("index.schema.MOST_RECORDS", 5)
    made.log("s", *talk(7, about("okapi")))
    made.log("t", *talk(2, about("zebra")))
    counters = made.update()
    assert [line[1::3] for line in counters.quarantined] == [(7, "too-many-records"), (8, "too-many-records")]
    made.append("s", lines(message(8, 7, "turn 8 okapi")))
    assert [line.line for line in made.update().quarantined] == [9]
    assert sorted(made.found("okapi", scope="current-session", limit=12)) == [f"{number:08x}" for number in range(1, 6)]
    compare_with_rebuild(made)


def test_one_bad_line_is_named_and_the_rest_searched(made: World) -> None:
    """Garbage in the middle is quarantined with file, line, offset, length and reason; all other records are found."""
    entries = talk(99, about("okapi"))
    good = [lines(entry) for entry in entries]
    start = lines(header(identity="s"))
    made.write("s", start + b"".join(good[:38]) + b"{garbage\n" + b"".join(good[38:]))
    counters = made.update()
    offset = len(start) + sum(map(len, good[:38]))
    assert counters.quarantined == ((made.path("s"), 40, offset, 8, "invalid-json"),)
    assert counters.entries_added == 99
    assert made.search("okapi")["warnings"] == ["lines-quarantined"]


def test_nuls_at_the_end_hide_no_session(made: World) -> None:
    """A file whose end was lost to NULs is searched, and goes on when the next line comes after them."""
    made.log("s", *talk(3, about("okapi")))
    made.append("s", b"\x00" * 1728)
    made.update()
    assert len(made.found("okapi")) == 3
    made.append("s", lines(message(4, 3, "turn 4 okapi")))
    made.update()
    assert len(made.found("okapi")) == 4
    compare_with_rebuild(made)


def test_an_image_costs_the_index_its_note(made: World) -> None:
    """Five megabytes of image data make the index grow by less than five kilobytes, and are found as their note."""
    made.log("s", message(1, None, "look"))
    made.update()

    def live() -> int:
        with made.index() as db:
            pages, free, size = (db.pragma(name) for name in ("page_count", "freelist_count", "page_size"))
            return int((pages - free) * size)

    before = live()
    image = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo" * 450_000}
    made.append("s", lines(message(2, 1, "", content=[image])))
    made.update()
    assert live() - before < 5000 + 2 * 4096
    assert made.search('"[image/png 3.7 MB]"')["hits"][0]["excerpt"] == "[image/png 3.7 MB]"


def test_counters_name_every_byte_that_was_read(made: World) -> None:
    """`bytesRead` of a first update is the size of all files."""
    sizes = 0
    for name in ("s", "t"):
        sizes += os.path.getsize(made.log(name, *talk(20, lambda number: f"turn {number}")))
    counters = made.update()
    assert counters == Counters(2, 2, sizes, 40)
    with made.index() as db:
        assert list(rows(db, "select sum(done), sum(entries) from session")) == [(sizes, 40)]
