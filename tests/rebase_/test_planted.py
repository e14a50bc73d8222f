"""A realistic session whose context takes 80,000 tokens: what `--fit` keeps of it, and that nothing else is lost."""

import json
from pathlib import Path

from live_sessions import SECRET
from planted_facts import COUNT, OLD, PLACES, SUMMARY, Fact, facts, planted
from rebasing import Bench, append, bodies, calls, frame, last_id, result, say

from foundation.canonical import dumps
from rebase.plan import Plan
from sessions.context import resolve

SESSION = planted()
BUDGET = 8000


def source(bench: Bench) -> str:
    return bench.write(SESSION.data)


def kept(plan: Plan) -> list[Fact]:
    return [fact for fact in facts(SESSION) if fact.text in plan.handoff]


def pointers(plan: Plan) -> set[tuple[str, str]]:
    """Give session and entry of each piece that gave way."""
    assert plan.contents is not None
    return {(piece.session_id, piece.entry_id) for piece in plan.contents.elided}


def work_on(file: str, number: int) -> None:
    """Add a turn to a session: asked, called, answered, said."""
    say(file, number, f"step {number}: {'check the next batch ' * 12}")
    append(file, calls(number + 1, None, "bash", text=f"trying {number}") | {"parentId": last_id(file)})
    log = "\n".join(f"[{number}] row {row} of the batch is written" for row in range(80))
    append(file, result(number + 2, number + 1, f"c{number + 1}-0", log))
    say(file, number + 3, f"done {number}: {'all rows are there ' * 12}", "assistant")


def test_the_session_is_what_it_is_said_to_be(bench: Bench) -> None:
    """A context of some 80,000 tokens; a hundred facts, each told once in its entry, and all but the old ones visible."""
    file = source(bench)
    assert planted() == SESSION
    assert 75_000 < bench.plan(file).tokens < 85_000
    lines = {json.loads(raw)["id"]: raw.decode() for raw in Path(file).read_bytes().splitlines()}
    assert len({fact.text for fact in facts(SESSION)}) == len({fact.query for fact in facts(SESSION)}) == COUNT
    assert {fact.place for fact in facts(SESSION)} == set(PLACES)
    for fact in facts(SESSION):
        assert [identity for identity, raw in lines.items() if fact.text in raw] == [fact.entry_id]
    sent = dumps(resolve(file).messages)
    hidden = [fact for fact in facts(SESSION) if fact.text not in sent]
    assert [fact.place for fact in hidden] == [OLD] * len(hidden)
    assert 5 < len(hidden) < 15


def test_without_fit_it_is_blocked(bench: Bench) -> None:
    """No budget that is allowed holds it whole: the plan tells what each message costs, and two ways out."""
    plan = bench.plan(source(bench))
    assert (plan.refusal, plan.handoff) == ("checkpoint-over-budget", "")
    assert abs(sum(row.tokens for row in plan.breakdown) - plan.tokens) < 2000
    assert [(way.kind, way.budget) for way in plan.ways] == [("compact", BUDGET), ("fit", BUDGET)]


def test_every_fact_is_quoted_or_pointed_to(bench: Bench) -> None:
    """Each fact stands in the handoff, or its entry is listed as elided, or it lies before the compaction."""
    plan = bench.plan(source(bench), fitted=True)
    assert 0.9 * BUDGET < plan.tokens <= BUDGET
    found = kept(plan)
    for fact in facts(SESSION):
        assert fact in found or ("planted-1", fact.entry_id) in pointers(plan) or fact.place == OLD
    assert [fact.place for fact in found].count(SUMMARY) == 6
    newest = [fact for fact in facts(SESSION) if fact.entry_id in _newest_turn()]
    assert newest
    assert set(newest) <= set(found)


def test_a_larger_budget_keeps_more(bench: Bench) -> None:
    """The facts of a smaller handoff are in the larger one too, which has more of them."""
    file, counts, before = source(bench), [], set[Fact]()
    for budget in (6000, BUDGET, 16_000, 24_000):
        bench.budget(budget)
        plan = bench.plan(file, fitted=True)
        assert plan.tokens <= budget
        assert before <= set(kept(plan))
        before = set(kept(plan))
        counts.append(len(before))
    assert counts == sorted(counts)
    assert counts[-1] > counts[0] + 5


def test_rebased_again_it_is_hardly_larger(bench: Bench) -> None:
    """With a word added the second handoff stays within 1.2 times of the first, and keeps all its facts."""
    first, target = bench.rebased(source(bench), fitted=True)
    say(target, 0x900, "thanks, go on")
    second, _ = bench.rebased(target, fitted=True)
    assert second.tokens <= 1.2 * first.tokens
    assert set(kept(first)) <= set(kept(second))
    bench.budget(24_000)
    assert bodies(bench.plan(target)) == [*bodies(first), "thanks, go on"]


def test_ten_generations_of_work_stay_in_the_budget(bench: Bench) -> None:
    """A turn of work in each: every handoff fits, the newest turn is whole, no message and no fact gets lost."""
    plan, file = bench.rebased(source(bench), fitted=True)
    pointed = pointers(plan)
    visible = sum(row.messages for row in plan.breakdown)
    for generation in range(1, 10):
        work_on(file, 0x900 + 16 * generation)
        newest = [f"step {0x900 + 16 * generation}", f"trying {0x900 + 16 * generation}", "bash:\n", "done "]
        plan, file = bench.rebased(file, fitted=True)
        assert plan.tokens <= BUDGET
        assert plan.depth == generation + 1
        assert all(text.startswith(start) for text, start in zip(bodies(plan)[-4:], newest, strict=True))
        assert "row 40 of the batch" in bodies(plan)[-2]
        assert plan.contents is not None
        assert sum(block.messages for block in plan.contents.blocks) == visible + 4 * generation
        pointed |= pointers(plan)
        for fact in facts(SESSION):
            assert fact in kept(plan) or ("planted-1", fact.entry_id) in pointed or fact.place == OLD


def test_the_same_inputs_give_the_same_bytes(bench: Bench) -> None:
    """Planned and composed again, the target is the same to the last byte."""
    file = source(bench)
    first = bench.target(bench.plan(file, fitted=True))
    again = bench.target(bench.plan(file, fitted=True))
    assert (first.file_name, first.data) == (again.file_name, again.data)


def test_a_secret_and_a_stopped_call_harm_nothing_else(bench: Bench) -> None:
    """A key in one message and an answer stopped in a call: neither blocks, and all other messages read as before."""
    file = source(bench)
    say(file, 0x900, "and what now?")
    whole = bench.plan(file, fitted=True)
    say(file, 0x901, f"take {SECRET} for it", "assistant")
    append(file, calls(0x902, None, "bash", stopReason="aborted") | {"parentId": last_id(file)})
    plan = bench.plan(file, fitted=True)
    assert (plan.refusal, plan.interrupted, plan.redactions) == ("", 1, whole.redactions + 1)
    assert SECRET.encode() not in bench.target(plan).data
    texts = bodies(plan)
    assert texts[-3:-1] == ["and what now?", f"take {texts[-2].split()[1]} for it"]
    assert texts[-1] == "call bash (interrupted, without a result)\ncommand: bash --now\n(aborted)"
    readable = [message.text for message in frame(whole).messages if message.role != "turn"]
    assert set(readable) - set(texts) == set()


def _newest_turn() -> set[str]:
    entries = [json.loads(raw) for raw in SESSION.data.splitlines()]
    asked = [at for at, value in enumerate(entries) if value.get("message", {}).get("role") == "user"]
    return {value["id"] for value in entries[asked[-1] :]}
