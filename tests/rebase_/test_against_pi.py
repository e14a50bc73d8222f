"""Held against the real Pi, the present one and an old one: it opens our targets, goes on in them, and finds them."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pi_orders
import pytest
from fake_provider import provider
from live_sessions import Maker
from logs import message, talk
from pi_lab import OLD, PRESENT, VERSIONS, clean, lab
from planted_facts import planted
from quoting import difference
from rebasing import Bench, bodies, frame, records
from session_logs import NAMES, genuine

from foundation.errors import ContextError
from foundation.marks import HANDOFF_TYPE
from foundation.texts import RawText
from privacy.redaction import redact
from rebase.plan import Plan

pytestmark = pytest.mark.network

SEEDS = range(60)


def sources(bench: Bench) -> list[str]:
    """Give a copy of each genuine session that can be rebased, and as many made ones."""
    found = []
    for name in NAMES:
        try:
            bench.plan(genuine(name)[0])
        except ContextError:
            continue
        found.append(shutil.copy(genuine(name)[0], bench.folder))
    assert len(found) > 10
    return [*found, *(bench.write(Maker(seed).session(seed % 12 + 1), f"live-{seed}.jsonl") for seed in SEEDS)]


def settings(answer: Any) -> list[Any]:
    """Give what Pi resolves besides messages; a name on one line, as both Pis show it, and without secrets."""
    name = redact(RawText(" ".join(answer["name"].split()))).text
    return [answer["model"], answer["thinkingLevel"], name]


def holds_only(answer: Any, plan: Plan) -> bool:
    """Tell whether Pi's context is the handoff as one message of ours, and what a model gets is its text."""
    [found], [sent] = answer["messages"], answer["llm"]
    return bool(
        (found["role"], found["customType"], found["content"]) == ("custom", HANDOFF_TYPE, plan.handoff)
        and (sent["role"], sent["content"]) == ("user", [{"type": "text", "text": plan.handoff}])
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_pi_opens_every_target_and_resolves_its_handoff(bench: Bench, version: str) -> None:
    """Whole or fitted: one message, the handoff; model, level and name of the source; not a byte of the file moves."""
    pi, files = lab(version), sources(bench)
    told = pi_orders.opened(lab(PRESENT), *files)
    made: list[tuple[Plan, str, Any]] = []
    for file, source in zip(files, told, strict=True):
        bench.budget(24_000)
        plan, target = bench.rebased(file)
        assert difference(source["messages"], list(frame(plan).messages)) == "", file
        made.append((plan, target, source))
        bench.budget(plan.tokens * 2 // 3)
        if not bench.plan(file, fitted=True).refusal:
            made.append((*bench.rebased(file, fitted=True), source))
    bench.budget(8000)
    realistic = bench.write(planted().data, "planted.jsonl")
    made.append((*bench.rebased(realistic, fitted=True), pi_orders.opened(lab(PRESENT), realistic)[0]))
    assert sum(plan.fitted for plan, _, _ in made) > 20
    targets = [target for _, target, _ in made]
    before = [Path(target).read_bytes() for target in targets]
    for (plan, target, source), answer in zip(made, pi_orders.opened(pi, *targets), strict=True):
        assert holds_only(answer, plan), target
        assert settings(answer) == settings(source), target
        assert answer["header"]["parentSession"] == plan.file
        assert answer["header"]["cwd"] == source["header"]["cwd"]
    assert [Path(target).read_bytes() for target in targets] == before
    assert pi_orders.rewritten(pi, *targets) == before


@pytest.mark.parametrize(
    ("versions", "fitted"),
    [
        ((PRESENT, PRESENT, PRESENT), False),
        ((OLD, OLD, OLD), False),
        ((PRESENT, OLD, PRESENT), False),
        ((OLD, OLD, OLD), True),
        ((OLD, PRESENT, OLD), True),
    ],
)
def test_pi_goes_on_in_three_generations(bench: Bench, versions: tuple[str, ...], fitted: bool) -> None:
    """Pi says more in each target; the next plan carries all earlier messages on by their entries, each once."""
    if fitted:
        bench.budget(700)
    file = bench.log(*talk(30, lambda number: f"turn {number}: é😀 \u2028 \ud83d keep grams {'word ' * 12}"))
    plan, target = bench.rebased(file, fitted=fitted)
    sessions, said, lines = [plan.source.sessionId], list[str](), Path(target).read_bytes()
    fresh: list[tuple[Plan, str, bytes]] = []
    for at, version in enumerate(versions):
        words = [f"go on {at} \u2028 ünï", f"went on {at} \ud83d"]
        answer = pi_orders.say(lab(version), target, *words)
        now = Path(target).read_bytes()
        assert now.startswith(lines)
        assert now.count(lines) == (2 if version == OLD else 1)  # the old one writes all of it once more
        assert answer["llm"][0]["content"] == [{"type": "text", "text": plan.handoff}]
        assert len(answer["llm"]) == 3
        words = [text.replace("\ud83d", "\ufffd") for text in words]  # half a character is written so
        said += words
        earlier, entries = plan, len(lines.splitlines())
        plan, target = bench.rebased(target, fitted=fitted)
        assert plan.entries == entries + 1  # two more, and a header that is no entry
        assert plan.depth == at + 2
        sessions.insert(0, plan.source.sessionId)
        assert plan.contents is not None
        assert earlier.contents is not None
        if not fitted:
            assert bodies(plan) == [*bodies(earlier), *words]
            assert list(plan.contents.blocks[:-2]) == list(earlier.contents.blocks)
        assert bodies(plan)[-2:] == words
        assert sum(block.messages for block in plan.contents.blocks) == 30 + len(said)
        assert plan.tokens <= bench.values["sessionRebase.checkpointTargetTokens"]
        lines = Path(target).read_bytes()
        fresh.append((plan, bench.write(lines, f"fresh-{at}.jsonl"), lines))
    origins = records(target)[-3]["data"]
    assert [origin["sessionId"] for origin in (origins["source"], *origins["ancestors"])] == sessions
    for version in VERSIONS:
        answers = pi_orders.opened(lab(version), *(copy for _, copy, _ in fresh))
        for answer, (planned, copy, written) in zip(answers, fresh, strict=True):
            assert holds_only(answer, planned)
            assert Path(copy).read_bytes() == written


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_pi_that_only_listens_changes_nothing(bench: Bench, version: str) -> None:
    """A question without an answer: the old Pi writes nothing yet, the present one its line, and both can be rebased."""
    _, target = bench.rebased(bench.log(*talk(4, "turn {}".format)))
    before = Path(target).read_bytes()
    answer = pi_orders.say(lab(version), target, "is anybody there?")
    assert len(answer["messages"]) == 2
    now = Path(target).read_bytes()
    assert now.startswith(before)
    assert len(now.splitlines()) - len(before.splitlines()) == (0 if version == OLD else 1)
    assert bodies(bench.plan(target))[:4] == [f"turn {number}" for number in range(1, 5)]


@pytest.mark.parametrize("version", VERSIONS)
def test_pi_continues_the_newer_of_source_and_target(bench: Bench, version: str) -> None:
    """`pi -c` opens the source while the target's time is held back, and the target once it is the newer one."""
    pi, cwd = lab(version), bench.folder
    file = bench.log(message(1, None, "hi"), message(2, 1, "hello", "assistant"), cwd=cwd)
    plan, target = bench.rebased(file)
    now = os.stat(file).st_mtime
    recent = {"do": "recent", "cwd": cwd, "folder": bench.folder}
    os.utime(target, (now - 1, now - 1))
    held = pi_orders.ordered(pi, recent)[0]
    assert held["file"] == file
    os.utime(target, (now + 1, now + 1))
    active = pi_orders.ordered(pi, recent)[0]
    assert active["file"] == target
    assert holds_only(active, plan)
    listed = pi_orders.ordered(pi, {"do": "list", "cwd": cwd, "folder": bench.folder})[0]
    assert {one["path"]: one.get("parentSessionPath") for one in listed} == {file: None, target: file}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_very_long_path_hides_a_target_from_an_old_pi_only(bench: Bench, version: str) -> None:
    """`docs/handoff.md` says so: past 512 bytes of header the old `pi -c` passes over the target; by its file it opens."""
    cwd = f"/home/{'long/' * 60}proj"
    file = bench.log(message(1, None, "hi"), message(2, 1, "hello", "assistant"), cwd=cwd)
    _, target = bench.rebased(file)
    now = os.stat(file).st_mtime
    os.utime(target, (now + 1, now + 1))
    found = pi_orders.ordered(lab(version), {"do": "recent", "cwd": cwd, "folder": bench.folder})[0]["file"]
    assert found == (target if version == PRESENT else file)
    assert pi_orders.opened(lab(version), target)[0]["file"] == target


@pytest.mark.parametrize("version", VERSIONS)
def test_a_target_is_a_child_of_its_source_as_a_fork_is(bench: Bench, version: str) -> None:
    """Pi's own fork of the source names it just so; a fork of the target keeps its handoff, and can be rebased."""
    pi, cwd = lab(version), bench.folder
    file = bench.log(message(1, None, "hi"), message(2, 1, "hello", "assistant"), cwd=cwd)
    plan, target = bench.rebased(file)
    fork = {"do": "fork", "cwd": cwd, "folder": bench.folder}
    of_source, of_target = pi_orders.ordered(pi, {**fork, "file": file}, {**fork, "file": target})
    assert list(records(target)[0]) == list(of_source["header"])
    assert of_source["header"]["parentSession"] == records(target)[0]["parentSession"] == file
    assert holds_only(of_target, plan)
    pi_orders.say(pi, of_target["file"], "go on", "went on")
    again, second = bench.rebased(of_target["file"])
    assert (again.depth, bodies(again)) == (2, ["hi", "hello", "go on", "went on"])
    assert holds_only(pi_orders.opened(pi, second)[0], again)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_command_sends_the_handoff_once(bench: Bench, version: str) -> None:
    """`pi -p … --session TARGET` sends the handoff and the question, each once, and goes on in the target."""
    pi, cwd, agent = lab(version), bench.path("work"), bench.path("agent")
    os.makedirs(cwd)
    plan, target = bench.rebased(bench.log(*talk(4, "turn {}: a ledger in grams, Bücher 😀".format), cwd=cwd))
    before = Path(target).read_bytes()
    with provider(agent) as server:
        command = [*pi.command, "-p", "what next?", "--session", target, "--provider", "fake", "--model", "fake-1"]
        quiet = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1", "PI_CODING_AGENT_DIR": agent}
        environment = {**clean(), "HOME": bench.folder, **quiet}
        done = subprocess.run(
            command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=90, check=False
        )
    assert (done.returncode, done.stdout.decode().strip()) == (0, "noted"), done.stderr.decode()[-2000:]
    [request] = server.requests
    said = [sent["content"] for sent in request["messages"] if sent["role"] == "user"]
    texts = [text if isinstance(text, str) else "".join(block["text"] for block in text) for text in said]
    assert texts == [plan.handoff, "what next?"]
    assert Path(target).read_bytes().startswith(before)
    assert bodies(bench.plan(target)) == [*bodies(plan), "what next?", "noted"]
