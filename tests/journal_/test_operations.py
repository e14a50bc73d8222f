"""The engine: intent first, one step after the other, each durable before the next; records that only go up."""

import json
import os
from collections.abc import Mapping
from hashlib import sha256

import pytest
from deliveries import COURSE, KEYS, OPERATION, STAGES, Delivery
from faults import CountingFiles
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import CODES, ContextError
from journal import lifecycle
from journal.keys import Keys
from journal.lifecycle import Fact, Record
from journal.operations import Work, adopt, closing_error, recover, run
from journal.reading import SetAside, find
from journal.writing import write_next

OTHERS = Keys("fedcba9876543210", b"o" * 32)


def test_an_operation_goes_through_its_stages(delivery: Delivery) -> None:
    """Each step finds the phase before it recorded, and the facts of the steps before."""
    seen: list[Record] = []
    stage = delivery.stage

    def look_and_stage(record: Record) -> Mapping[str, Fact]:
        seen.append(find(delivery.journal, OPERATION))
        return stage(record)

    delivery.stage = look_and_stage  # type: ignore[method-assign]
    outcome = delivery.run()
    assert outcome.error is None
    assert delivery.entered == list(STAGES[:-1])
    assert (seen[0].phase, seen[0].versions) == ("Checked", {"composer": "1"})
    assert set(outcome.record.facts) == {"source", "sourceSize", "size", "sha256"}
    assert delivery.check_settled() == "Verified"


def test_the_intent_is_durable_before_any_other_effect(delivery: Delivery) -> None:
    """Nothing outside the journal is touched before its first record and the folders that hold it are on the disk."""
    disk = CountingFiles()
    delivery.disk = disk
    delivery.run()
    first = disk.done.index(("fsync_folder", "operations"))
    before = disk.done[: first + 1]
    assert {name for _, name in before} <= {
        ".journal",
        "lock",
        "operations",
        f"{OPERATION}.json.new",
        os.path.basename(delivery.root),
    }
    assert [name for done, name in before if done == "fsync_folder"] == [
        ".journal",
        os.path.basename(delivery.root),
        "operations",
    ]


def test_each_record_names_the_one_before(delivery: Delivery) -> None:
    """Sequence numbers have no gaps, and the digest is that of the file that was replaced."""
    files: list[bytes] = []
    for name in ("check", "stage", "install", "activate", "verify"):
        step = getattr(delivery, name)

        def watched(record: Record, step: object = step) -> object:
            files.append(delivery.tree()[f".journal/operations/{OPERATION}.json"].data)
            assert callable(step)
            return step(record)

        setattr(delivery, name, watched)
    delivery.run()
    files.append(delivery.tree()[f".journal/operations/{OPERATION}.json"].data)
    parsed = [json.loads(data) for data in files]
    assert [fields["sequence"] for fields in parsed] == [1, 2, 3, 4, 5, 6]
    assert [fields["previous"] for fields in parsed] == ["", *(sha256(data).hexdigest() for data in files[:-1])]
    assert [fields["phase"] for fields in parsed] == list(STAGES)


def test_an_id_is_used_once(delivery: Delivery) -> None:
    """A second operation of the same id is refused, however the first one ended."""
    delivery.run()
    with pytest.raises(ContextError) as refused:
        delivery.run()
    assert refused.value.code == "operation-exists"
    with pytest.raises(ContextError) as refused:
        delivery.run("../outside")
    assert refused.value.code == "operation-unknown"


