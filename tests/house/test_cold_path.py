"""The cold path: what a search may import, for every import is paid at every start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE, LAST = sorted((Path(__file__).resolve().parents[2] / "examples/sessions").glob("*.jsonl"))

FORBIDDEN = {
    "click", "pydantic", "msgspec", "portalocker", "cryptography", "rich", "dataclasses", "inspect", "pathlib", "tempfile",
    "logging", "argparse", "subprocess", "asyncio", "importlib.metadata", "index.writing", "index.catching_up",
    "recall.scanning", "sessions.tree", "sessions.context", "rebase", "journal",
}  # fmt: skip
"""What a search of an indexed session must do without."""

PROBE = """
import sys
from pi_context.main import main
status = main(sys.argv[1:])
import json
sys.stderr.write(json.dumps(sorted(sys.modules)))
sys.exit(status)
"""


def search(agent_dir: Path, *more: str) -> set[str]:
    """Search in a new process; give the modules that it imported."""
    words = ["history", "search", "ledger", "--session", str(EXAMPLE), "--json", "--agent-dir", str(agent_dir), *more]
    done = subprocess.run([sys.executable, "-c", PROBE, *words], capture_output=True, encoding="utf-8", check=True)
    assert json.loads(done.stdout)["hits"]
    return set(json.loads(done.stderr))


@pytest.mark.parametrize("scope", ["current-branch", "current-session", "current-lineage"])
def test_a_search_imports_only_what_it_needs(tmp_path: Path, scope: str) -> None:
    """Once the session is indexed, a search loads neither click nor pydantic nor anything that builds the index.

    Nor does one that asks where a session came from, as long as that was never rebased.
    """
    search(tmp_path)  # builds the index

    assert search(tmp_path, "--scope", scope) & FORBIDDEN == set()


SERVER = """
import io, json, os, sys
from pi_context.main import main
lines = [{"jsonrpc": "2.0", "id": 1, "method": "tool", "params": {
    "name": "context_history_recall", "arguments": {"query": "ledger"},
    "context": {"cwd": "/", "sessionFile": sys.argv[1], "provider": "ollama"}}}]
reading, writing = os.pipe()
with os.fdopen(writing, "w") as pipe:
    pipe.write("".join(json.dumps(line) + "\\n" for line in lines))
os.dup2(reading, 0)
status = main(["serve", "--agent-dir", sys.argv[2]])
sys.stderr.write(json.dumps(sorted(sys.modules)))
sys.exit(status)
"""


def test_a_server_that_recalls_imports_no_rebase(tmp_path: Path) -> None:
    """A tool call through the server loads neither rebase nor journal, nor what only a command line needs."""
    search(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", SERVER, str(EXAMPLE), str(tmp_path)], capture_output=True, encoding="utf-8", check=True
    )
    assert json.loads(json.loads(done.stdout)["result"]["content"])["hits"]
    loaded = set(json.loads(done.stderr.splitlines()[-1]))

    may = {"msgspec", "dataclasses", "inspect"}  # msgspec reads the border, in four fifths of pydantic's time
    assert loaded & (FORBIDDEN - may) == set()


OTHERS = [
    ("history", "search", "ledger"),
    ("history", "search", "ledger", "--scope", "current-lineage"),
    ("history", "status"),
    ("session", "list"),
    ("session", "show", "3f1347de"),
    ("session", "tree"),
    ("session", "verify"),
    ("session", "context"),
    ("index", "update"),
    ("index", "check"),
    ("config", "show"),
    ("doctor",),
    ("completion", "bash"),
]


@pytest.mark.parametrize("words", OTHERS, ids=" ".join)
def test_only_a_rebase_imports_what_a_rebase_needs(tmp_path: Path, words: tuple[str, ...]) -> None:
    """No other command loads the rooms of rebase and journal, pydantic or cryptography."""
    search(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words, "--session", str(LAST), "--agent-dir", str(tmp_path)],
        capture_output=True, encoding="utf-8", check=False, env=os.environ | {"HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:2000]
    loaded = set(json.loads(done.stderr.splitlines()[-1]))

    assert loaded & {"rebase", "journal", "pydantic", "cryptography"} == set()
