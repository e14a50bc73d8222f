"""Order candidates: rarer words, density, recency and role count; ties are total and stable.

Rarity is judged among the candidates at hand, so that an answer does not depend on what other sessions hold.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from index.querying import Found
from index.schema import ROLES

_TYPICAL_WORDS = 250.0
_ROLE_WEIGHT = {"user": 0.3, "assistant": 0.2, "toolResult": 0.1, "bashExecution": 0.1, "custom": 0.05}
_RECENCY_WEIGHT = 0.3


class Candidate(NamedTuple):
    """A place with the tier it is presumed in, how often each term occurs there, and whether it is an ancestor."""

    found: Found
    tier: int
    counts: tuple[int, ...]
    ancestor: bool


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


def ranked(candidates: Sequence[Candidate]) -> list[Ranked]:
    """Sort candidates, the best first."""
    weights = _rarity(candidates)
    times = [candidate.found.timestamp or 0 for candidate in candidates]
    oldest, span = min(times, default=0), max(max(times, default=0) - min(times, default=0), 1)
    return sorted(
        Ranked(_key(candidate, _score(candidate, weights, (at - oldest) / span)), candidate)
        for candidate, at in zip(candidates, times, strict=True)
    )


def _key(candidate: Candidate, score: float) -> tuple[int, float, bool, int, int]:
    found = candidate.found
    return (candidate.tier, -score, not candidate.ancestor, -(found.timestamp or 0), -found.rid)


def _rarity(candidates: Sequence[Candidate]) -> list[float]:
    terms = len(candidates[0].counts) if candidates else 0
    holders = [sum(1 for candidate in candidates if candidate.counts[term]) for term in range(terms)]
    return [math.log(1 + len(candidates) / holding) if holding else 0.0 for holding in holders]


def _score(candidate: Candidate, weights: Sequence[float], recency: float) -> float:
    found = candidate.found
    long = 0.5 + found.length / _TYPICAL_WORDS
    matter = sum(
        weight * count / (count + long) for weight, count in zip(weights, candidate.counts, strict=True) if count
    )
    return round(matter + _RECENCY_WEIGHT * recency + _ROLE_WEIGHT.get(ROLES[found.role], 0.0), 4)
