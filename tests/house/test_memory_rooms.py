"""Who may know of whom in memory: claims stand alone, and the ledger is read in one place."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def imported(path: str) -> set[str]:
    """List what a module imports, wherever in it."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return {name.split(".")[0] for name in found}


@pytest.mark.parametrize(
    "module",
    ["model", "names", "claims", "removing", "batches", "masking", "seeing", "sight", "shapes", "sources", "filters"],
)
def test_claims_and_ledger_stand_alone(module: str) -> None:
    """What is remembered knows no session, no index, no recall, no rebase: it could be a library of its own."""
    assert not imported(f"memory/{module}.py") & {
        "recall",
        "rebase",
        "index",
        "journal",
        "sessions",
        "privacy",
        "pi_context",
    }


def test_the_ledger_is_read_in_one_place() -> None:
    """Every answer goes by `pi_context/visible.py`; whoever changes memory, or lists it for its owner, reads it too."""
    files = [path for room in ("recall", "rebase", "pi_context") for path in sorted((ROOT / room).rglob("*.py"))]
    readers = {
        str(path.relative_to(ROOT))
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        and node.module in ("memory.ledger", "memory")
        and {each.name for each in node.names} & {"load", "ledger", "read"}
    }
    assert readers == {"pi_context/visible.py", "pi_context/memories.py", "pi_context/commands/memory_map.py"}
