"""Times of entries become the very milliseconds that JavaScript's Date gives, or none where it gives none."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_logs import MILLIS, STAMP

from foundation import clock
from sessions.instants import from_javascript
from sessions.javascript import MISSING


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Kolkata"])
def away(request: pytest.FixtureRequest) -> Iterator[int]:
    """Set a local zone and give its winter distance from UTC in milliseconds."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield {"UTC": 0, "America/New_York": 5 * 3_600_000, "Asia/Kolkata": -19_800_000}[request.param]
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_what_javascript_writes_is_read_back(millis: int) -> None:
    """The form of `toISOString` names one instant, in any time zone."""
    assert from_javascript(clock.iso(millis)) == millis


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        (STAMP, MILLIS), ("2026-11-20T08:00:01Z", MILLIS), ("2026-11-20T08:00:01.5Z", MILLIS + 500),
        ("2026-11-20T08:00:01.1239Z", MILLIS + 123), ("2026-11-20t08:00:01z", MILLIS),
        ("2026-11-20T09:00:01+01:00", MILLIS),
        ("2026-11-20T04:30:01-0330", MILLIS), ("2026-11-20", 1795132800000), ("2026-11", 1793491200000),
        ("2026", 1767225600000), ("2026T08:00Z", 1767254400000), ("2026-02-30", 1772409600000),
        ("2026-11-20T24:00:00Z", 1795219200000), ("+002026-11-20", 1795132800000), ("0001-01-01", -62135596800000),
        ("-000001-01-01T00:00:00Z", -62198755200000), ("+275760-09-13T00:00:00.000Z", 8640000000000000),
        ("2026-11-20T08:00:01.000Z\0x", MILLIS), ("20 Nov 2026 08:00:01 UTC", MILLIS),
        ("Fri Nov 20 2026 09:00:01 GMT+0100 (CET)", MILLIS), ("Fri, 20 Nov 2026 08:00:01 GMT", MILLIS),
        ("11/20/2026 3:00:01 AM EST", MILLIS), ("2026-11-20 08:00:01Z", MILLIS),
        ("novembre 20, 2026 12:00:01 am GMT", 1795132801000),
    ],
)  # fmt: skip
def test_times_with_a_zone_mean_the_same_everywhere(text: str, millis: int, away: int) -> None:
    """ISO forms, and what V8 guesses beyond them, are read whatever the local zone is."""
    assert away is not None
    assert from_javascript(text) == millis


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-20T08:00:01", MILLIS), ("2026-11-20 08:00:01", MILLIS), ("2026-11-20T08:00", 1795161600000),
        ("Nov 20 2026", 1795132800000), ("2026/11/20", 1795132800000), (" 2026-11-20", 1795132800000),
        ("2026-1-2", 1767312000000), ("12/25/99", 946080000000), ("Dec 2026", 1796083200000),
        ("99999-01-01", 3093496444800000),
    ],
)  # fmt: skip
def test_times_without_a_zone_are_local(text: str, utc: int, away: int) -> None:
    """What names no zone is meant where the reader is."""
    assert from_javascript(text) == utc + away


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "yesterday", "2026-13-01", "2026-00-01", "2026-11-32", "2026-11-20T08", "2026-11-20T24:00:01Z",
        "2026-11-20T08:60Z", "2026-11-20T08:00:60Z", "2026-11-20T08:00:01.Z", "2026-11-20T08:00:01,5Z",
        "2026-11-20T08:00Zx", "2026-11-20T08:00+24:00", "2026-11-20T08:00+01", "-000000-01-01T00:00:00Z",
        "+275760-09-13T00:00:00.001Z", "20261120", "2026-W01-1", "1700000000000", "10:00", "Nov",
        "20 Nov 2026 13:00 pm", "2026-11-20 08:00 foo", "1 2 3 4", "foo5", "2026-11-20)", "Nov 20 2026 08:00 GMT+12345",
        "\0", "x" * 100_000, "1" * 100_000, "(" * 100_000, "1 " * 5_000_000,
    ],
)  # fmt: skip
def test_what_is_no_date_is_none(text: str) -> None:
    """An invalid date is null in JSON, at any length."""
    assert from_javascript(text) is None


@pytest.mark.parametrize(
    ("value", "millis"),
    [
        (MISSING, None), (None, 0), (True, 1), (False, 0), (0, 0), (MILLIS, MILLIS), (1.9, 1), (-1.9, -1), (-0.5, 0),
        (8.64e15, 8640000000000000), (8.64e15 + 1, None), (1e400, None), (10**400, None), ({}, None), ([], None),
        ([STAMP], MILLIS), ([2026], 1767225600000), ([None], None), ([[STAMP]], MILLIS),
    ],
)  # fmt: skip
def test_times_that_are_no_text_convert_as_in_javascript(value: object, millis: int | None) -> None:
    """Numbers are cut to whole milliseconds, null is the epoch, a list is its text."""
    assert from_javascript(value) == millis


def test_daylight_saving_follows_the_local_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is set forward skips an hour, one that is set back repeats it; the first reading counts."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        for text, utc in [
            ("2026-07-01T12:00", datetime(2026, 7, 1, 16, tzinfo=UTC)),
            ("2026-03-08T02:30", datetime(2026, 3, 8, 7, 30, tzinfo=UTC)),
            ("2026-11-01T01:30", datetime(2026, 11, 1, 5, 30, tzinfo=UTC)),
        ]:
            assert from_javascript(text) == utc.timestamp() * 1000, text
    finally:
        monkeypatch.undo()
        time.tzset()
