"""A record is believed about a target only as far as the target itself says the same: one signed by us may be a copy."""

from typing import Any

import pytest
from deliveries import KEYS, look
from faults import scratch
from interfering import target_is_continued
from rebases import OPERATION, Rebase
from standings import answered, crashed_at

from journal.lifecycle import Record
from journal.records import encode
from rebase.sealing import text_digest


def claim(rebase: Rebase, name: str = OPERATION, **facts: Any) -> None:
    """Record, signed with our key, what the operation says, under a name and with other facts."""
    record = rebase.record()
    assert isinstance(record, Record)
    claimed = record._replace(operation_id=name, facts={**record.facts, **facts})
    with open(rebase.path(".ds4-rebase", "operations", f"{name}.json"), "wb") as file:
        file.write(encode(claimed, KEYS))


@pytest.mark.parametrize("phase", ["TargetCreated", "Activated"])
def test_the_target_of_another_operation_is_neither_activated_nor_verified(phase: str) -> None:
    """R6: the checkpoint names its operation and its plan; a record of another one cannot take the target for its own."""
    with scratch() as root:
        rebase = crashed_at(root, phase)
        before = look(rebase.target)
        claim(rebase, "rebase_2")
        outcome = rebase.recover("rebase_2")
        assert outcome.error is not None
        assert outcome.error.code == "target-integrity"
        claim(rebase, planId=text_digest("another plan"))
        assert answered(rebase, "recover") == "target-integrity"
        assert look(rebase.target) == before


def test_a_target_that_sends_more_than_its_handoff_is_not_verified() -> None:
    """R2: what Pi will send is the handoff and nothing else, whatever size and digest a record gives."""
    with scratch() as root:
        rebase = crashed_at(root, "Activated")
        target_is_continued(rebase)
        now = look(rebase.target)
        claim(rebase, targetSize=len(now.data), targetSha256=text_digest(now.data.decode()))
        assert answered(rebase, "recover") == "target-integrity"
        assert look(rebase.target) == now
