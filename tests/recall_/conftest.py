"""Every test here works in worlds of its own, whose session logs stay as the test left them."""

import pytest
from fixtures import logs_stay_untouched, made
from logs import about, message, talk
from worlds import World

__all__ = ["forked", "logs_stay_untouched", "made"]


@pytest.fixture
def forked(made: World) -> World:
    """Give a world with a session of two branches: 1-2-3-4 and 3-5-6, the leaf on the first."""
    made.log(
        "s",
        *talk(4, about("okapi")),
        message(5, 3, "turn 5 okapi, aside"),
        message(6, 5, "turn 6 okapi, aside"),
        message(7, 4, "the leaf"),
    )
    made.values["historyTools.maxResults"] = 12
    return made
