"""Fixtures for the journal."""

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("deliveries")

from deliveries import Delivery  # noqa: E402 - its assertions explain themselves only where they are rewritten first
from faults import scratch  # noqa: E402


@pytest.fixture
def delivery() -> Iterator[Delivery]:
    """Give a small operation in a folder of its own."""
    with scratch() as root:
        yield Delivery(root)
