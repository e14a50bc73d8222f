"""Held against the real Pi 1.6.0 itself, on files that no one would write and folders that no one would keep.

`PI_SESSIONS` gives another number of sessions than 300, `PI_SEED` another start.
"""

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from odd_sessions import Maker
from pi_lab import lab

from foundation.errors import ContextError
from sessions import instants
from sessions.context import Context, resolve
from sessions.decoding import slow_parse
from sessions.javascript import stringify
from sessions.loading import load
from sessions.locating import session_folders
from sessions.reading import open_log
from sessions.trusting import has_protected, saved_decision, trusted

pytestmark = pytest.mark.network

HERE = Path(__file__).parent
COUNT, SEED = int(os.environ.get("PI_SESSIONS", "300")), int(os.environ.get("PI_SEED", "0"))


def ours(path: Path, leaf: str | None = None) -> Context | str:
    try:
        return resolve(os.fspath(path), leaf=leaf)
    except ContextError as error:
        return error.code


def differs(found: Context | str, told: dict[str, Any]) -> str:
    """Say how our answer differs from Pi's; empty where it does not."""
    code = found if isinstance(found, str) else ""
    if told.get("circle") or told.get("fails"):
        expected = "entry-cycle" if told.get("circle") else "entry-broken"
        return "" if code == expected else f"{code or 'an answer'} for {expected}"
    if isinstance(found, str):
        return found
    if "messages" in told and stringify(found.messages) != told["messages"]:
        return "messages"
    if told.get("unwritable"):
        return ""
    same = (found.thinking_level, found.model) == (told.get("thinkingLevel"), told.get("model"))
    return "" if same else "level or model"


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_every_session_that_pi_opens_resolves_as_in_pi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    """For hundreds of damaged trees the messages are those of the real SDK byte for byte, or refused alike."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    pi = lab()
    logs = tmp_path / "logs"
    logs.mkdir()
    start = SEED + (COUNT if zone != "UTC" else 0)
    for seed in range(start, start + COUNT):
        (logs / f"{seed}.jsonl").write_bytes(Maker(seed).session())
    script = HERE / "pi_contexts.mjs"
    answers = pi.run(script, os.fspath(pi.dist / "index.js"), os.fspath(logs), TZ=zone, HOME=os.fspath(tmp_path))
    differences, compared = [], 0
    for answer in answers.split("\n")[:-1]:
        told = json.loads(answer)
        path = logs / told["name"]
        found = ours(path)
        if "refused" in told or path.stat().st_size == 0:  # into an empty file Pi writes a session of its own
            differences += [] if found == "not-a-session" else [f"{told['name']}: opened, but {told.get('refused')}"]
            continue
        compared += 1
        if difference := differs(found, told["leaf"]):
            differences.append(f"{told['name']}: {difference}")
        with open_log(os.fspath(path)) as log:
            loaded = load(log, slow_parse)
        for leaf in told["leaves"]:
            identity = loaded.steps[leaf["at"]].id
            if identity is None:
                continue  # a list, to which Pi's migration gave an id
            if loaded.chained and identity != leaf["id"]:
                differences.append(f"{told['name']}: {identity} for {leaf['id']}")
            if difference := differs(ours(path, identity), leaf["view"]):
                differences.append(f"{told['name']} at {identity}: {difference}")
        if not isinstance(found, str) and found.session_id != told["sessionId"]:
            differences.append(f"{told['name']}: session id")
    monkeypatch.undo()
    time.tzset()
    assert differences == []
    assert compared > COUNT // 2


NUMBERS = "2026 11 20 1 31 32 08 24 59 60 0 00 99 123 12345 002026 000000 999999999999 8:00 08:00:01 10:30:15.25 .5"
WORDS = (
    "T t Z z GMT UTC ut EST pdt am PM Nov november Novx feb Fri foo x é _ [ ٣ GMT+1 +0100 -08:00 .001234567891 (CET)"
)
SIGNS = (*"---:::./,+()@   \t\n\u00a0\u2028\ufeff\0", "::")
PIECES = (*NUMBERS.split(" "), *WORDS.split(" "), *SIGNS)
FORMS = (
    "2026-11-20T08:00:01.000Z", "2026-11-20", "Nov 20 2026 08:00:00 GMT+0100 (CET)", "11/20/2026 8:00 PM",
    "2026-11-20 08:00:01.5", "+002026-11-20T00:00:00Z", "20 Nov 2026", "2026/11/20 10:00 EST", "-000001-01-01 10:00",
)  # fmt: skip
ASKED = "import fs from 'fs'; console.log(JSON.stringify(JSON.parse(fs.readFileSync(process.argv[2],'utf8')).map("


def made_up_date(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return "".join(rng.choices(PIECES, k=rng.randrange(1, 9)))
    text = rng.choice(FORMS)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice([*PIECES, ""]) + text[at + rng.randrange(3) :]
    return text


def test_every_text_is_the_date_that_it_is_to_pi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of texts near to dates give the engine's own milliseconds, or are none to both."""
    pi = lab()
    rng = random.Random(SEED)
    texts = [made_up_date(rng) for _ in range(10 * COUNT)]
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    (tmp_path / "dates.mjs").write_text(f"{ASKED}text => new Date(text).getTime())))")
    told = json.loads(pi.run(tmp_path / "dates.mjs", os.fspath(tmp_path / "texts.json"), TZ="America/New_York"))
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    found = [instants.from_javascript(text) for text in texts]
    monkeypatch.undo()
    time.tzset()
    assert [pair for pair in zip(texts, found, told, strict=True) if pair[1] != pair[2]] == []
    assert sum(when is not None for when in told) > COUNT


