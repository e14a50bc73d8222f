"""For the tests of commands."""

import pytest
from dry_runs import Dry
from rebase_acts import Acts
from shelled import Shell


@pytest.fixture
def dry(shell: Shell) -> Dry:
    """Give the dry run of a rebase on a scratch machine."""
    return Dry(shell)


@pytest.fixture
def rebase(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Acts:
    """Give the rebase as its owner types it on a scratch machine."""
    return Acts(shell, monkeypatch)
