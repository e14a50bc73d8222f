"""Whatever has become of the files of the index, a search answers, says so where it must, and mends it."""

import os
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_rows import compare_with_rebuild
from logs import about, call, talk
from worlds import World, world

from index import opening
from index.schema import CHECKSUMS
from index.sql import run


def filled(made: World) -> World:
    """Give a world an index of some sessions."""
    made.log(
        "s", *talk(40, about("okapi " + "and other striped beasts " * 20)), call(41, 40, "read", path="src/okapi.py")
    )
    made.log("t", *talk(40, about("zebra " + "and other striped beasts " * 20)))
    made.update()
    return made


def index_file(made: World) -> str:
    """Give the path of the present generation."""
    present = opening.current(made.index_folder)
    assert present is not None
    return os.path.join(made.index_folder, present.files[0])


def pointer(made: World) -> str:
    """Give the path of the pointer."""
    return os.path.join(made.index_folder, opening.POINTER)


def put(path: str, data: bytes) -> None:
    """Write a file anew."""
    with open(path, "wb") as file:
        file.write(data)


def turned_into_a_folder(path: str) -> None:
    """Put a folder in the place of a file."""
    os.unlink(path)
    os.mkdir(path)


def changed_by(*statements: str) -> Callable[[World], None]:
    """Change the database by our own hand."""

    def change(made: World) -> None:
        db = opening.open_writer(made.index_folder)
        assert db is not None
        for statement in statements:
            run(db, statement)
        db.close()

    return change


def emptied_write_ahead_log(made: World) -> None:
    """Put nonsense in the place of the write-ahead log."""
    put(index_file(made) + "-wal", b"nonsense" * 5000)


FOUND_OUT = {
    "empty": lambda made: put(index_file(made), b""),
    "text": lambda made: put(index_file(made), b"this is no database\n" * 1000),
    "cut": lambda made: os.truncate(index_file(made), 20_000),
    "cut to its header": lambda made: os.truncate(index_file(made), 100),
    "no header": lambda made: put(index_file(made), b"\0" * 4096 + b"x" * 40_000),
    "a folder": lambda made: turned_into_a_folder(index_file(made)),
    "missing": lambda made: os.unlink(index_file(made)),
    "pointer of junk": lambda made: put(pointer(made), b"{junk"),
    "pointer of nothing": lambda made: put(pointer(made), b""),
    "pointer of a list": lambda made: put(pointer(made), b"[1]"),
    "pointer too deep": lambda made: put(pointer(made), b"[" * 60_000),
    "pointer elsewhere": lambda made: put(pointer(made), b'{"generation":1,"files":["../index-1.db"]}'),
    "pointer to no file": lambda made: put(pointer(made), b'{"generation":1,"files":[]}'),
    "pointer to a number": lambda made: put(pointer(made), b'{"generation":1,"files":[7]}'),
    "pointer to text": lambda made: put(pointer(made), b'{"generation":"1","files":"index-1.db"}'),
    "pointer to another file": lambda made: put(pointer(made), b'{"generation":1,"files":["exclusions.json"]}'),
    "pointer to a missing one": lambda made: put(pointer(made), b'{"generation":9,"files":["index-9.db"]}'),
    "other checksum": changed_by("update migration set checksum = 'other'"),
    "newer migration": changed_by(f"insert into migration values({len(CHECKSUMS) + 1}, 'newer')"),
    "no migrations": changed_by("drop table migration"),
    "no entries": changed_by("drop table entry"),
    "no words": changed_by("drop table words"),
    "other columns": changed_by("alter table entry rename column digest to other"),
    "words without pages": changed_by("delete from words_data"),
    "words of junk": changed_by("update words_data set block = cast('junk' as blob) where id > 10"),
}