def made_up_place(rng: random.Random, root: Path) -> dict[str, str]:
    """Lay out an agent folder and a project below the home, with chance in every file."""
    agent, project = root / "agent", root / "home" / "work" / f"proj{rng.randrange(10**9)}"
    (project / ".pi").mkdir(parents=True)
    agent.mkdir()
    if rng.random() < 0.5:
        (project / ".pi" / rng.choice(("mcp.json", "SYSTEM.md", "context.json", "themes", "trust.json"))).mkdir()
    if rng.random() < 0.2:
        above = rng.choice((project, project.parent, project.parent.parent))
        (above / ".agents" / "skills").mkdir(parents=True, exist_ok=True)
    if rng.random() < 0.7:
        places = rng.sample([project, project.parent, project.parent.parent, root, Path("/")], k=rng.randrange(4))
        decisions: dict[str, Any] = {
            f"{place}{rng.choice(('', '/', '/.'))}": rng.choice((True, False, None)) for place in places
        }
        text = rng.choice(("{broken", "[]", '{"x": 1}')) if rng.random() < 0.1 else json.dumps(decisions)
        (agent / "trust.json").write_text(rng.choice(("", "\ufeff")) + text)
    for folder in (agent, project / ".pi"):
        if rng.random() < 0.6:
            chosen = {
                "defaultProjectTrust": rng.choice(("always", "never", "ask", 5, None)),
                "sessionDir": rng.choice(("/logs", "~/logs", "~", "", None, "file:///logs/a%20b")),
            }
            text = json.dumps(dict(rng.sample(list(chosen.items()), k=rng.randrange(3))))
            (folder / "settings.json").write_text("{broken" if rng.random() < 0.1 else text)
    link = root / "link"
    link.symlink_to(project)
    return {"agentDir": os.fspath(agent), "cwd": os.fspath(rng.choice((project, link)))}


def test_trust_and_session_folder_are_those_of_pi(tmp_path: Path) -> None:
    """For hundreds of folders and damaged files Pi itself comes to the same decisions; where it fails, ours is no."""
    pi = lab()
    rng = random.Random(SEED)
    places = []
    for at in range(COUNT):
        (tmp_path / f"{at}").mkdir()
        places.append(made_up_place(rng, tmp_path / f"{at}"))
    (tmp_path / "cases.json").write_text(json.dumps(places))
    home = os.fspath(tmp_path / "0" / "home")
    told = json.loads(pi.run(HERE / "pi_trust.mjs", os.fspath(pi.dist), os.fspath(tmp_path / "cases.json"), HOME=home))
    found = []
    for place in places:
        agent, cwd = place["agentDir"], place["cwd"]
        folders = session_folders(agent_dir=agent, override=None, cwd=cwd, home=home)
        found.append(
            {
                "protected": has_protected(cwd=cwd, home=home),
                "saved": saved_decision(agent_dir=agent, cwd=cwd),
                "trusted": trusted(agent_dir=agent, cwd=cwd, override=None, home=home),
                "sessionDir": folders.paths[0] if folders.flat else None,
            }
        )
    expected = [{key: False if value == "fails" else value for key, value in answer.items()} for answer in told]
    assert [pair for pair in zip(places, found, expected, strict=True) if pair[1] != pair[2]] == []
    assert {answer["trusted"] for answer in told} == {True, False, "fails"}
