"""A disk that refuses an effect, over a whole operation: at every effect, once or for good; for any operation."""

import errno
from typing import NamedTuple

from crashing import Act, Make, Story, settles
from faults import FailingFiles, scratch

from foundation.errors import ContextError, foreseen
from journal.lifecycle import Record
from journal.operations import Outcome

CODES = {errno.ENOSPC: "disk-full", errno.EIO: "io-error", errno.EACCES: "permission-denied", errno.EROFS: "read-only"}


class Refusals(NamedTuple):
    """What came of it: at how many effects one was tried, how many records noted it, and the ends that there were."""

    tried: int
    noted: int
    ends: frozenset[str]


def told(story: Story, act: Act) -> str:
    """Let a process do something; give the code that it told, empty where all went well."""
    try:
        done = act(story)
    except (OSError, ContextError) as error:
        known = foreseen(error)
        return known.code if known else "a defect"
    assert isinstance(done, Outcome)
    return done.error.code if done.error else ""


def fail_everywhere(make: Make, act: Act, error: int, *, lasting: bool, late: bool, expected: str = "") -> Refusals:
    """Let every effect fail, one after the other, and settle what is left with a good disk.

    The code is told, or the one `expected` where nothing fails; no attempt has another one; the phase never falls, and
    a recovery with a good disk notes nothing.
    """
    number, noted, failing = 0, 0, True
    ends: set[str] = set()
    while failing:
        number += 1
        with scratch() as root:
            make(root, None)
            disk = FailingFiles(number, error, lasting=lasting, late=late)
            code = told(make(root, disk), act)
            failing = disk.count >= number
            assert code in {expected, CODES[error]} | ({""} if failing else set()), (number, disk.done[-1], code)
            left = make(root, None)
            left.check_always()
            before = left.record()
            ends.add(settles(left))
            if before is not None:
                assert isinstance(before, Record)
                noted += bool(before.attempts)
                assert {attempt.code for attempt in before.attempts} <= {CODES[error], expected}
                after = left.record()
                assert isinstance(after, Record)
                assert after.attempts == before.attempts
                assert left.course.stages.index(after.phase) >= left.course.stages.index(before.phase)
    return Refusals(number - 1, noted, frozenset(ends))
