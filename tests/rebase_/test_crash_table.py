"""The table of crashes in docs/rebase.md is what happens."""

import os
import re
from itertools import groupby
from pathlib import Path

from crashing import crashed, recovered
from faults import scratch
from rebases import Rebase

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rebase.md"


def test_each_crash_leaves_what_the_table_says() -> None:
    """A crash after every effect: record, staged bytes, new session and recovery are those of the row, in its order."""
    _, rows = PAGE.read_text("utf-8").split("| a crash after | record | staged bytes | new session | `--recover` |")
    told = [tuple(cell.strip() for cell in line.strip("|").split("|"))[1:]
            for line in rows.strip().split("\n\n")[0].splitlines()[1:]]  # fmt: skip

    assert [state for state, _ in groupby(_found())] == told


def _found() -> list[tuple[str, ...]]:
    states: list[tuple[str, ...]] = []
    hit = True
    while hit:
        with scratch() as root:
            story = Rebase(root)
            hit = crashed(story, len(states) + 1, "after", lambda story: story.run())  # type: ignore[attr-defined]
            states.append(_state(story))
    return states


def _state(story: Rebase) -> tuple[str, ...]:
    record, targets = story.record(), story.targets()
    phase = getattr(record, "phase", "none")
    names = [name for name in os.listdir(story.root) if re.fullmatch(r"\.rebase_\w+\.tmp", name)]
    newest = bool(targets) and os.stat(targets[0]).st_mtime_ns > story.before.modified_ns
    target = ("the newest" if newest else "older than its source") if targets else "none"
    end = recovered(story)
    return phase, "whole" if names else "none", target, "nothing to recover; rebase again" if end == "nothing" else end
