"""Holding a journal: one at a time, nothing left of an empty one, strays of a crash cleared away."""

import os
import threading

import pytest
from deliveries import BUSY, NOW, Delivery
from faults import CountingFiles

from foundation.durable import RealFiles
from foundation.errors import ContextError
from foundation.locks import BusyError, Owner, held, noted_owner


def test_a_journal_in_which_nothing_was_recorded_is_not_left(delivery: Delivery) -> None:
    """A refusal under the lock leaves no folder and no lock file; also where the block fails."""
    with delivery.held():
        assert os.path.exists(delivery.path(".journal", "lock"))
    assert os.listdir(delivery.root) == ["source.jsonl"]
    with pytest.raises(KeyError), delivery.held():
        raise KeyError
    assert os.listdir(delivery.root) == ["source.jsonl"]


def test_a_journal_with_records_keeps_its_lock_file(delivery: Delivery) -> None:
    """Recovering makes and removes no file."""
    delivery.run()
    before = set(delivery.tree())
    delivery.recover()
    assert set(delivery.tree()) == before


def test_other_files_in_the_folder_are_not_ours_to_remove(delivery: Delivery) -> None:
    """What somebody else put there stays, and with it the folder."""
    os.makedirs(delivery.path(".journal"))
    with open(delivery.path(".journal", "notes.txt"), "w") as file:
        file.write("mine")
    with delivery.held():
        pass
    assert os.listdir(delivery.path(".journal")) == ["notes.txt"]


def test_only_what_a_torn_write_leaves_is_cleared_away(delivery: Delivery) -> None:
    """Files that only look alike stay."""
    delivery.run()
    for name in ("delivery_1.json.new", "other.json.new", "other.json.old", "new"):
        with open(delivery.path(".journal", "operations", name), "wb") as file:
            file.write(b"{")
    delivery.recover()
    assert sorted(os.listdir(delivery.path(".journal", "operations"))) == ["delivery_1.json", "new", "other.json.old"]


def test_within_one_process_too_one_holds_it(delivery: Delivery) -> None:
    """A server with two requests at once is refused like two processes."""
    with delivery.held(), pytest.raises(BusyError) as busy, Delivery(delivery.root).held():
        pass
    assert (busy.value.code, busy.value.owner) == (BUSY, Owner(4711, NOW + 1))


def test_waiting_for_an_empty_journal_that_is_being_left_takes_a_new_one(delivery: Delivery) -> None:
    """The file that was waited for is gone by then; holding that would hold nothing."""
    taken = threading.Event()

    def wait() -> None:
        with Delivery(delivery.root).held(wait_seconds=30):
            taken.set()
            assert os.path.exists(delivery.path(".journal", "lock"))

    with delivery.held():
        other = threading.Thread(target=wait)
        other.start()
        assert not taken.wait(0.2)
    other.join(30)
    assert taken.is_set()
    assert os.listdir(delivery.root) == ["source.jsonl"]


def test_a_link_in_the_place_of_the_lock_is_not_followed(delivery: Delivery) -> None:
    """The note must never be written over a session."""
    os.makedirs(delivery.path(".journal"))
    os.symlink(delivery.source, delivery.path(".journal", "lock"))
    with pytest.raises(ContextError) as refused, delivery.held():
        pass
    assert refused.value.code == "in-the-way"
    delivery.check_always()
    with pytest.raises(OSError, match="symbolic"):
        RealFiles().overwrite(delivery.path(".journal", "lock"), b"x")


def test_taking_a_journal_that_is_there_costs_no_sync(delivery: Delivery) -> None:
    """The note is for processes that live; it need not survive a power cut."""
    delivery.run()
    disk = CountingFiles()
    delivery.disk = disk
    with delivery.held():
        pass
    assert disk.names == ["make_folder", "overwrite"]


@pytest.mark.parametrize(
    "note", [b"", b"{", b"[]", b'{"pid":1}', b'{"pid":"1","since":2}', b'{"pid":true,"since":2}', b"\xff"]
)
def test_any_note_is_read_or_passed_over(delivery: Delivery, note: bytes) -> None:
    """Half a note, or another program's file, only means that nobody knows who it is."""
    path = delivery.path("lock")
    with open(path, "wb") as file:
        file.write(note)
    assert noted_owner(path) is None
    with (
        held(path, RealFiles(), wait_seconds=0, busy=BUSY),
        pytest.raises(BusyError) as busy,
        held(path, RealFiles(), wait_seconds=0, busy=BUSY),
    ):
        pass
    assert busy.value.owner is None


def test_a_shorter_note_leaves_nothing_of_a_longer_one(delivery: Delivery) -> None:
    """Owners change, the file stays."""
    path = delivery.path("lock")
    for owner in (Owner(123456, NOW), Owner(7, 5)):
        with held(path, RealFiles(), wait_seconds=0, busy=BUSY, owner=owner):
            assert noted_owner(path) == owner
