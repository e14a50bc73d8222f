"""Crashes, power cuts and failing disks over a whole operation, at every effect; for any operation of the journal."""

from collections.abc import Callable
from typing import Protocol

import pytest
from deliveries import Look
from faults import Crash, CrashingFiles, ForgetfulFiles, When, scratch

from foundation.durable import Files, RealFiles
from foundation.errors import ContextError
from journal.lifecycle import Course, Record
from journal.operations import Outcome
from journal.reading import SetAside


class Story(Protocol):
    """An operation in a folder of its own, which can be run, recovered and looked at from outside."""

    disk: Files
    entered: list[str]
    course: Course

    def recover(self) -> Outcome:
        """Bring it to its end."""

    def record(self) -> Record | SetAside | None:
        """Give what the journal says of it."""

    def check_always(self) -> None:
        """Hold what must hold at any moment."""

    def check_settled(self) -> str:
        """Hold what must hold after a recovery; give how it ended."""

    def without_lock(self) -> dict[str, Look]:
        """Look at every file but the lock."""


Make = Callable[[str, Files | None], Story]
Act = Callable[[Story], object]


def crashed(story: Story, number: int, when: When, act: Act) -> bool:
    """Let the process die at an effect; tell whether there was one of that number."""
    story.disk = CrashingFiles(number, when)
    try:
        return died(story, act)
    finally:
        story.disk = RealFiles()


def died(story: Story, act: Act) -> bool:
    """Let a process do something; tell whether it crashed over it."""
    try:
        act(story)
    except Crash:
        return True
    except ContextError:
        pass
    return False


def phase(story: Story) -> int:
    """Give the number of the recorded phase, -1 where nothing is recorded."""
    record = story.record()
    assert not isinstance(record, SetAside), record
    return story.course.stages.index(record.phase) if record else -1


def furthest(story: Story) -> int:
    """Give the number of the furthest phase from which a step began."""
    return max((story.course.stages.index(entered) for entered in story.entered), default=-1)


def recover(story: Story) -> None:
    """Recover."""
    story.recover()


def recovered(story: Story) -> str:
    """Recover, as a person would: what the list shows, or run again where it shows nothing."""
    if story.record() is None:
        with pytest.raises(ContextError, match="no operation"):
            story.recover()
    else:
        outcome = story.recover()
        assert outcome.error is None or outcome.record.closed, outcome
    return story.check_settled()


def settles(story: Story) -> str:
    """Recover, and recover again: the second one changes nothing, neither bytes nor inodes nor times."""
    end = recovered(story)
    before = story.without_lock()
    assert recovered(story) == end
    assert story.without_lock() == before
    return end


def crash_everywhere(make: Make, act: Act, when: When) -> str:
    """Crash at every effect and settle what is left; give how it ends where nothing crashes."""
    number = 0
    while True:
        number += 1
        with scratch() as root:
            story = make(root, None)
            hit = crashed(story, number, when, act)
            story.check_always()
            before = phase(story)
            assert before >= furthest(story)
            again = make(root, None)
            end = settles(again)
            assert phase(again) >= before
            if not hit:
                assert number > 30, "fewer effects than there must be"
                return end


def crash_twice(make: Make, act: Act, first: When, second: When) -> int:
    """Crash at every effect, and then inside recovery at every effect; settle what is left. Give how many doubles."""
    doubles, number, hit = 0, 0, True
    while hit:
        number, inner, again = number + 1, 0, True
        while again:
            inner += 1
            with scratch() as root:
                hit = crashed(make(root, None), number, first, act)
                again = crashed(make(root, None), inner, second, recover)
                story = make(root, None)
                story.check_always()
                settles(story)
                doubles += hit and again
    return doubles


def cut_everywhere(make: Make, check: Act, number: int, when: When, *acts: Act) -> tuple[int, bool]:
    """Let a first process crash at an effect and others do the other acts, then the power go, in every possible way.

    `check` looks at what is left each time. Give how many ways there were, and whether the first process crashed.
    """
    choice, ways, hit = 0, 1, False
    while choice < ways:
        with scratch() as root:
            make(root, None)  # what was there before is durable
            disk = ForgetfulFiles(root)
            first = make(root, CrashingFiles(number, when, disk))
            hit = died(first, acts[0])
            entered = first.entered
            for act in acts[1:]:
                later = make(root, disk)
                died(later, act)
                entered = entered + later.entered
            outcomes = [(kept, bytes_too) for kept in disk.outcomes() for bytes_too in {False, disk.unsynced}]
            kept, bytes_too = outcomes[choice]
            disk.cut(kept, unsynced_too=bytes_too)
            left = make(root, None)
            left.entered = entered
            check(left)
            choice, ways = choice + 1, len(outcomes)
    return ways, hit


def settles_after_a_cut(story: Story) -> str:
    """Hold what must hold after a power cut, recover, recover again; give how it ended."""
    story.check_always()
    assert phase(story) >= furthest(story)
    ends = []
    for _ in range(2):
        if story.record() is None:
            with pytest.raises(ContextError, match="no operation"):
                story.recover()
        else:
            story.recover()
        ends.append((story.check_settled(), story.without_lock()))
    assert ends[0] == ends[1]
    return ends[0][0]


def cut_at_every_effect(make: Make, act: Act, when: When) -> int:
    """Cut the power at every effect, in every way; give how many cuts there were."""
    number, cuts, hit = 0, 0, True
    while hit:
        number += 1
        ways, hit = cut_everywhere(make, settles_after_a_cut, number, when, act)
        cuts += ways
    return cuts
