"""The ladder: an oversized handoff is blocked with the ways out, or gives way step by step, and says how."""

import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import Value, entry, message
from rebasing import Bench, bodies, calls, frame, result

from foundation.canonical import tokens
from foundation.texts import RawText
from privacy.redaction import redact
from rebase.fitting import Piece, fit
from rebase.pieces import clean
from rebase.plan import Plan

WORDS = [f"w{number:x}" for number in range(999)]


def text(rng: random.Random, size: int) -> str:
    return " ".join(rng.choices(WORDS, k=size))


def turn(rng: random.Random, at: int, parent: int | None, size: int) -> list[Value]:
    """Give a turn of four messages: asked, called, answered, said."""
    return [
        message(at, parent, f"ask{at} {text(rng, 30)}"),
        calls(at + 1, at, "bash", text=f"try{at}") ,
        result(at + 2, at + 1, f"c{at + 1}-0", f"head{at} {text(rng, size)} tail{at}"),
        message(at + 3, at + 2, f"done{at} {text(rng, 40)}", "assistant"),
    ]  # fmt: skip


def session(turns: int, size: int = 400) -> list[Value]:
    rng, log = random.Random(turns), []
    for number in range(turns):
        log += turn(rng, 4 * number + 1, 4 * number or None, size)
    return log


def elided(plan: Plan) -> list[tuple[str, str]]:
    assert plan.contents is not None
    return [(piece.how, piece.entry_id) for piece in plan.contents.elided]


def test_over_budget_is_blocked_with_the_ways_out(bench: Bench) -> None:
    """Nothing is clipped in silence: the plan has no handoff, but the cost of each message and what would help."""
    bench.budget(2000)
    plan = bench.plan(bench.log(*session(12)))
    assert (plan.refusal, plan.handoff, plan.contents) == ("checkpoint-over-budget", "", None)
    assert len(plan.breakdown) == 48
    assert abs(sum(row.tokens for row in plan.breakdown) - plan.tokens) < 400
    ways = {way.kind: way for way in plan.ways}
    assert set(ways) == {"compact", "budget", "fit"}
    assert ways["budget"].budget == plan.tokens
    bench.budget(ways["budget"].budget)
    assert bench.plan(bench.path("source.jsonl")).tokens == plan.tokens
    bench.budget(2000)
    assert bench.plan(bench.path("source.jsonl"), fitted=True).tokens == ways["fit"].tokens


def test_what_fits_is_left_alone(bench: Bench) -> None:
    """With `--fit` nothing gives way that need not."""
    file = bench.log(*session(2, 20))
    assert bench.plan(file, fitted=True).handoff == bench.plan(file).handoff
    assert bench.plan(file, fitted=True).plan_id != bench.plan(file).plan_id


def test_results_give_way_first_and_oldest_first(bench: Bench) -> None:
    """A little too much costs the oldest results their middle, with a pointer, and nothing else a word."""
    file = bench.log(*session(6, 300))
    whole = bench.plan(file)
    bench.budget(whole.tokens - 100)
    plan = bench.plan(file, fitted=True)
    assert elided(plan) == [("result", "00000003")]
    assert plan.gave_way == {"result": 1}
    cut = bodies(plan)[2]
    assert cut.startswith("bash:\nhead1 ")
    assert cut.endswith(" tail1")
    assert "characters left out, see entry 00000003" in cut
    assert [body for at, body in enumerate(bodies(plan)) if at != 2] == [
        body for at, body in enumerate(bodies(whole)) if at != 2
    ]


def test_arguments_give_way_next(bench: Bench) -> None:
    """Where all older results are short, the oldest tool arguments lose their middle."""
    log = session(4, 10)
    log[1]["message"]["content"][1]["arguments"] = {"path": "a.py", "content": text(random.Random(1), 400)}
    file = bench.log(*log)
    bench.budget(bench.plan(file).tokens - 100)
    plan = bench.plan(file, fitted=True)
    assert elided(plan) == [("arguments", "00000002")]
    assert bodies(plan)[1].startswith("try1\ncall bash\npath: a.py\ncontent: w")


