"""What a rebase leaves out of the handoff is not lost: recall over the lineage finds it."""

import shutil
from pathlib import Path

import pytest
from planted_facts import facts, planted
from shelled import Shell

REFUSED = {
    "13-error-null-dangling": "tool-exchange-open",
    "20-v1-raw": "unsupported-source-version",
    "30-truncated-tail": "source-torn-tail",
    "32-blank-and-garbage": "source-damaged",
    "35-duplicate-ids": "source-id-conflict",
    "40-header-only": "source-empty",
    "44-non-object-lines": "source-damaged",
}
"""Those of the genuine sessions of Pi that no rebase may pass over, and why."""

GENUINE = sorted((Path(__file__).resolve().parents[1] / "fixtures" / "pi").glob("*.jsonl"))
EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples" / "sessions").glob("*.jsonl"))


def rebased(shell: Shell, file: Path, *words: str) -> Path:
    """Rebase a session, recover that twice, and give the new one."""
    made = shell("rebase", "--yes", "--approve", "--session", file, *words, "--json", expect=0, terminal=True).json
    assert made["status"] == "verified"
    before = sorted(path.name for path in file.parent.iterdir())
    for _ in range(2):
        again = shell("rebase", "--recover", made["operationId"], "--session", file, "--json", expect=0, terminal=True)
        assert again.json["status"] == "verified"
    assert sorted(path.name for path in file.parent.iterdir()) == before
    return Path(made["targetFile"])


@pytest.mark.parametrize("seed", [1, 2])
def test_facts_of_a_large_context_are_in_the_handoff_or_found(shell: Shell, seed: int) -> None:
    """A context of 80,000 tokens, 100 facts in all kinds of places: each is quoted, or among the first six hits."""
    session = planted(seed)
    target = rebased(shell, shell.write("planted.jsonl", session.data), "--fit")
    shell("index", "update", "--quiet", expect=0)
    text, lost = target.read_text("utf-8"), []
    for fact in facts(session):
        if fact.text in text:
            continue
        found = shell("history", "search", "--session", target, "--scope", "current-lineage", "--limit", "6", "--json",
                      fact.query, expect=0, terminal=True).json  # fmt: skip
        if fact.entry_id not in [hit["entryId"] for hit in found["hits"]]:
            lost.append(fact)

    assert len(facts(session)) == 100
    assert len(lost) <= 5, lost


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name[:10])
def test_the_example_sessions_can_be_rebased(shell: Shell, example: Path) -> None:
    """What `make run` shows can be rebased, recovered and recovered again."""
    file = Path(shutil.copy(example, shell.sessions))

    assert rebased(shell, file, "--fit").exists()


@pytest.mark.parametrize("genuine", GENUINE, ids=lambda path: path.stem)
def test_genuine_sessions_of_pi_are_rebased_or_refused_with_a_reason(shell: Shell, genuine: Path) -> None:
    """Every session that Pi wrote, sound ones and odd ones: verified, or a code and nothing left behind."""
    file = shell.write(genuine.name, genuine.read_bytes())
    code = REFUSED.get(genuine.stem)
    if code is None:
        assert rebased(shell, file, "--fit").exists()
        return
    told = shell("rebase", "--yes", "--approve", "--session", file, "--json", expect=1, terminal=True).json

    assert (told["status"], told["code"]) == ("unavailable", code)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
