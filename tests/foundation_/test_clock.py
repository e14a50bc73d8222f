"""Instants are milliseconds since 1970 and have one written form."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation import clock

FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["UTC", "Asia/Seoul", "America/Los_Angeles"])
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """Set the local time zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield request.param
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@given(st.integers(FIRST, LAST))
def test_an_instant_is_written_as_javascript_writes_it_and_read_back(millis: int) -> None:
    """The one form of answers says the instant to the millisecond."""
    stamp = clock.iso(millis)
    assert stamp == (EPOCH + timedelta(milliseconds=millis)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert clock.millis(stamp) == millis
    assert clock.parse(stamp, local=True) == clock.parse(stamp, local=False) == millis


@pytest.mark.parametrize(
    ("millis", "stamp"), [(FIRST - 1, "0001-01-01T00:00:00.000Z"), (10**18, "9999-12-31T23:59:59.999Z")]
)
def test_instants_beyond_the_calendar_are_its_ends(millis: int, stamp: str) -> None:
    """A time that no date can say is written as the nearest one."""
    assert clock.iso(millis) == stamp


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T08:00:01Z", datetime(2026, 11, 20, 8, 0, 1, tzinfo=UTC)),
        (" 2026-11-20T08:00:01.5Z\n", datetime(2026, 11, 20, 8, 0, 1, 500_000, tzinfo=UTC)),
        ("2026-11-20T08:00:01.123456Z", datetime(2026, 11, 20, 8, 0, 1, 123_000, tzinfo=UTC)),
        ("2026-11-20T08:00+09:00", datetime(2026, 11, 20, 8, tzinfo=timezone(timedelta(hours=9)))),
        ("20261120T080000Z", datetime(2026, 11, 20, 8, tzinfo=UTC)),
    ],
)
def test_other_forms_of_iso_8601_are_read(stamp: str, moment: datetime) -> None:
    """What a person or another tool writes is understood; without a zone it is UTC."""
    assert clock.millis(stamp) == round((moment - EPOCH) / timedelta(milliseconds=1))


@pytest.mark.parametrize(
    "stamp",
    ["", "soon", "2026-02-30", "2026-11-20T25:00:00.000Z", "2026-11-20T08:60:01.000Z", "2026-11-20T08:00:61.000Z",
     "2026-11-31T08:00:00.000Z", "0000-01-01", "10000-01-01", "2026-11-20T08-00-01.000Z", "2026-11-20T08:00:01.abcZ",
     "1763625601000", "2026-11-20T08:00:01.000+99:00"],
)  # fmt: skip
def test_what_is_no_date_is_none(stamp: str) -> None:
    """Nothing is guessed."""
    assert clock.millis(stamp) is None


def test_a_bare_date_is_midnight_where_it_was_meant(zone: str) -> None:
    """In the shell a date is local, in tools UTC, whatever the zone of the machine."""
    utc = datetime(2026, 9, 15, tzinfo=UTC).timestamp() * 1000
    away = {"UTC": 0, "Asia/Seoul": 9, "America/Los_Angeles": -7}[zone] * 3_600_000
    assert clock.parse("2026-09-15", local=False) == clock.millis("2026-09-15") == utc
    assert clock.parse("2026-09-15", local=True) == utc - away
    assert clock.parse("2026-09-15T00:00:00Z", local=True) == utc
