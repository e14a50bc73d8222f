"""Fixtures of the folders that test the index and recall; their `conftest.py` take them in."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import worlds


@pytest.fixture(autouse=True)
def logs_stay_untouched() -> Iterator[None]:
    """Hold, when a test is over, that no session log changed but by the test's own hand."""
    yield
    worlds.check_all_logs()


@pytest.fixture
def made(tmp_path: Path) -> worlds.World:
    """Give a fresh world."""
    return worlds.World(str(tmp_path))
