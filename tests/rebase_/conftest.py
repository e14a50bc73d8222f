"""Fixtures for rebase; hypothesis does not judge by the clock here."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from rebasing import Bench

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Give a folder to rebase sessions in."""
    return Bench(os.fspath(tmp_path))
