"""For all tests: a clean environment, no way to the network, and the same examples in each run."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hypothesis import settings

pytest.register_assert_rewrite("deliveries", "rebases")  # their assertions explain themselves only if rewritten first

from shelled import Shell  # noqa: E402

from pi_context.environment import AGENT_MARKS  # noqa: E402

# No clock judges a test, for other work may share the machine. The same tree gives the same result: what is new is
# looked for by `make explore`, not by a check that stands between a change and main.
settings.register_profile("steady", deadline=None, derandomize="EXPLORE" not in os.environ)
settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option by which `make docs` writes instead of comparing."""
    parser.addoption("--write-docs", action="store_true", help="write the made parts of docs/ anew")


def pytest_report_header() -> str:
    """Say which SQLite is under test: full text search depends on it."""
    return f"SQLite {apsw.sqlite_lib_version()}, apsw {apsw.apsw_version()}"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Run every test as on a fresh machine: no mark of an agent, nobody's settings, an empty home."""
    for name in list(os.environ):
        if name.startswith(("PI_", "XDG_")) or any(
            name == mark.rstrip("*") or (mark.endswith("*") and name.startswith(mark[:-1])) for mark in AGENT_MARKS
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """Give the command on a scratch machine; afterwards every session log must be as it was written."""
    made = Shell(tmp_path, monkeypatch)
    yield made
    made.check_untouched()


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no test but the marked ones reach out: no command of ours makes a network call."""
    if request.node.get_closest_marker("network"):
        yield
        return

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a network connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    yield