def test_then_the_oldest_turns_become_lines_and_the_oldest_lines_one(bench: Bench) -> None:
    """Turns become one line each with a pointer, the oldest of these one line with count, first and last entry."""
    file = bench.log(*session(40))
    bench.budget(2600)
    plan = bench.plan(file, fitted=True)
    roles = [quoted.role for quoted in frame(plan).messages]
    assert roles == sorted(roles[:-4], key=["folded", "turn", "user", "assistant", "result"].index) + roles[-4:]
    assert roles[0] == "turn" or roles.count("folded") == 1
    lines = [quoted.text for quoted in frame(plan).messages if quoted.role == "turn"]
    assert all("ask" in one and "-> assistant: done" in one and "[4 messages, see entries 0000" in one for one in lines)
    bench.budget(1200)
    folded = bench.plan(file, fitted=True)
    assert [quoted.role for quoted in frame(folded).messages].count("turn") > 5
    first = bodies(folded)[0]
    count = folded.gave_way["folded"]
    assert first == f"{count} messages left out here, see entries 00000001 to {count:08x}"
    assert f"{count} messages left out" in frame(folded).preamble


def test_the_newest_turn_keeps_every_word_that_was_said(bench: Bench) -> None:
    """However small the budget, what the user asked last and what was answered stand whole, or all is blocked."""
    file = bench.log(*session(30))
    whole = bodies(bench.plan(file, fitted=True))
    for budget in (4000, 1500, 900):
        bench.budget(budget)
        found = bodies(bench.plan(file, fitted=True))
        assert [found[-4], found[-3], found[-1]] == [whole[-4], whole[-3], whole[-1]]
    bench.budget(512)
    log = [*session(2), message(0x50, 8, "the last word " * 400)]
    plan = bench.plan(bench.log(*log), fitted=True)
    assert (plan.refusal, [way.kind for way in plan.ways]) == ("checkpoint-over-budget", ["compact", "budget", "fit"])


def test_a_summary_gives_way_last(bench: Bench) -> None:
    """The summary of a compaction stays whole while turns behind it are folded."""
    log = [
        *session(1),
        entry("compaction", 5, 4, summary="the story " * 60, firstKeptEntryId="00000005", tokensBefore=9),
    ]
    rng = random.Random(1)
    for number in range(2, 30):
        log += turn(rng, 4 * number + 1, 4 * number if number > 2 else 5, 200)
    bench.budget(1500)
    plan = bench.plan(bench.log(*log), fitted=True)
    assert frame(plan).messages[0] == ("summary", "normal", "the story " * 60)
    assert plan.gave_way["folded"] > 20


def test_every_piece_that_gave_way_is_pointed_to(bench: Bench) -> None:
    """The checkpoint lists each with its entry, size and SHA-256 of its line, and these are those of the source."""
    file = bench.log(*session(40))
    bench.budget(1500)
    plan = bench.plan(file, fitted=True)
    lines = {json.loads(raw)["id"]: raw for raw in Path(file).read_bytes().splitlines()[1:]}
    data = json.loads(bench.target(plan).data.splitlines()[-3])["data"]
    assert len(data["elided"]) == sum(plan.gave_way.values()) > 150
    for piece in data["elided"]:
        raw = lines[piece["entryId"]]
        assert (piece["bytes"], piece["sha256"]) == (len(raw), sha256(raw).hexdigest())
        assert piece["sessionId"] == plan.source.sessionId
    kept = {quoted["entryId"] for quoted in data["blocks"] if not quoted["how"]}
    assert kept | {piece["entryId"] for piece in data["elided"]} == set(lines)


def test_a_realistic_context_of_eighty_thousand_tokens_fits(bench: Bench) -> None:
    """The default budget holds it with `--fit`, and the newest turn is there."""
    file = bench.log(*session(90, 900))
    blocked = bench.plan(file)
    assert blocked.tokens > 80_000
    assert {way.kind for way in blocked.ways} == {"compact", "fit"}
    plan = bench.plan(file, fitted=True)
    assert 6500 < plan.tokens <= 8000
    assert tokens(plan.handoff) == plan.tokens
    assert "ask357" in plan.handoff


GIVE_WAY = ("assistant", "result", "shell")
sizes = st.integers(0, 4000)
pieces = st.lists(
    st.builds(
        lambda role, whole, short, how, n: (role, whole, min(whole, short), how, n) if role in GIVE_WAY else (role, whole, whole, "", n),
        st.sampled_from(["user", "assistant", "result", "shell", "summary", "custom", "turn", "folded"]),
        sizes, sizes, st.sampled_from(["result", "arguments"]), st.integers(1, 9),
    ),
    max_size=40,
)  # fmt: skip


