"""The target: a pure function of what it is made from, which Pi reads, and which Pi would write no other way."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from logs import START, entry, message, talk
from rebasing import Bench, Key, last_id, records, say

from foundation.errors import ContextError
from rebase.checkpoint import read_checkpoint, read_link
from sessions.context import resolve

LOG = [
    entry("thinking_level_change", 2, None, thinkingLevel="high"),
    *talk(4, lambda number: f"turn {number} é😀 \u2028 \ud83d", start=3, parent=2),
    entry("model_change", 7, 6, provider="acme", modelId="m-1"),
    entry("session_info", 8, 7, name="The ledger"),
]


def test_the_same_inputs_give_the_same_bytes(bench: Bench) -> None:
    """Nothing is left to chance: planned and composed again, not a byte differs."""
    file = bench.log(*LOG)
    first = bench.target(bench.plan(file))
    assert first == bench.target(bench.plan(file))
    assert first.file_name == f"2026-11-20T08-00-00-000Z_{first.session_id}.jsonl"


def test_every_input_counts(bench: Bench) -> None:
    """Another operation, instant, key, leaf, setting or prefix gives another session with other ids."""
    file = bench.log(*LOG)
    plan = bench.plan(file)
    made = [bench.target(plan), bench.target(plan, "op-2"), bench.target(plan, created_at=START + 1)]
    bench.key = Key("another")
    made.append(bench.target(plan))
    bench.key = Key()
    made.append(bench.target(bench.plan(file, leaf="00000005")))
    bench.budget(7000)
    made.append(bench.target(bench.plan(file)))
    say(file, 0x20, "more")
    made.append(bench.target(bench.plan(file)))
    assert len({target.session_id for target in made}) == len(made)


def test_the_plan_id_says_nothing_of_the_run(bench: Bench) -> None:
    """The id is the same wherever and whenever the plan is made, and another one when anything is decided otherwise."""
    file = bench.log(*LOG)
    ids = [bench.plan(file).plan_id, bench.plan(file, fitted=True).plan_id, bench.plan(file, leaf="00000005").plan_id]
    bench.budget(7000)
    ids.append(bench.plan(file).plan_id)
    bench.values["privacy.defaultClassification"] = "internal"
    ids.append(bench.plan(file).plan_id)
    assert len(set(ids)) == 5
    other = bench.write(Path(file).read_bytes(), "moved.jsonl")
    assert bench.plan(other).plan_id == ids[-1]


def test_the_target_is_a_session_of_pi(bench: Bench) -> None:
    """Header, model, level, name, checkpoint, link and handoff follow one upon the other, and Pi resolves the handoff."""
    plan, path = bench.rebased(bench.log(*LOG))
    head, *entries = records(path)
    assert head["parentSession"] == plan.file
    assert (head["cwd"], head["version"]) == ("/home/dev/proj", 3)
    assert [one.get("customType", one["type"]) for one in entries] == [
        "model_change", "thinking_level_change", "session_info", "context-rebase-checkpoint-v1",
        "context-rebase-link-v1", "context-rebase-handoff-v1",
    ]  # fmt: skip
    assert [one["parentId"] for one in entries] == [None, *[one["id"] for one in entries[:-1]]]
    context = resolve(path)
    assert (context.thinking_level, context.model) == ("high", {"provider": "acme", "modelId": "m-1"})
    assert [message["content"] for message in context.messages] == [plan.handoff]
    assert entries[2]["name"] == "The ledger"
    checkpoint = read_checkpoint(entries[3]["data"])
    assert checkpoint.verification == "unknown"
    assert (checkpoint.pins, checkpoint.memories) == ((), ())
    assert [block.entryId for block in checkpoint.blocks] == [f"{number:08x}" for number in range(3, 7)]
    assert read_link(entries[4]["data"]).targetSessionId == head["id"]


def test_a_checkpoint_is_read_strictly(bench: Bench) -> None:
    """A field of another type, out of its range or missing is damage, also where it could be converted."""
    _, path = bench.rebased(bench.log(*LOG))
    data = records(path)[4]["data"]
    assert read_checkpoint(data).operationId == "op-1"
    for name, value in (
        ("createdAt", "5"),
        ("createdAt", 5.0),
        ("interrupted", True),
        ("interrupted", -1),
        ("planId", "x"),
        ("blocks", {}),
    ):
        with pytest.raises(ContextError):
            read_checkpoint({**data, name: value})
        with pytest.raises(ContextError):
            read_checkpoint({key: member for key, member in data.items() if key != name})


def test_a_source_without_model_level_or_name_gives_what_there_is(bench: Bench) -> None:
    """Pi writes a level into every session it opens, so there is one; a model and a name only where they are known."""
    _, path = bench.rebased(bench.log(message(1, None, "hi")))
    assert [one["type"] for one in records(path)[1:]] == [
        "thinking_level_change", "custom", "custom", "custom_message",
    ]  # fmt: skip


def test_a_refused_plan_has_no_target(bench: Bench) -> None:
    """What is over its budget cannot be composed."""
    bench.budget(512)
    plan = bench.plan(bench.log(message(1, None, "long " * 2000)))
    with pytest.raises(ValueError, match="refused"):
        bench.target(plan)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH: the engine itself cannot be asked")
def test_an_old_pi_would_write_the_target_again_byte_for_byte(bench: Bench) -> None:
    """`JSON.stringify(JSON.parse(line))` of the real engine gives every line of a target, elided pieces included."""
    log = talk(60, lambda number: f"{number} é😀 \u2028 \ud83d \x7f \x01 {'word ' * 40}")
    bench.budget(2000)
    data = bench.target(bench.plan(bench.log(*log), fitted=True)).data
    script = 'process.stdout.write(require("fs").readFileSync(0,"utf8").split("\\n").slice(0,-1).map(t=>JSON.stringify(JSON.parse(t))+"\\n").join(""))'
    told = subprocess.run(["node", "-e", script], input=data, capture_output=True, check=True)
    assert told.stdout == data
    assert json.loads(data.splitlines()[-3])["data"]["elided"]


def test_the_source_keeps_every_byte(bench: Bench) -> None:
    """Planning and composing read only."""
    file = bench.log(*LOG)
    before = Path(file).read_bytes(), Path(file).stat().st_mtime_ns
    bench.target(bench.plan(file))
    assert (Path(file).read_bytes(), Path(file).stat().st_mtime_ns) == before
    assert last_id(file) == "00000008"
