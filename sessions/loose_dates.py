"""Dates that are not ISO 8601, read as the engine behind Pi guesses them: `Nov 20 2026 8:00 pm GMT+1 (noon)`.

The standard leaves these to each engine; this follows what V8 was seen to do, for only then does an entry whose time
was written by hand get the very number that Pi gives it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_HALVES = {"am": 0, "pm": 12}
_ZONES = {"ut": 0, "utc": 0, "z": 0, "gmt": 0, "cdt": -5, "cst": -6, "edt": -4, "est": -5, "mdt": -6, "mst": -7}
_ZONES |= {"pdt": -7, "pst": -8}
_SPACES = r"\t\v\f \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff"
_TOKEN = re.compile(rf"([0-9]+)|([^\x00-\x40{_SPACES}]+)|(.)", re.DOTALL)  # a word is whatever stands behind `@`
_WHITE = re.compile(rf"[{_SPACES}\r\n]")
_START = re.compile(
    r"([0-9]{4}|[+-][0-9]{6})(?![0-9])(?:-(?:(0[1-9]|1[0-2])(?![0-9])(?:-(?:(0[1-9]|[12][0-9]|3[01])(?![0-9]))?)?)?)?"
)
_NO_YEAR = re.compile(r"-000000(?![0-9])")  # is dropped: there is no year minus zero
_SIGNIFICANT = 9
_PREFIX = 3
_WORD = 2**32


class Civil(NamedTuple):
    """A date and time of day; `away` is the zone's distance from UTC in seconds, None for local time."""

    year: int
    month: int
    day: int
    clock: int
    away: int | None


def read(text: str) -> Civil | None:
    """Guess a date; `clock` is in milliseconds, days beyond a month's end run into the next. None where it is none."""
    reader = _Reader(text)
    while reader.peek() is not _END:
        if not reader.step():
            return None
    return reader.result()


class _Token(NamedTuple):
    text: str
    number: int | None
    word: str

    def is_a(self, sign: str) -> bool:
        return self.text == sign


_END = _Token("", None, "")


def _tokens(text: str, start: int) -> Iterator[_Token]:
    """Cut lazily: a hostile text is refused after its first few numbers."""
    for match in _TOKEN.finditer(text, start):
        digits, word = match[1], match[2]
        yield _Token(match[0], _whole(digits) if digits else None, word.lower() if word else "")


def _whole(digits: str) -> int:
    return int(digits.lstrip("0")[:_SIGNIFICANT] or "0")


