"""For the tests of commands."""

import pytest
from dry_runs import Dry
from shelled import Shell


@pytest.fixture
def dry(shell: Shell) -> Dry:
    """Give the dry run of a rebase on a scratch machine."""
    return Dry(shell)
