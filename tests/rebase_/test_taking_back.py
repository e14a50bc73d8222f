"""Taking a rebase back removes what is ours and just as we made it, and nothing else."""

import os

import pytest
from crashing import crashed
from deliveries import look
from faults import CountingFiles, Crash, scratch
from rebases import Rebase
from rebasing import say

from foundation.durable import RealFiles
from foundation.errors import ContextError
from journal.lifecycle import Record
from journal.writing import write_next
from rebase.facts import facts_of


@pytest.fixture
def stopped(rebase: Rebase) -> Rebase:
    """Give a rebase whose target is installed, and not activated."""

    def refuse(*_: str) -> None:
        raise ContextError("io-error")

    activate, rebase.activate = rebase.activate, refuse  # type: ignore[method-assign, assignment]
    rebase.run()
    rebase.activate = activate  # type: ignore[method-assign]
    return rebase


def test_words_said_while_it_is_taken_back_are_never_lost(stopped: Rebase) -> None:
    """R1: Pi goes on in the target just before it is moved away, then the process dies: recovery gives it back."""
    target = stopped.target

    class Dying(CountingFiles):
        def rename_no_replace(self, source: str, target: str) -> None:
            say(source, 900, "one thing more")
            super().rename_no_replace(source, target)
            raise Crash

    stopped.disk = Dying()
    with pytest.raises(Crash):
        stopped.abandon()
    assert not os.path.exists(target)

    stopped.disk = RealFiles()
    stopped.recover()

    assert look(target).data.endswith(b"\n")
    assert b"one thing more" in look(target).data
    assert [name for name in os.listdir(stopped.root) if name.endswith(".tmp")] == []


def test_a_record_cannot_have_another_session_removed(stopped: Rebase) -> None:
    """R1: a record may be another's that the owner adopted: what it names is removed only where its link says so too."""
    record = stopped.record()
    assert isinstance(record, Record)
    other = stopped.path("other.jsonl")
    with open(stopped.source, "rb") as source, open(other, "wb") as file:
        file.write(source.read())
    wrong = dict(record.facts) | {
        "targetFile": "other.jsonl",
        "targetSize": record.facts["sourceSize"],
        "targetSha256": record.facts["sourceSha256"],
    }
    with stopped.held() as journal:
        write_next(journal, record._replace(facts=wrong, previous=record.digest, sequence=record.sequence + 1))

    stopped.abandon()

    assert look(other).data == stopped.before.data


def test_a_record_whose_target_is_its_source_does_not_count(stopped: Rebase) -> None:
    """R1: such a record is damaged, whoever signed it."""
    record = stopped.record()
    assert isinstance(record, Record)
    with pytest.raises(ContextError, match="cannot be read"):
        facts_of(record._replace(facts={**record.facts, "targetFile": record.facts["sourceFile"]}))


def test_an_operation_closed_after_its_target_went_may_be_abandoned_again() -> None:
    """R6: taking back what was closed changes nothing, also where it had taken effect."""
    with scratch() as root:
        rebase = Rebase(root)
        crashed(rebase, len(_effects_until_activated()), "after", lambda story: story.run())  # type: ignore[attr-defined]
        os.unlink(rebase.target)
        rebase.recover()
        assert rebase.abandon().record.closed


def _effects_until_activated() -> list[str]:
    with scratch() as root:
        rebase = Rebase(root, CountingFiles())
        rebase.run()
        assert isinstance(rebase.disk, CountingFiles)
        return rebase.disk.names[: -len(("make_folder", "unlink", "create", "replace", "fsync_folder"))]