class _Reader:
    """Gathers up to three numbers of a date, four of a time, and a zone."""

    def __init__(self, text: str) -> None:
        dropped = _NO_YEAR.match(text)
        start = None if dropped else _START.match(text)
        begun = dropped or start
        self.tokens = _tokens(text, begun.end() if begun else 0)
        self.next = next(self.tokens, _END)
        self.date = [int(part) for part in start.groups() if part] if start else []
        self.time: list[int] = []
        self.month = 0
        self.half: int | None = None
        self.sign = 0
        self.zone: list[int] = []
        self.numbers = bool(self.date)

    def peek(self) -> _Token:
        return self.next

    def take(self) -> _Token:
        taken, self.next = self.next, next(self.tokens, _END)
        return taken

    def skip(self, sign: str) -> bool:
        return self.next.is_a(sign) and bool(self.take())

    def step(self) -> bool:
        token = self.take()
        if token.number is not None:
            self.numbers = True
            return self.take_number(token.number)
        if token.word:
            return self.take_word(token.word)
        if token.text in ("+", "-") and (self.time or self.zone == [0, 0]):
            return self.take_zone(-1 if token.is_a("-") else 1)
        if token.text in ("+", "-", ")") and self.numbers:
            return False
        if token.is_a("("):
            self.skip_parentheses()
        return True

    def take_number(self, number: int) -> bool:
        if self.skip(":"):
            return self.take_hour_or_minute(number)
        if self.peek().is_a(".") and self.expects(number):
            return self.take_second(number)
        if self.sign and len(self.zone) == 1 and number < 60:  # noqa: PLR2004 - minutes
            self.zone.append(number)
            return True
        if self.expects(number):
            self.end_time(number)
            following = self.peek()
            return following is _END or following.text in ("+", "-") or following.word == "z" or _white(following)
        self.skip(".")
        if len(self.date) == 3:  # noqa: PLR2004 - year, month and day
            return False
        self.date.append(number)
        self.skip("-")
        return True

    def take_hour_or_minute(self, number: int) -> bool:
        if not self.skip(":"):
            return self.add_time(number)
        fresh = not self.time
        self.time = [number, 0]
        return fresh

    def take_second(self, number: int) -> bool:
        self.skip(".")
        following = self.take()
        self.add_time(number)
        self.end_time(thousandths(following.text if following.number is not None else "0"))
        return following.number is not None

    def expects(self, number: int) -> bool:
        return (len(self.time), True) in ((1, number < 60), (2, number < 60), (3, number < 1000))  # noqa: PLR2004 - clock

    def add_time(self, number: int) -> bool:
        if len(self.time) == 4:  # noqa: PLR2004 - hours to milliseconds
            return False
        self.time.append(number)
        return True

    def end_time(self, number: int) -> None:
        self.add_time(number)
        self.time += [0] * (4 - len(self.time))

    def take_word(self, word: str) -> bool:
        if word in _HALVES and self.time:
            self.half = _HALVES[word]
        elif word[:_PREFIX] in _MONTHS:
            self.month = _MONTHS.index(word[:_PREFIX]) + 1
            self.skip("-")
        elif word in _ZONES and self.numbers:
            self.sign, self.zone = (-1 if _ZONES[word] < 0 else 1), [abs(_ZONES[word]), 0]
        else:
            return not self.numbers and self.peek().number is None
        return True

    def take_zone(self, sign: int) -> bool:
        self.sign, self.numbers = sign, True
        digits, number = 0, 0
        if (following := self.peek()).number is not None:
            digits, number = len(following.text), following.number
            self.take()
        if self.peek().is_a(":"):
            self.zone = [number]
        elif digits in (1, 2):
            self.zone = [number, 0]
        elif digits in (3, 4):
            self.zone = [number // 100, number % 100]
        else:
            return False
        return True

    def skip_parentheses(self) -> None:
        depth = 1
        while depth and self.peek() is not _END:
            depth += {"(": 1, ")": -1}.get(self.take().text, 0)

    def result(self) -> Civil | None:
        if not self.date:
            return None
        first, second, third = [*self.date, 1, 1][:3]
        is_day = 1 <= first <= 31  # noqa: PLR2004 - calendar
        if self.month:
            year, month, day = (second, self.month, first) if is_day else (first, self.month, second)
        else:
            year, month, day = (third, first, second) if is_day else (first, second, third)
        if 0 <= year < 100:  # noqa: PLR2004 - two digits of a year
            year += 2000 if year < 50 else 1900  # noqa: PLR2004 - the guess
        clock = self.clock()
        if clock is None or not (1 <= month <= 12 and 1 <= day <= 31):  # noqa: PLR2004 - calendar
            return None
        hours, minutes = [*self.zone, 0, 0][:2]
        away = (hours * 3600 + minutes * 60) % _WORD
        if self.sign and away >= _WORD // 2:
            return None
        return Civil(year, month, day, clock, self.sign * away if self.sign else None)

    def clock(self) -> int | None:
        hour, minute, second, millis = [*self.time, 0, 0, 0, 0][:4]
        if self.half is not None:
            if hour > 12:  # noqa: PLR2004 - half a day
                return None
            hour = hour % 12 + self.half
        midnight = hour == 24 and minute == second == millis == 0  # noqa: PLR2004 - the end of a day
        if not midnight and not (hour < 24 and minute < 60 and second < 60 and millis < 1000):  # noqa: PLR2004 - clock
            return None
        return ((hour * 60 + minute) * 60 + second) * 1000 + millis


def thousandths(fraction: str) -> int:
    """Read the digits behind the point of the seconds; of more than nine V8 miscounts the leading zeros."""
    number, digits = _whole(fraction), min(len(fraction), _SIGNIFICANT)
    scaled: int = number * 1000 // 10**digits
    return scaled


def _white(token: _Token) -> bool:
    return bool(_WHITE.fullmatch(token.text))
