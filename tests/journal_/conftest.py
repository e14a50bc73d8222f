"""Fixtures for the journal."""

from collections.abc import Iterator

import pytest
from deliveries import Delivery
from faults import scratch


@pytest.fixture
def delivery() -> Iterator[Delivery]:
    """Give a small operation in a folder of its own."""
    with scratch() as root:
        yield Delivery(root)
