"""A process may end at any effect of remove, restore and delete: memory is as before or as after, never between."""

import errno
from pathlib import Path

import pytest
from crashing import Make, crash_everywhere, crash_twice, cut_at_every_effect
from faults import MOMENTS, FailingFiles, When, scratch
from remembering import SECRET_NAME, SECRET_TEXT, Deleting, Remembering, Restoring

from foundation.errors import ContextError, foreseen
from memory.changing import COURSE

STORIES = [Remembering, Restoring, Deleting]


def run(story: Remembering) -> None:
    """Do it."""
    story.run()


@pytest.mark.parametrize("make", STORIES)
@pytest.mark.parametrize("when", MOMENTS)
def test_a_crash_at_any_effect_is_recovered_from(make: Make, when: When) -> None:
    """Before, within and after every effect: recovery ends in before or after, and a second one changes nothing."""
    assert crash_everywhere(make, run, when) == "Applied"  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("make", STORIES)
def test_a_crash_inside_recovery_is_recovered_from(make: Make) -> None:
    """Recovery may die too, at each of its effects."""
    assert crash_twice(make, run, "before", "before") > 100  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("make", STORIES)
@pytest.mark.parametrize("when", ["before", "torn"])
def test_a_power_cut_at_any_effect_is_recovered_from(make: Make, when: When) -> None:
    """Whatever names and bytes were not brought to the disk get lost."""
    assert cut_at_every_effect(make, run, when) > 30  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EACCES])
@pytest.mark.parametrize("make", STORIES)
def test_a_disk_that_fails_stops_it_with_a_code(make: Make, error: int) -> None:
    """A full disk at any effect: a code, memory as before or after, and the next attempt ends it."""
    number = 0
    while True:
        number += 1
        with scratch() as root:
            story = make(root, None)
            story.disk = FailingFiles(number, error)
            try:
                outcome = story.run()  # type: ignore[attr-defined]
                code = outcome.error.code if outcome.error else ""
            except (ContextError, OSError) as stopped:
                known = foreseen(stopped)
                assert known is not None
                code = known.code
            story.check_always()
            if not code:
                assert number > 10
                return
            assert code
            again = make(root, None)
            if again.record() is not None:
                again.recover()
            assert again.check_settled() in ("nothing", "closed", "Applied")


def test_nothing_of_what_was_deleted_is_left() -> None:
    """No file of memory holds its name or the text of its facts, in no form that a search would find."""
    with scratch() as root:
        story = Deleting(root)
        story.run()
        for path in story.files():
            with open(path, "rb") as file:
                data = file.read().lower()
            for word in (*SECRET_NAME.lower().split(), *SECRET_TEXT.split()):
                assert word.encode() not in data, path


def test_the_page_has_a_row_for_each_phase() -> None:
    """The table of `docs/memory.md` tells of what each cut leaves."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "memory.md").read_text("utf-8")
    table = page.partition("| cut after |")[2].partition("\n\n")[0].splitlines()[2:]
    assert [row.split("|")[1].strip() for row in table] == ["nothing recorded", *COURSE.stages]
    assert [row.split("|")[2].strip() for row in table] == ["as before"] * 3 + ["as after"] * 2