def test_a_record_that_something_else_changed_is_left_alone(delivery: Delivery) -> None:
    """Between two phases the file is exchanged: the operation stops, and the file is not overwritten."""
    path = delivery.path(".journal", "operations", f"{OPERATION}.json")
    earlier = b""
    stage, install = delivery.stage, delivery.install

    def keep(record: Record) -> object:
        nonlocal earlier
        with open(path, "rb") as file:
            earlier = file.read()
        return stage(record)

    def exchange(record: Record) -> object:
        with open(path, "wb") as file:
            file.write(earlier)
        return install(record)

    delivery.stage, delivery.install = keep, exchange  # type: ignore[method-assign, assignment]
    outcome = delivery.run()
    assert outcome.error is not None
    assert outcome.error.code == "journal-changed"
    record = find(delivery.journal, OPERATION)
    assert (record.phase, record.digest) == ("Checked", sha256(earlier).hexdigest())
    assert Delivery(delivery.root).recover().error is None
    assert delivery.check_settled() == "Verified"


def test_a_record_that_vanished_is_not_made_up(delivery: Delivery) -> None:
    """Where the file is gone in the middle, the operation stops and nothing is written in its place."""
    path = delivery.path(".journal", "operations", f"{OPERATION}.json")

    def vanish(_: Record) -> dict[str, int]:
        os.unlink(path)
        return {}

    delivery.check = vanish  # type: ignore[method-assign, assignment]
    outcome = delivery.run()
    assert outcome.error is not None
    assert outcome.error.code == "journal-changed"
    assert not os.path.exists(path)


def test_abandoning_undoes_and_a_second_time_changes_nothing(delivery: Delivery) -> None:
    """What was staged is gone, the record stays and tells that it was abandoned."""

    def refuse(_: Record) -> dict[str, int]:
        raise ContextError("io-error")

    delivery.install = refuse  # type: ignore[method-assign, assignment]
    delivery.run()
    assert os.path.exists(delivery.staged)
    outcome = delivery.abandon()
    assert (outcome.error, outcome.record.closing, outcome.record.closed) == (None, "operation-abandoned", True)
    before = delivery.without_lock()
    assert delivery.abandon() == outcome
    recovered = delivery.recover()
    assert recovered.error is not None
    assert (recovered.error.code, recovered.record) == ("operation-abandoned", outcome.record)
    assert delivery.without_lock() == before
    assert delivery.check_settled() == "closed"


@pytest.mark.parametrize("keys", [OTHERS, None], ids=["foreign", "unsigned"])
def test_the_owner_can_adopt_a_record_of_another_installation(delivery: Delivery, keys: Keys | None) -> None:
    """It is signed anew, says whose it was, and can be recovered from where it stood."""

    def refuse(_: Record) -> dict[str, int]:
        raise ContextError("io-error")

    elsewhere = Delivery(delivery.root, keys=OTHERS)
    elsewhere.install = refuse  # type: ignore[method-assign, assignment]
    elsewhere.run()
    if keys is None:
        path = delivery.path(".journal", "operations", f"{OPERATION}.json")
        with open(path, "r+b") as file:
            fields = json.loads(file.read())
            unsigned = {name: value for name, value in fields.items() if name not in ("mac", "keyId")}
            file.seek(0)
            file.truncate()
            file.write(json.dumps(unsigned).encode())
    assert isinstance(delivery.record(), SetAside)
    with delivery.held() as journal:
        adopted = adopt(journal, OPERATION)
        assert adopt(journal, OPERATION) == adopted
    assert adopted.adopted_from == (OTHERS.key_id if keys else "unsigned")
    assert (adopted.phase, adopted.sequence) == ("Staged", 5)
    assert delivery.recover().record.phase == "Verified"
    assert delivery.check_settled() == "Verified"


def test_what_was_edited_cannot_be_adopted(delivery: Delivery) -> None:
    """Its signature names our own key: it was ours, and somebody changed it."""
    delivery.run()
    path = delivery.path(".journal", "operations", f"{OPERATION}.json")
    with open(path, "rb") as file:
        data = file.read().replace(b'"sourceSize": 11', b'"sourceSize": 12')
    with open(path, "wb") as file:
        file.write(data)
    with delivery.held() as journal, pytest.raises(ContextError) as refused:
        adopt(journal, OPERATION)
    assert refused.value.code == "journal-edited"


