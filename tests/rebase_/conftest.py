"""Fixtures for rebase."""

import os
from pathlib import Path

import pytest
from rebasing import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Give a folder to rebase sessions in."""
    return Bench(os.fspath(tmp_path))
