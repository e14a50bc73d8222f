"""Several processes on one index, and processes that are killed in the middle of it."""

import os
import random
import signal
import time
from itertools import pairwise

import pytest
from children import BULK, HOLD, REBUILD, UPDATE, finished, go_on, hear, started
from index_rows import compare_with_rebuild
from logs import about, header, lines, message, talk
from worlds import World

from index import health, opening
from index.catching_up import catch_up
from index.lagging import lags
from index.sql import run, snapshot, value


def some_sessions(made: World, count: int, *, entries: int = 60) -> int:
    """Write sessions; give the number of all their entries."""
    for number in range(count):
        made.log(f"s{number}", *talk(entries, about(f"of {number}, and more about tapirs " * 9)))
    return count * entries


@pytest.mark.parametrize("code", [UPDATE, REBUILD], ids=["updates", "rebuilds"])
def test_two_processes_at_once_end_in_one_complete_index(made: World, code: str) -> None:
    """Two updates, or two rebuilds, at the same moment both end well, and the index holds everything once."""
    total = some_sessions(made, 30)
    both = [started(code, made.index_folder, made.folder) for _ in range(2)]
    added = [int(finished(process)) for process in list(map(go_on, both))]
    assert sum(added) == total if code == UPDATE else added == [total, total]
    made.update()
    compare_with_rebuild(made)
    assert_tidy(made)


