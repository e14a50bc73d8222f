"""A rebuild happens beside the present index; whatever ends it, there is one whole index, and no stray for long."""

import errno
import os
from collections.abc import Callable

import apsw
import pytest
from faults import MOMENTS, Crash, CrashingFiles, FailingFiles, When
from index_rows import compare_with_rebuild
from logs import about, lines, message, talk
from worlds import World

from foundation import locks
from foundation.durable import RealFiles
from foundation.errors import ContextError
from index import opening
from index.rebuilding import rebuild
from index.sql import transaction

EFFECTS = 12
"""Effects on disk of one rebuild over an index that is there, and a few more."""


def tidy(made: World) -> bool:
    """Tell whether the folder holds the present generation and nothing else of ours."""
    present = opening.current(made.index_folder)
    assert present is not None
    allowed = {opening.POINTER, opening.LOCK, *(name + end for name in present.files for end in ("", "-wal", "-shm"))}
    return set(os.listdir(made.index_folder)) <= allowed


def sound(made: World) -> None:
    """Hold that a search answers in full, that updates work, and that the next rebuild leaves no stray behind."""
    answer = made.search("okapi")
    assert (answer["status"], len(answer["hits"])) == ("complete", 5)
    made.update()
    compare_with_rebuild(made)
    made.rebuild()
    assert tidy(made)
    assert len(made.search("okapi")["hits"]) == 5


@pytest.fixture
def indexed(made: World) -> World:
    """Give a world with an index."""
    made.log("s", *talk(5, about("okapi")))
    made.log("t", *talk(5, about("zebra")))
    made.update()
    return made


@pytest.mark.parametrize("when", MOMENTS)
@pytest.mark.parametrize("number", range(1, EFFECTS + 1))
def test_a_crash_at_any_effect_leaves_one_whole_index(indexed: World, number: int, when: When) -> None:
    """A process that ends before, within or after any of its effects on disk leaves the old index or the new one."""
    disk = CrashingFiles(number, when)
    try:
        rebuild(indexed.index_folder, disk, indexed.files())
    except Crash:
        assert disk.count == number
    else:
        assert disk.count < number
        assert number > 5, "fewer effects than there must be"
    sound(indexed)


def test_every_effect_of_a_rebuild_was_crashed_at(indexed: World) -> None:
    """A rebuild has fewer effects than the enumeration above tries."""
    disk = CrashingFiles()
    rebuild(indexed.index_folder, disk, indexed.files())
    assert 5 <= disk.count < EFFECTS


@pytest.mark.parametrize(
    ("where", "error"),
    [
        ("index.catching_up.start_bulk", KeyboardInterrupt()),
        ("index.catching_up.end_bulk", MemoryError()),
        ("index.catching_up.open_log", KeyboardInterrupt()),
        ("index.writing.for_index", ValueError("a defect")),
        ("index.opening.finish_generation", KeyboardInterrupt()),
        ("index.opening.switch", apsw.FullError("disk full")),
        ("index.catching_up.SessionWriter.take", apsw.IOError("disk I/O error")),
    ],
)
def test_an_exception_anywhere_leaves_the_old_index_and_no_stray(
    indexed: World, monkeypatch: pytest.MonkeyPatch, where: str, error: BaseException
) -> None:
    """Whatever goes wrong within a rebuild goes up, and the folder is as it was before."""
    present = opening.current(indexed.index_folder)

    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(where, fail)
        with pytest.raises(type(error)):
            indexed.rebuild()
    assert opening.current(indexed.index_folder) == present
    assert tidy(indexed)
    sound(indexed)


@pytest.mark.parametrize("effect", ["make_folder", "create", "replace", "fsync_folder"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_an_effect_that_is_refused_goes_up_and_changes_nothing(indexed: World, effect: str, error: int) -> None:
    """An error of the operating system at any effect is told, and the index still answers."""
    with pytest.raises(OSError, match=os.strerror(error)) as raised:
        rebuild(indexed.index_folder, FailingFiles(1, error, only=effect), indexed.files())
    assert raised.value.errno == error
    sound(indexed)


def test_an_update_to_the_old_generation_is_made_up_for(indexed: World) -> None:
    """What another process appended to the old index while the new one was built is simply indexed again."""
    with indexed.index() as old:
        indexed.append("s", lines(message(6, 5, "turn 6 okapi")))
        files = indexed.files()
        rebuild(indexed.index_folder, RealFiles(), files)
        indexed.append("s", lines(message(7, 6, "turn 7 okapi")))
        from index.catching_up import catch_up
        from index.lagging import lags

        assert catch_up(old, lags(old, indexed.files())).entries_added == 2
    indexed.values["historyTools.maxResults"] = 12
    assert len(indexed.found("okapi")) == 7
    indexed.update()
    compare_with_rebuild(indexed)


@pytest.mark.parametrize(
    "ask",
    [
        lambda made: made.rebuild(),
        lambda made: opening.create(made.index_folder, made.disk),
        lambda made: opening.drop(made.index_folder, made.disk),
    ],
    ids=["rebuild", "create", "drop"],
)
def test_who_switches_waits_for_another_and_then_says_busy(
    indexed: World, monkeypatch: pytest.MonkeyPatch, ask: Callable[[World], object]
) -> None:
    """While another process holds the right to switch, nothing is switched, and the answer is `index-busy`."""
    monkeypatch.setattr(opening.exclusive.__wrapped__, "__kwdefaults__", {"wait_ms": 30})  # type: ignore[attr-defined]
    monkeypatch.setattr(opening.create, "__kwdefaults__", {"wait_ms": 30})
    with (
        locks.held(os.path.join(indexed.index_folder, opening.LOCK), RealFiles(), wait_seconds=1, busy="index-busy"),
        pytest.raises(ContextError) as refused,
    ):
        ask(indexed)
    assert refused.value.code == "index-busy"
    sound(indexed)


def test_dropping_leaves_nothing_of_the_index(indexed: World) -> None:
    """After a drop no file of any generation is left; the next search makes an index anew."""
    opening.drop(indexed.index_folder, indexed.disk)
    assert os.listdir(indexed.index_folder) == [opening.LOCK]
    assert len(indexed.search("okapi")["hits"]) == 5
    indexed.update()
    compare_with_rebuild(indexed)


def test_files_of_the_index_are_for_the_owner_alone(indexed: World) -> None:
    """The folder is 0700, every file in it 0600, whatever the umask."""
    before = os.umask(0)
    try:
        fresh = os.path.join(indexed.root, "fresh")
        indexed.rebuild(folder=fresh)
        db = opening.open_writer(fresh)
        assert db is not None
        with transaction(db):
            db.execute("insert into meta values('x', 1)")
        modes = {name: os.stat(os.path.join(fresh, name)).st_mode & 0o777 for name in os.listdir(fresh)}
        db.close()
    finally:
        os.umask(before)
    assert os.stat(fresh).st_mode & 0o777 == 0o700
    assert len(modes) == 5
    assert set(modes.values()) == {0o600}, modes
