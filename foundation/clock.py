"""Time as the doors hand it in: milliseconds since 1970, UTC; and the one timestamp form of answers."""

import time
from collections.abc import Callable
from functools import lru_cache

Clock = Callable[[], int]
"""Gives the present instant in milliseconds since 1970-01-01T00:00:00Z."""

_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999
_FIXED_FORM = len("2026-11-20T08:00:01.000Z")


def timer(clock: Clock, patience: int) -> Callable[[], bool]:
    """Tell, from now on, whether so many milliseconds are over."""
    deadline = clock() + patience
    return lambda: clock() >= deadline


def iso(millis: int) -> str:
    """Write an instant as JavaScript's `toISOString` does: `2026-11-20T08:00:01.000Z`."""
    seconds, rest = divmod(min(max(millis, _FIRST), _LAST), 1000)
    at = time.gmtime(seconds)
    return f"{at.tm_year:04}-{at.tm_mon:02}-{at.tm_mday:02}T{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}.{rest:03}Z"


def millis(stamp: str) -> int | None:
    """Read an ISO 8601 instant; a form without zone is taken as UTC. None where it is no date.

    The form that Pi writes is sliced, for a million entries have one; all others pay for `datetime`.
    """
    if len(stamp) == _FIXED_FORM and stamp[13] == stamp[16] == ":" and stamp[19] == "." and stamp[23] == "Z":
        hour, digits = _hour(stamp[:13]), stamp[14:16] + stamp[17:19] + stamp[20:23]
        if hour is not None and digits.isdecimal() and stamp[14] < "6" > stamp[17]:
            within = int(digits)
            return hour + within // 100_000 * 60_000 + within % 100_000
    return parse(stamp, local=False)


def parse(stamp: str, *, local: bool) -> int | None:
    """Read an ISO 8601 date or instant; without a zone it is local time or UTC. None where it is no date."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(stamp.strip())
        if moment.tzinfo is None:
            moment = moment.astimezone() if local else moment.replace(tzinfo=UTC)
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


@lru_cache(256)
def _hour(stamp: str) -> int | None:
    """Read the hour once, for many entries share it."""
    return parse(stamp + ":00:00.000Z", local=False)
