"""Held against the real Pi 1.6.0: it opens a target, and what it would send is the handoff."""

import json
import os
from pathlib import Path

import pytest
from logs import talk
from pi_lab import lab
from rebasing import Bench, say
from session_logs import NAMES, genuine

from foundation.errors import ContextError

pytestmark = pytest.mark.network

SCRIPT = Path(__file__).parents[1] / "sessions_" / "pi_contexts.mjs"


def test_pi_opens_every_target_and_resolves_its_handoff(tmp_path: Path) -> None:
    """Targets of all genuine sessions, of a fitted one and of a second generation hold their handoff for Pi itself."""
    pi, bench = lab(), Bench(os.fspath(tmp_path))
    expected: dict[str, list[str]] = {}
    for name in NAMES:
        try:
            plan, target = bench.rebased(genuine(name)[0])
        except ContextError:
            continue
        expected[os.path.basename(target)] = [plan.handoff]
    bench.budget(1000)
    plan, first = bench.rebased(bench.log(*talk(90, lambda number: f"turn {number} {'word ' * 30}")), fitted=True)
    say(first, 0x100, "go on")
    expected[os.path.basename(first)] = [plan.handoff, "go on"]
    plan, second = bench.rebased(first, fitted=True)
    expected[os.path.basename(second)] = [plan.handoff]
    (tmp_path / "source.jsonl").unlink()
    answers = pi.run(SCRIPT, os.fspath(pi.dist / "index.js"), os.fspath(tmp_path), HOME=os.fspath(tmp_path))
    told = {}
    for answer in map(json.loads, answers.split("\n")[:-1]):
        sent = [message["content"] for message in json.loads(answer["leaf"]["messages"])]
        told[answer["name"]] = [text if isinstance(text, str) else text[0]["text"] for text in sent]
    assert told == expected
    assert len(told) > 12
