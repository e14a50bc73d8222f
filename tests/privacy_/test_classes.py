"""The order of classifications."""

import pytest

from foundation.settings import CLASSES
from privacy.classes import highest, rank


def test_rank_orders_the_classes_from_open_to_closed() -> None:
    """Each class is stricter than the one before it in the contract."""
    assert [rank(cls) for cls in ("normal", "internal", "sensitive", "local-only")] == [0, 1, 2, 3]


def test_highest_is_the_strictest_in_any_order() -> None:
    """A mixture has the class of its strictest part."""
    assert highest("internal", "local-only", "normal") == "local-only"
    assert highest("sensitive", "internal") == "sensitive"
    assert all(highest(cls, "normal") == cls for cls in CLASSES)


def test_highest_of_nothing_is_the_most_open() -> None:
    """Nothing demands nothing."""
    assert highest() == "normal"


def test_a_name_that_is_no_class_is_refused() -> None:
    """An unknown name never passes for a class."""
    with pytest.raises(KeyError):
        rank("public")
    with pytest.raises(KeyError):
        highest("normal", "secret")
