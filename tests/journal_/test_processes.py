"""Real processes: one holds the journal at a time, its death lets go, and who comes too late is told who and since when."""

import os
import signal
from pathlib import Path

import pytest
from children import child, finished, hear, started
from deliveries import BUSY, NOW, STAGES, Delivery

from foundation.clock import iso
from foundation.errors import ContextError
from foundation.locks import BusyError
from journal.keys import load_keys
from journal.lifecycle import Record
from journal.reading import listed

DELIVER = """
import sys
from deliveries import Delivery
root, stop = sys.argv[1:3]
delivery = Delivery(root)
step = getattr(delivery, stop)
def stopping(record):
    facts = step(record) if sys.argv[3] == "late" else None
    print("ready", flush=True)
    sys.stdin.readline()
    return facts or step(record)
setattr(delivery, stop, stopping)
print(delivery.run().record.phase)
"""
"""Delivers; stops in the step given until a line comes, before or after its effect."""

RACE = """
import sys
from deliveries import Delivery
from foundation.errors import ContextError
delivery = Delivery(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
try:
    with delivery.held(wait_seconds=30) as journal:
        from journal.operations import run
        outcome = run(journal, sys.argv[2], delivery.work(), versions={}, facts={"sourceSize": 11})
        print(outcome.error.code if outcome.error else outcome.record.phase)
except ContextError as error:
    print(error.code)
"""
"""Delivers under an id as soon as it is told to; prints how it ended."""

MAKE_KEY = """
import os, sys
from foundation.durable import RealFiles
from journal.keys import own_keys
print("ready", flush=True)
sys.stdin.readline()
print(own_keys(sys.argv[1], RealFiles(), os.urandom).key_id)
"""
"""Makes this installation's key as soon as it is told to; prints its id."""

COME_AND_GO = """
import sys
from deliveries import Delivery
print("ready", flush=True)
sys.stdin.readline()
for _ in range(150):
    with Delivery(sys.argv[1]).held(wait_seconds=30):
        marker = Delivery(sys.argv[1]).path("inside")
        import os
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        os.unlink(marker)
print("done")
"""
"""Takes an empty journal and leaves it, again and again; fails where another process is inside with it."""


@pytest.mark.parametrize("moment", ["early", "late"])
@pytest.mark.parametrize("step", ["check", "stage", "install", "activate", "verify"])
def test_a_killed_process_leaves_what_can_be_recovered(delivery: Delivery, step: str, moment: str) -> None:
    """At each phase, before and after the effect: while it lives the journal is busy, its death lets it go."""
    process = started(DELIVER, delivery.root, step, moment)
    with pytest.raises(BusyError) as busy:
        delivery.recover("delivery_1")
    assert busy.value.code == BUSY
    process.send_signal(signal.SIGKILL)
    process.communicate()
    delivery.check_always()
    record = delivery.record()
    assert isinstance(record, Record)
    assert record.phase == STAGES[["check", "stage", "install", "activate", "verify"].index(step)]
    assert delivery.recover().record.phase == "Verified"
    assert delivery.check_settled() == "Verified"


def test_who_is_refused_learns_who_holds_it_and_since_when(delivery: Delivery) -> None:
    """The refusal has both as data and in words, and changes nothing."""
    process = started(DELIVER, delivery.root, "stage", "early")
    try:
        before = delivery.tree()
        with pytest.raises(BusyError) as busy:
            delivery.run("delivery_2")
        assert busy.value.owner == (4711, NOW + 1)
        assert "process 4711" in busy.value.message
        assert iso(NOW + 1) in busy.value.message
        assert delivery.tree() == before
    finally:
        process.kill()
        process.communicate()


def test_a_note_of_a_dead_process_does_not_hold_the_journal(delivery: Delivery) -> None:
    """What counts is the kernel's lock, not what a file says."""
    process = started(DELIVER, delivery.root, "stage", "early")
    process.kill()
    process.communicate()
    assert delivery.abandon().record.closed
    assert delivery.check_settled() == "closed"


@pytest.mark.parametrize("ids", [("delivery_1", "delivery_1"), ("delivery_1", "delivery_2")])
def test_two_at_once_deliver_once(delivery: Delivery, ids: tuple[str, str]) -> None:
    """One after the other: of one id there is one operation, and no file is overwritten by the second."""
    both = [started(RACE, delivery.root, name) for name in ids]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    ends = sorted(finished(process).strip() for process in both)
    assert ends == sorted(["Verified", "operation-exists" if ids[0] == ids[1] else "target-exists"]) or (
        ids[0] != ids[1] and ends == ["Verified", "Verified"]  # the letters are equal, so the second finds it delivered
    )
    delivery.check_always()
    assert len(listed(delivery.journal)) == len(set(ids))


def test_two_processes_make_one_key(tmp_path: Path) -> None:
    """Whoever comes second takes the key of the first."""
    folder = os.fspath(tmp_path / "own" / "keys")
    several = [started(MAKE_KEY, folder) for _ in range(4)]
    for process in several:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    ids = {finished(process).strip() for process in several}
    keys = load_keys(folder)
    assert keys is not None
    assert ids == {keys.key_id}


def test_an_empty_journal_may_come_and_go_under_others(delivery: Delivery) -> None:
    """Removing the lock file of an empty journal never lets two processes in at once, and nothing is left at the end."""
    several = [started(COME_AND_GO, delivery.root) for _ in range(3)]
    for process in several:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [finished(process).strip() for process in several] == ["done"] * 3
    assert os.listdir(delivery.root) == ["source.jsonl"]


def test_an_interrupted_child_notes_it(delivery: Delivery) -> None:
    """Ctrl-C in the middle of a step ends the process, and the record tells."""
    process = child(DELIVER, delivery.root, "stage", "early")
    assert hear(process) == "ready"
    process.send_signal(signal.SIGINT)
    process.communicate()
    record = delivery.record()
    assert isinstance(record, Record)
    assert [attempt.code for attempt in record.attempts] == ["interrupted"]
    with pytest.raises(ContextError, match="no operation"):
        delivery.recover("delivery_9")
    assert delivery.recover().record.phase == "Verified"
