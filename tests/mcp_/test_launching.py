"""What is decided before a client is heard: these need no SDK."""

import subprocess
from collections.abc import Callable

import pytest
from pi_desk import Desk

Run = Callable[..., "subprocess.CompletedProcess[str]"]

WITHOUT = """
import sys
sys.modules["mcp"] = sys.modules["mcp_types"] = None
from pi_context.script import script
script()
"""


def test_without_the_sdk_it_says_what_to_install(run: Run) -> None:
    """A code, the remedy, and nothing on standard output."""
    done = run("--json", program=WITHOUT)

    assert (done.returncode, done.stdout) == (1, "")
    assert '"code":"mcp-not-installed"' in done.stderr
    assert "pip install 'pi-context[mcp]'" in done.stderr


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        (("--audience", "local"), 2, "usage"),
        (("--leaf", "00000001"), 2, "usage"),
        (("--reveal",), 1, "owner-act-required"),
        (("--session", "nothing"), 1, "session-not-found"),
        (("more",), 2, "usage"),
    ],
)
def test_what_means_nothing_here_is_refused(run: Run, options: tuple[str, ...], status: int, code: str) -> None:
    """Before a client is heard, on standard error, with the codes of every command."""
    done = run("--json", *options)

    assert (done.returncode, done.stdout) == (status, "")
    assert f'"code":"{code}"' in done.stderr


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--provider", "ollama"), "owner-act-required"),
        (("--approve",), "owner-act-required"),
        (("--project", "/"), "outside-project"),
        (("--session", "elsewhere"), "session-not-found"),
    ],
)
def test_an_agent_reaches_no_further_by_it(desk: Desk, run: Run, options: tuple[str, ...], code: str) -> None:
    """Under an agent's mark neither a local reader, nor trust, nor another project can be named."""
    (desk.sessions / "elsewhere.jsonl").write_bytes(
        desk.before.replace(str(desk.project).encode(), b"/").replace(b'"one"', b'"elsewhere"')
    )
    done = run("--json", *options, CLAUDECODE="1")

    assert (done.returncode, done.stdout) == (1, "")
    assert f'"code":"{code}"' in done.stderr
