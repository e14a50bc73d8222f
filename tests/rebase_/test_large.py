"""A session of 200 MB: memory follows the budget and the number of entries, not the size of the file."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from children import child, finished
from logs import header, line

MEGABYTES, MOST_MEMORY = 200, 220
CHILD = """
import json, sys
from children import peak_megabytes
from rebasing import Bench
bench = Bench(sys.argv[1])
file = bench.path("source.jsonl")
blocked = bench.plan(file)
plan = bench.plan(file, fitted=True)
target = bench.target(plan)
print(json.dumps([blocked.refusal, plan.tokens, sum(plan.gave_way.values()), target.size,
                  peak_megabytes()]))
"""


@pytest.mark.slow
def test_two_hundred_megabytes_are_planned_and_composed_in_bounded_memory(tmp_path: Path) -> None:
    """All of it visible and far over every budget: the dry run is refused, `--fit` works, and 220 MB are enough."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(3, 9))) for _ in range(3000)]
    above, number = None, 0
    with (tmp_path / "source.jsonl").open("wb") as file:
        file.write(line(header()) + b"\n")
        while file.tell() < MEGABYTES * 1_000_000:
            identity = f"{number:08x}"
            role = ("user", "assistant", "toolResult", "assistant")[number % 4]
            content: list[dict[str, Any]] = [
                {"type": "text", "text": " ".join(rng.choices(words, k=rng.randint(20, 500)))}
            ]
            message: dict[str, Any] = {"role": role, "content": content}
            if number % 4 == 1:
                content.append({"type": "toolCall", "id": f"c{number}", "name": "bash", "arguments": {"command": "ls"}})
            if role == "toolResult":
                message |= {"toolCallId": f"c{number - 1}", "toolName": "bash", "isError": False}
            file.write(line({"type": "message", "id": identity, "parentId": above, "message": message}) + b"\n")
            above, number = identity, number + 1
    told = finished(child(CHILD, os.fspath(tmp_path)), seconds=120)
    refusal, tokens, gave_way, size, megabytes = json.loads(told)
    assert refusal == "checkpoint-over-budget"
    assert 7000 < tokens <= 8000
    assert gave_way > number - 100
    assert size > 1_000_000
    assert megabytes <= MOST_MEMORY
