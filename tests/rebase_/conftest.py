"""Fixtures for rebase."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults import scratch
from rebases import Rebase
from rebasing import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Give a folder to rebase sessions in."""
    return Bench(os.fspath(tmp_path))


@pytest.fixture
def rebase() -> Iterator[Rebase]:
    """Give a session in a folder of its own, and one operation that rebases it."""
    with scratch() as root:
        yield Rebase(root)