def test_an_update_waits_for_a_writer_that_gets_on(made: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update that meets another one at work waits as long as that one gets on, and fails only on one that hangs."""
    total = some_sessions(made, 8)
    monkeypatch.setattr(opening, "BUSY_WAIT_MS", 50)
    with made.index():
        pass
    slow = """
import sys, time
from index import opening
from index.sql import run
db = opening.open_writer(sys.argv[1])
run(db, "begin immediate")
print("holds", flush=True)
for number in range(12):
    time.sleep(0.04)
    run(db, "insert or replace into meta values('beside', ?)", (number,))
    run(db, "commit")
    run(db, "begin immediate")
run(db, "rollback")
"""
    process = started(slow, made.index_folder)
    assert made.update().entries_added == total
    finished(process)


def test_a_search_answers_while_another_process_holds_the_lock(made: World) -> None:
    """A writer at work for seconds makes nobody wait: what is indexed is found, what is not is read from the log."""
    made.log("s", *talk(5, about("okapi")))
    made.update()
    made.append("s", lines(message(6, 5, "turn 6 okapi, just now")))
    process = started(HOLD, made.index_folder, "begin immediate")
    answer = made.search("okapi")
    assert sorted(hit["entryId"] for hit in answer["hits"]) == [f"{number:08x}" for number in range(1, 7)]
    assert (answer["status"], answer["warnings"]) == ("partial", ["index-behind"])
    time.sleep(2)
    assert len(made.search("okapi")["hits"]) == 6
    assert finished(go_on(process)) == "let go\n"
    assert made.search("okapi")["status"] == "complete"


def test_a_writer_waits_for_another_one(made: World) -> None:
    """An update that finds the lock held for two seconds waits and succeeds."""
    made.log("s", *talk(5, about("okapi")))
    with made.index():
        pass
    process = started(HOLD, made.index_folder, "begin immediate")
    update = go_on(started(UPDATE, made.index_folder, made.folder))
    time.sleep(2)
    go_on(process)
    assert int(finished(update)) == 5
    finished(process)


def test_a_reader_keeps_its_view_while_others_write(made: World) -> None:
    """A reader with an open snapshot sees one state through updates, a rebuild and a deletion, and never an error."""
    made.log("s", *talk(5, about("okapi")))
    made.log("t", *talk(5, about("zebra")))
    made.update()
    reader = opening.open_reader(made.index_folder)
    assert reader is not None
    with snapshot(reader):
        before = value(reader, "select count(*) from words where words match 'okapi OR zebra'")
        made.append("s", lines(message(6, 5, "turn 6 okapi")))
        made.delete("t")
        made.update()
        made.rebuild()
        made.search("okapi")
        assert value(reader, "select count(*) from words where words match 'okapi OR zebra'") == before == 10
        assert value(reader, "select count(*) from session") == 2
    reader.close()
    with made.index() as db:
        assert value(db, "select count(*) from words where words match 'okapi OR zebra'") == 6


def assert_tidy(made: World) -> None:
    """Hold that the folder of the index has the files of the present generation and nothing else of ours."""
    present = opening.current(made.index_folder)
    assert present is not None
    allowed = {opening.POINTER, opening.LOCK, *(name + end for name in present.files for end in ("", "-wal", "-shm"))}
    assert set(os.listdir(made.index_folder)) <= allowed


@pytest.mark.slow
def test_a_bulk_build_that_is_killed_goes_on_where_it_was(made: World) -> None:
    """Killed at any moment, a bulk build leaves an index that answers, says that it is unfinished, and can go on."""
    rng = random.Random(5)
    some_sessions(made, 30, entries=200)
    made.session = "s3"
    behind = []
    for _ in range(6):
        process = started(BULK, made.index_folder, made.folder)
        for _ in range(rng.randrange(4, 9)):
            assert int(hear(go_on(process)))
        go_on(process)
        time.sleep(rng.uniform(0.0, 0.02))
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        status = made.status("current-session")
        assert status["index"]["unfinished"]
        assert (status["status"], status["warnings"]) == ("partial", ["index-behind"])
        with made.index() as db:
            behind.append(health.state(db, made.index_folder, made.files()).behind)
    assert behind == sorted(behind, reverse=True)
    assert behind[0] > behind[-1] > 0
    assert made.search("tapirs", scope="current-session")["hits"]
    made.update()
    with made.index() as db:
        state = health.state(db, made.index_folder, made.files())
        assert (state.unfinished, state.files_behind) == (False, 0)
    compare_with_rebuild(made)


@pytest.mark.slow
def test_a_killed_rebuild_leaves_the_old_index(made: World) -> None:
    """Killed at any moment, a rebuild leaves the old index or the new one in place, and the next one clears up."""
    rng = random.Random(7)
    some_sessions(made, 10, entries=150)
    made.update()
    for _ in range(6):
        process = go_on(started(REBUILD, made.index_folder, made.folder))
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        process.communicate()
        made.session = "s1"
        answer = made.search("tapirs")
        assert (len(answer["hits"]), answer["status"]) == (6, "complete")
    made.rebuild()
    assert_tidy(made)
    compare_with_rebuild(made)


def pages_of_appends(made: World, appends: int) -> list[int]:
    """Append turns one by one, and give how many pages each update wrote."""
    frames = [0]

    def note(_db: object, _name: str, count: int) -> int:
        frames.append(count)
        return 0

    with made.index() as db:
        run(db, "pragma wal_checkpoint(truncate)")
        db.set_wal_hook(note)  # in place of the automatic checkpoints
        for number in range(appends):
            made.append("s", lines(message(1_000_000 + number, None, f"append {number} about zebras")))
            catch_up(db, lags(db, [made.file("s")]))
    assert len(frames) == appends + 1
    return [after - before for before, after in pairwise(frames)]


@pytest.mark.parametrize("build", ["update", "rebuild"])
def test_small_appends_after_a_bulk_build_rewrite_nothing(
    made: World, monkeypatch: pytest.MonkeyPatch, build: str
) -> None:
    """No append after a bulk build, the sixteenth least of all, makes SQLite write the index anew."""
    monkeypatch.setattr("index.catching_up.BULK_BYTES", 100_000)
    monkeypatch.setattr("index.catching_up._COMMIT_BYTES", 600_000)
    monkeypatch.setattr("index.catching_up._PIECE_BYTES", 200_000)
    made.write("s", lines(header(identity="s"), *talk(1500, hexadecimal_words)))
    made.update() if build == "update" else made.rebuild()
    with made.index() as db:
        assert value(db, "select count(*) from meta where key = 'bulk'") == 0
        whole = value(db, "select count(*) from words_data")
    assert whole > 200
    assert max(pages_of_appends(made, 70)) < whole / 4


def hexadecimal_words(number: int) -> str:
    """Give a hundred words that are in no other text."""
    return f"{number} {random.Random(number).randbytes(400).hex(' ', 4)}"


def test_a_search_does_not_pay_for_a_bulk_build_that_was_cut_short(
    made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a killed bulk build each search merges a little, so none is slow, and in the end the index is whole."""
    monkeypatch.setattr("index.catching_up.BULK_BYTES", 100_000)
    monkeypatch.setattr("index.tuning._MERGE_PAGES", 20)
    made.write("s", lines(header(identity="s"), *talk(900, hexadecimal_words)))
    monkeypatch.setattr("index.catching_up.finish_bulk", lambda db, at_once: None)  # noqa: ARG005 - its signature
    made.update()
    monkeypatch.undo()
    monkeypatch.setattr("index.tuning._MERGE_PAGES", 20)
    with made.index() as db:
        assert value(db, "select count(*) from meta where key = 'bulk'") == 1
        searches = 0
        while value(db, "select count(*) from meta where key = 'bulk'") and searches < 100:
            searches += 1
            made.append("s", lines(message(1_000_000 + searches, None, f"search {searches} about zebras")))
            changes = db.total_changes()
            assert made.search("zebras")["hits"]
            assert db.total_changes() == changes
        assert 2 < searches < 100
    made.update()
    compare_with_rebuild(made)
