"""For the tests of the extension: the real Pi, present and old, with a provider on this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_provider import Provider, provider
from live_pi import LivePi
from pi_lab import VERSIONS


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Give each version of Pi in turn."""
    return str(request.param)


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Provider]:
    """Give the provider."""
    with provider(str(tmp_path / "agent")) as server:
        yield server


@pytest.fixture
def machine(tmp_path: Path, version: str, model: Provider) -> Iterator[LivePi]:
    """Give a machine with Pi; every Pi is ended afterwards."""
    made = LivePi(tmp_path, version, model)
    yield made
    made.leave()
