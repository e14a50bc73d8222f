"""For the tests of MCP: a project with a session, and a command that speaks MCP for it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pi_desk import Desk

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Give a machine with a project that Pi worked in."""
    return Desk(tmp_path)


@pytest.fixture
def run(desk: Desk) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Give what runs the command to its end, with these lines on its standard input."""

    def start(*options: str, said: str = "", program: str = "", **variables: Any) -> "subprocess.CompletedProcess[str]":
        begin = ["-c", program] if program else ["-m", "pi_context"]
        return subprocess.run(
            [sys.executable, *begin, "mcp", "--agent-dir", str(desk.agent_dir), *options], input=said,
            capture_output=True, encoding="utf-8", cwd=desk.project, check=False, timeout=60,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | variables,
        )  # fmt: skip

    return start
