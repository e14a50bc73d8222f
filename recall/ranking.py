"""Order candidates: rarer words, density, recency and role count; ties are total and stable.

Rarity is judged among the candidates at hand, so that an answer does not depend on what other sessions hold.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from index.querying import Found
from index.schema import ROLES
from recall.scope import Standing

_TYPICAL_WORDS = 250.0
_ROLE_WEIGHT = {"user": 0.3, "assistant": 0.2, "toolResult": 0.1, "bashExecution": 0.1, "custom": 0.05}
_RECENCY_WEIGHT = 0.3


class Candidate(NamedTuple):
    """A place with the tier it is presumed in, how often each term occurs there, and how it stands to the leaf."""

    found: Found
    tier: int
    counts: tuple[int, ...]
    standing: Standing


class Ranked(NamedTuple):
    """A candidate in its place: the key sorts the best first."""

    key: tuple[int, float, bool, int, int]
    candidate: Candidate

    @property
    def score(self) -> float:
        """The score within the tier; higher is better."""
        return -self.key[1]

    def moved(self, tier: int) -> "Ranked":
        """Give the candidate's place in another tier."""
        return Ranked((tier, *self.key[1:]), self.candidate._replace(tier=tier))


class Measure(NamedTuple):
    """What scores are measured by: the weight of each term, the oldest instant, and the time from it to the newest."""

    weights: tuple[float, ...]
    oldest: int
    span: int


class Tally:
    """Takes the measure of candidates one by one."""

    def __init__(self, terms: int) -> None:
        self.number = 0
        self._holders = [0] * terms
        self._oldest, self._newest = sys.maxsize, 0

    def add(self, candidate: Candidate) -> None:
        """Count a candidate in."""
        self.number += 1
        for term, count in enumerate(candidate.counts):
            if count:
                self._holders[term] += 1
        at = candidate.found.timestamp or 0
        self._oldest, self._newest = min(self._oldest, at), max(self._newest, at)

    def measure(self) -> Measure:
        """Give the measure of all that were counted in; a term in few of them weighs more."""
        weights = tuple(math.log(1 + self.number / holding) if holding else 0.0 for holding in self._holders)
        return Measure(weights, self._oldest, max(self._newest - self._oldest, 1))


def measure_of(candidates: Sequence[Candidate]) -> Measure:
    """Take the measure of some candidates."""
    tally = Tally(len(candidates[0].counts) if candidates else 0)
    for candidate in candidates:
        tally.add(candidate)
    return tally.measure()


def ranked(candidates: Iterable[Candidate], measure: Measure) -> list[Ranked]:
    """Give candidates their places, in no order yet."""
    return [Ranked(_key(candidate, _score(candidate, measure)), candidate) for candidate in candidates]


def _key(candidate: Candidate, score: float) -> tuple[int, float, bool, int, int]:
    found = candidate.found
    return (candidate.tier, -score, not candidate.standing.ancestor, -(found.timestamp or 0), -found.rid)


def _score(candidate: Candidate, measure: Measure) -> float:
    found = candidate.found
    long = 0.5 + found.length / _TYPICAL_WORDS
    matter = sum(
        weight * count / (count + long)
        for weight, count in zip(measure.weights, candidate.counts, strict=True)
        if count
    )
    recency = ((found.timestamp or 0) - measure.oldest) / measure.span
    return round(matter + _RECENCY_WEIGHT * recency + _ROLE_WEIGHT.get(ROLES[found.role], 0.0), 4)
