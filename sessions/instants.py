"""The instant that JavaScript's `new Date(value).getTime()` gives for a value of parsed JSON."""

import math
import re
from typing import Any

from sessions import loose_dates
from sessions.javascript import MISSING, to_number, to_string

_FURTHEST = 8.64e15
_DAY = 86_400_000
_CYCLE = 146_097 * _DAY  # the calendar repeats after 400 years, days of the week included
_FIRST, _LAST = -62_104_060_800_000, 253_370_764_800_000  # the years 2 to 9998
_ISO = re.compile(
    r"(?:([0-9]{4})|([+-][0-9]{6}))(?:-([0-9]{2})(?:-([0-9]{2}))?)?"
    r"(?:[Tt]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?(?:([Zz])|([+-])([0-9]{2}):?([0-9]{2}))?)?"
)


def from_javascript(value: Any) -> int | None:
    """Give milliseconds since 1970, or None for an invalid date, which JSON writes as null."""
    if value is MISSING or isinstance(value, dict):
        return None
    if isinstance(value, str | list):
        found = _parsed(to_string(value))
    else:
        number = to_number(value)
        found = None if math.isnan(number) or abs(number) > _FURTHEST else int(number)
    return found if found is None or abs(found) <= _FURTHEST else None


def _parsed(text: str) -> int | None:
    text = text.partition("\0")[0]  # a NUL ends the text for V8
    if iso := _ISO.fullmatch(text):
        return _of_parts(iso)
    found = loose_dates.read(text)
    if found is None:
        return None
    local = _days(found.year, found.month, found.day) * _DAY + found.clock
    return _in_zone(local) if found.away is None else local - found.away * 1000


def _of_parts(iso: re.Match[str]) -> int | None:
    year = iso[1] or iso[2]
    month, day = int(iso[3] or 1), int(iso[4] or 1)
    hour, minute, second = (int(iso[group] or 0) for group in (5, 6, 7))
    millis = loose_dates.thousandths(iso[8] or "0")
    whole = hour < 24 or (hour == 24 and minute == second == millis == 0)  # noqa: PLR2004 - midnight at the end of a day
    if year == "-000000" or not (1 <= month <= 12 and 1 <= day <= 31 and whole and minute < 60 and second < 60):  # noqa: PLR2004 - calendar
        return None
    local = _days(int(year), month, day) * _DAY + ((hour * 60 + minute) * 60 + second) * 1000 + millis
    if iso[10]:
        if int(iso[11]) > 23 or int(iso[12]) > 59:  # noqa: PLR2004 - clock
            return None
        away = (int(iso[11]) * 60 + int(iso[12])) * 60_000
        return local - away if iso[10] == "+" else local + away
    if iso[5] and not iso[9]:
        return _in_zone(local)
    return local


def _days(year: int, month: int, day: int) -> int:
    """Count the days since 1970-01-01 in the Gregorian calendar, any year; a 31st of June is the 1st of July."""
    months = (year - 1970) * 12 + month - 1
    year, month = 1970 + months // 12, months % 12
    before = year - 1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    in_year = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)[month] + (leap and month > 1)
    return before * 365 + before // 4 - before // 100 + before // 400 - 719_162 + in_year + day - 1


def _in_zone(local: int) -> int | None:
    """Read a clock of the local time zone; years that Python does not know borrow the rules of a like one."""
    from datetime import datetime, timedelta

    like = min(max(local, _FIRST + (local - _FIRST) % _CYCLE), _LAST - (_LAST - local) % _CYCLE)
    try:
        moment = datetime(1970, 1, 1) + timedelta(milliseconds=like)  # noqa: DTZ001 - local on purpose
        utc = round(moment.replace(microsecond=0).timestamp()) * 1000
    except (OverflowError, OSError, ValueError):
        return local
    return utc + moment.microsecond // 1000 + local - like
