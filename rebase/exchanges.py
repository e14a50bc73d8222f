"""Tool calls and their results belong together: whether what is transferred cuts an exchange in two.

Bound for each occurrence: a result belongs to the latest call before it that has its id, so an id that is used twice
does not hide that the first call was never answered. Calls of an answer that was stopped need no result.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sessions.skimming import Said

Spoken = tuple[int, Said]
"""A message that calls tools or answers a call: its entry's position in the session, and what it means."""


class Issue(NamedTuple):
    """A call without a result, or with `call` -1 a result without a call; `place` as in `Spoken`."""

    place: int
    call: int


class Exchanges(NamedTuple):
    """What a run of messages holds: what is cut, the calls that were interrupted, and where nothing hangs open.

    `whole_after` lists the places, in order, behind which every exchange so far is whole.
    """

    issues: tuple[Issue, ...]
    interrupted: frozenset[Issue]
    whole_after: tuple[int, ...]


ORPHAN = -1


def judge(messages: Iterable[Spoken]) -> Exchanges:
    """Judge the messages of a context in their order."""
    latest: dict[object, Issue] = {}
    waiting: dict[Issue, None] = {}
    unanswered: dict[Issue, None] = {}
    orphans: list[Issue] = []
    whole: list[int] = []
    for place, (calls, answers, stopped) in messages:
        for number, key in enumerate(calls):
            call = Issue(place, number)
            (unanswered if stopped else waiting)[call] = None
            if key is not None:
                latest[key] = call
        if answers is not None or not calls:
            answered = latest.get(answers)
            if answered is None:
                orphans.append(Issue(place, ORPHAN))
            else:
                waiting.pop(answered, None)
                unanswered.pop(answered, None)
        if not waiting and not orphans:
            whole.append(place)
    issues = sorted([*orphans, *waiting])
    return Exchanges(tuple(issues), frozenset(unanswered), tuple(whole))