@pytest.mark.parametrize("name", FOUND_OUT)
def test_a_damaged_index_is_made_anew_and_the_answer_says_so(made: World, name: str) -> None:
    """Damage, a foreign version or a lost file is no refusal: the answer is whole, and tells that the index is new."""
    filled(made)
    FOUND_OUT[name](made)
    answer = made.search("okapi")
    assert len(answer["hits"]) == 6
    assert (answer["status"], answer["warnings"]) == ("partial", ["index-rebuilt"])
    answer = made.search("okapi")
    assert (len(answer["hits"]), answer["status"]) == (6, "complete")
    made.update()
    compare_with_rebuild(made)


@pytest.mark.parametrize("name", FOUND_OUT)
def test_reads_and_status_survive_a_damaged_index(made: World, name: str) -> None:
    """A reference is read back whatever has become of the index since, and `status` answers."""
    filled(made)
    reference = made.search("okapi")["hits"][0]["sourceRef"]
    FOUND_OUT[name](made)
    assert made.read(reference)["verified"]
    put(index_file(made), b"")
    assert made.status()["warnings"] == ["index-rebuilt", "index-behind"]


@pytest.mark.parametrize("name", ["empty", "text", "a folder", "missing", "pointer of junk", "no words"])
def test_a_rebuild_mends_a_damaged_index(made: World, name: str) -> None:
    """`index rebuild` works beside an index of any kind and leaves a sound one."""
    filled(made)
    FOUND_OUT[name](made)
    made.rebuild()
    assert (len(made.search("okapi")["hits"]), made.search("okapi")["status"]) == (6, "complete")
    compare_with_rebuild(made)


@pytest.mark.parametrize("name", ["pointer", "folder", "lock"])
def test_a_place_that_cannot_be_used_is_done_without(made: World, name: str) -> None:
    """Where there can be no index, the session's own log is searched, and the answer tells why."""
    filled(made)
    if name == "pointer":
        turned_into_a_folder(pointer(made))
    elif name == "lock":
        os.unlink(pointer(made))
        turned_into_a_folder(os.path.join(made.index_folder, opening.LOCK))
    else:
        made.without_index()
    answer = made.search("okapi")
    assert len(answer["hits"]) == 6
    assert (answer["status"], answer["warnings"]) == ("partial", ["index-unavailable"])
    assert made.read(answer["hits"][0]["sourceRef"])["verified"]
    made.values["historyTools.allowProjectScope"] = True
    answer = made.search("okapi", scope="project")
    assert (answer["hits"], answer["status"]) == ([], "partial")
    assert made.status()["status"] == "partial"


def test_a_write_ahead_log_of_junk_is_passed_over(made: World) -> None:
    """SQLite passes over a write-ahead log that is none, and so do we."""
    filled(made)
    emptied_write_ahead_log(made)
    answer = made.search("okapi")
    assert (len(answer["hits"]), answer["status"]) == (6, "complete")


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_bytes_overwritten_anywhere_never_raise(seed: int) -> None:
    """Whatever bytes of the index are overwritten, questions are answered, reads stay true, and an update ends well."""
    rng = random.Random(seed)
    with world() as made:
        filled(made)
        path = index_file(made)
        with open(path, "r+b") as file:
            size = os.path.getsize(path)
            for _ in range(rng.choice((1, 1, 3, 20))):
                file.seek(min(rng.choice((rng.randrange(100), rng.randrange(size), rng.randrange(size))), size - 1))
                file.write(rng.choice((b"\x00", b"\xff", rng.randbytes(1), rng.randbytes(60), b"\x00" * 4096)))
        for query in ("okapi", '"turn 7 okapi"', "src/okapi.py", "turn striped okapi"):
            answer = made.search(query, scope="current-session")
            assert answer["status"] in ("complete", "partial")
            for hit in answer["hits"]:
                read = made.read(hit["sourceRef"])
                assert read["status"] == "unavailable" or "turn" in read["text"] or "okapi" in read["text"]
        assert made.status("current-session")["status"] in ("complete", "partial")