def test_steps_must_lead_through_the_course(delivery: Delivery) -> None:
    """Missing or exchanged steps are a defect that shows before anything is written."""
    work = delivery.work()
    for steps in (work.steps[:-1], work.steps[::-1], [*work.steps, work.steps[0]]):
        with delivery.held() as journal, pytest.raises(ValueError, match="stages of delivery"):
            run(journal, OPERATION, Work(steps, work.undo), versions={}, facts={})
        with delivery.held() as journal, pytest.raises(ValueError, match="stages of delivery"):
            recover(journal, OPERATION, Work(steps, work.undo))
    assert list(delivery.tree()) == ["source.jsonl"]


def test_no_text_gets_into_a_record_but_facts(delivery: Delivery) -> None:
    """An attempt has a code; the words of an error, which may quote anything, are not written."""

    def refuse(_: Record) -> dict[str, int]:
        raise ContextError("io-error", "the secret that was said")

    def defect(_: Record) -> dict[str, int]:
        raise LookupError("the secret that was said")

    delivery.stage = refuse  # type: ignore[method-assign, assignment]
    delivery.run()
    delivery.stage = defect  # type: ignore[method-assign, assignment]
    with pytest.raises(LookupError):
        delivery.recover()
    assert not any(b"secret" in seen.data for seen in delivery.tree().values())


def test_a_closing_code_of_another_version_is_told_as_closed() -> None:
    """The record may come from a version that knew more codes."""
    assert closing_error("source-changed").code == "source-changed"
    assert closing_error("moon-eclipsed").code == "operation-closed"


def test_writing_needs_the_record_that_is_there(delivery: Delivery) -> None:
    """Two records that both follow one: the second is refused."""
    with delivery.held() as journal:
        outcome = run(journal, OPERATION, delivery.work(), versions={}, facts={"sourceSize": 11})
        after = lifecycle.failed(outcome.record, "io-error", 1)
        write_next(journal, after)
        with pytest.raises(ContextError) as refused:
            write_next(journal, after)
    assert refused.value.code == "journal-changed"


@given(
    st.lists(
        st.sampled_from(["advance", "fail", "close"])
        | st.tuples(st.just("advance"), st.dictionaries(st.sampled_from("abc"), st.integers(0, 1), max_size=2)),
        max_size=20,
    )
)
def test_phases_only_go_up_and_facts_only_grow(events: list[object]) -> None:
    """Whatever happens to an operation, in whatever order and with whatever clock."""
    record = lifecycle.begun(COURSE, OPERATION, 1000, versions={}, facts={"a": 0})
    for at, event in enumerate(events):
        kind, facts = event if isinstance(event, tuple) else (event, {})
        before = record
        if kind == "advance" and lifecycle.standing(COURSE, record) == "open":
            if any(record.facts.get(name, value) != value for name, value in facts.items()):
                with pytest.raises(ValueError, match="recorded"):
                    lifecycle.advanced(COURSE, record, facts, 2000 - at)
                continue
            record = lifecycle.advanced(COURSE, record, facts, 2000 - at)
        elif kind == "fail":
            record = lifecycle.failed(record, "io-error", 2000 - at)
        elif kind == "close" and not lifecycle.committed(COURSE, record):
            record = lifecycle.closed(lifecycle.begun_to_close(record, "io-error", 1), 1)
        assert STAGES.index(record.phase) >= STAGES.index(before.phase)
        assert record.facts.items() >= before.facts.items()
        assert record.sequence >= before.sequence
        assert record.updated_at >= before.updated_at
    assert lifecycle.standing(COURSE, record) in ("open", "finished", "closed")


def test_the_codes_of_the_journal_are_in_the_table() -> None:
    """A misspelt code would surface only where the refusal happens."""
    assert {"journal-damaged", "journal-edited", "journal-unsigned", "journal-foreign", "journal-version"} <= set(CODES)
    assert KEYS.key_id
