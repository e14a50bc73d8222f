"""A disk that is full, and a folder that may not be written: real ones, in a small file system of their own."""

import os
import subprocess
from collections.abc import Iterator

import apsw
import pytest
from index_rows import compare_with_rebuild
from logs import about, header, lines, message, talk
from worlds import World

from foundation.errors import ContextError
from index import opening
from index.failures import translated


@pytest.fixture
def small(made: World) -> Iterator[World]:
    """Give a world whose index lies in a file system of 400 kB."""
    os.mkdir(made.index_folder)
    command = ["mount", "-t", "tmpfs", "-o", "size=400k,mode=0700", "tmpfs", made.index_folder]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("needs root and the right to mount a tmpfs")
    try:
        yield made
    finally:
        subprocess.run(["umount", "-l", made.index_folder], check=True)


def read_only(made: World) -> None:
    """Let nothing more be written to the index's folder."""
    subprocess.run(["mount", "-o", "remount,ro", made.index_folder], check=True)


def writable(made: World) -> None:
    """Let it be written again."""
    subprocess.run(["mount", "-o", "remount,rw", made.index_folder], check=True)


def fill(made: World) -> str:
    """Leave no byte of the disk free."""
    path = os.path.join(made.index_folder, "ballast")
    with open(path, "wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(b"x" * 512)
        except OSError:
            pass
    return path


def say_okapi(made: World) -> None:
    """Write a log of five turns."""
    made.log("s", *talk(5, about("okapi")))


def test_a_full_disk_stops_no_answer(small: World) -> None:
    """With no byte left the log itself is searched and the answer says why; with room again the index goes on."""
    say_okapi(small)
    small.update()
    ballast = fill(small)
    small.append("s", lines(header(), *talk(300, about("of many stripes " * 30), start=6, parent=5)))
    small.append("s", lines(message(306, 305, "okapi once more")))
    answer = small.search("okapi")
    assert len(answer["hits"]) == 6
    assert answer["status"] == "partial"
    assert set(answer["warnings"]) <= {"disk-full", "index-behind"}
    with pytest.raises((apsw.FullError, apsw.IOError)) as full:
        small.update()
    assert translated(full.value).code == "disk-full"
    os.unlink(ballast)
    small.write("s", lines(header(identity="s"), *talk(7, about("okapi"))))
    assert small.search("okapi")["status"] == "complete"
    small.update()
    compare_with_rebuild(small)


def test_a_first_search_on_a_full_disk_answers_from_the_log(small: World) -> None:
    """Where not even an empty index can be made, the session's own log is searched."""
    say_okapi(small)
    ballast = fill(small)
    answer = small.search("okapi")
    assert (len(answer["hits"]), answer["warnings"]) == (5, ["disk-full"])
    os.unlink(ballast)
    assert small.search("okapi")["status"] == "complete"
    assert min(os.listdir(small.index_folder)) != "index-1.db"


def test_a_rebuild_that_fills_the_disk_leaves_the_old_index(small: World) -> None:
    """A rebuild for which there is no room fails by its name, and leaves no stray and the old index in place."""
    say_okapi(small)
    small.update()
    before = sorted(os.listdir(small.index_folder))
    small.append("s", lines(*talk(2000, about("okapi " + "of many stripes " * 30), start=6, parent=5)))
    with pytest.raises((apsw.FullError, apsw.IOError, OSError)):
        small.rebuild()
    assert sorted(os.listdir(small.index_folder)) == before
    small.write("s", lines(header(identity="s"), *talk(7, about("okapi"))))
    assert small.search("okapi")["status"] == "complete"


def test_a_read_only_folder_stops_no_answer(small: World) -> None:
    """An index that may not be written is read as it is, or done without; what is new is read from the log."""
    say_okapi(small)
    small.update()
    read_only(small)
    answer = small.search("okapi")
    assert len(answer["hits"]) == 5
    assert small.read(answer["hits"][0]["sourceRef"])["verified"]
    small.append("s", lines(message(6, 5, "turn 6 okapi")))
    answer = small.search("okapi")
    assert (len(answer["hits"]), answer["status"]) == (6, "partial")
    assert small.status()["indexCurrent"] is False
    writable(small)
    assert small.search("okapi")["status"] == "complete"


def test_a_read_only_folder_without_an_index_stops_no_answer(small: World) -> None:
    """Where no index can be made, the log is searched."""
    say_okapi(small)
    read_only(small)
    answer = small.search("okapi")
    assert (len(answer["hits"]), answer["status"], answer["warnings"]) == (5, "partial", ["index-unavailable"])
    with pytest.raises((OSError, ContextError)):
        opening.create(small.index_folder, small.disk)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (apsw.BusyError(), "index-busy"),
        (apsw.LockedError(), "index-busy"),
        (apsw.FullError(), "disk-full"),
        (apsw.ReadOnlyError(), "read-only"),
        (apsw.IOError(), "io-error"),
        (apsw.CantOpenError(), "index-unavailable"),
    ],
)
def test_failures_of_sqlite_have_their_codes(error: apsw.Error, code: str) -> None:
    """Every failure of SQLite that a person can meet is told by a code of ours."""
    assert translated(error).code == code