@given(pieces, st.integers(300, 30_000))
def test_the_ladder_keeps_the_room_and_loses_nothing(drawn: list[Any], room: int) -> None:
    """Every piece is in the result exactly once, in order, counted; the newest user message is whole; the room holds."""
    found = [
        Piece(
            f"e{at}", "s", role, "normal", whole, short, how, "gist", n if role in ("turn", "folded") else 1, f"e{at}"
        )
        for at, (role, whole, short, how, n) in enumerate(drawn)
    ]
    choices = fit(found, room, lambda _: 100)
    again = fit(found, room, lambda _: 100)
    assert choices == again
    if choices is None:
        return
    assert sorted(place for choice in choices for place in choice.pieces) == list(range(len(found)))
    assert sum(choice.messages for choice in choices) == sum(piece.messages for piece in found)
    assert (
        sum(choice.units + len(f"\n[aaaaaa {choice.role} normal {choice.units}]\n") for choice in choices) + 100 <= room
    )
    newest = max((at for at, piece in enumerate(found) if piece.role == "user"), default=None)
    if newest is not None:
        [choice] = [choice for choice in choices if newest in choice.pieces]
        assert (choice.how, choice.units) == ("", found[newest].whole)


@given(st.integers(512, 6000), st.integers(1, 25), st.integers(1, 700))
def test_the_budget_holds(tmp_path_factory: pytest.TempPathFactory, budget: int, turns: int, size: int) -> None:
    """Whatever is planned with a handoff takes no more than its budget, and is the same when planned again."""
    bench = Bench(str(tmp_path_factory.mktemp("budget")))
    bench.budget(budget)
    file = bench.log(*session(turns, size))
    plan = bench.plan(file, fitted=True)
    if plan.handoff:
        assert tokens(plan.handoff) == plan.tokens <= budget
        assert bench.plan(file, fitted=True) == plan
    else:
        assert plan.ways


def test_a_session_that_no_handoff_could_hold_is_read_from_its_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond what any budget reaches the context is one line, and the same as if it had been measured."""
    file = bench.log(*session(60))
    bench.budget(1500)
    measured = bench.plan(file, fitted=True)
    monkeypatch.setattr("rebase.handoff.MEASURED_UNITS", 4000)
    plan = bench.plan(file, fitted=True)
    assert plan.contents is not None
    assert measured.contents is not None
    assert bodies(plan) == bodies(measured)
    assert plan.contents.elided == measured.contents.elided
    blocked = bench.plan(file)
    assert blocked.breakdown[0].estimated
    assert blocked.breakdown[0].messages > 50


def test_lines_that_redaction_makes_longer_still_fit(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget holds for what is written, not for what was foretold."""
    file = bench.log(*session(60))
    bench.budget(1200)
    honest = bench.plan(file, fitted=True)
    monkeypatch.setattr(
        "rebase.handoff.clean", lambda text, visibility: (clean(text, visibility)[0] + "[redacted:x]", 1)
    )
    plan = bench.plan(file, fitted=True)
    assert plan.handoff
    assert tokens(plan.handoff) <= 1200
    assert plan.gave_way["folded"] > honest.gave_way["folded"]


def test_no_setting_allows_more_than_a_handoff_may_have(bench: Bench) -> None:
    """Whatever the settings say, 24,000 tokens are the most."""
    bench.budget(50_000)
    plan = bench.plan(bench.log(*session(40)))
    assert (plan.budget, plan.refusal) == (24_000, "checkpoint-over-budget")


def test_a_cut_never_makes_a_secret_of_what_was_none(bench: Bench) -> None:
    """A run of letters that is too long for a key is none; cut to the length of one it is looked at once more."""
    key = "AKIAZ7QX2RTYU4WPLM3K"
    text = f"{'.' * (399 - len(key))} {key}{'Q7' * 600}"
    assert redact(RawText(text)).count == 0
    log = [message(1, None, "do"), calls(2, 1, "bash"), result(3, 2, "c2-0", text), message(4, 3, "on")]
    file = bench.log(*log)
    assert key in bench.plan(file).handoff
    bench.budget(bench.plan(file).tokens - 10)
    plan = bench.plan(file, fitted=True)
    assert plan.gave_way == {"result": 1}
    assert f"{key}\n" not in plan.handoff
