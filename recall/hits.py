"""Turn proposed places into verified hits, the best first, and no more of them than are asked for."""

import heapq
from collections.abc import Iterable
from typing import NamedTuple

from index.querying import Found
from recall.candidates import Batch, Places
from recall.evidence import Evidence, Place
from recall.examiner import Examiner
from recall.judging import LITERAL, Verdict
from recall.ranking import Ranked, ranked
from recall.scope import Standing

_MOST_PLACES = 3  # other places of one text that an answer names


class Hit(NamedTuple):
    """A verified match: where it lies, what the audience may see of it, how it matches, how it stands to the leaf.

    `same` are the other places of its text, as session and entry ids.
    """

    place: Place
    evidence: Evidence
    verdict: Verdict
    score: float
    digest: int
    standing: Standing
    same: tuple[tuple[str, str], ...] = ()


class Examined(NamedTuple):
    """The hits that were wanted, how many places had a text that a hit already shows, and whether a cap was reached."""

    hits: list[Hit]
    duplicates: int
    capped: bool


def examine(batches: Iterable[Batch], examiner: Examiner, places: Places, *, wanted: int) -> Examined:
    """Judge candidates from the best on until enough hits are verified and no better one can follow.

    A candidate is presumed in its batch's tier. One that turns out to belong elsewhere goes back to wait its turn.
    """
    best = _Best(examiner, places, wanted)
    for batch in batches:
        best.take(batch)
        if best.is_enough():
            break
    return best.examined()


class _Best:
    def __init__(self, examiner: Examiner, places: Places, wanted: int) -> None:
        self.examiner, self.places, self.wanted = examiner, places, wanted
        self.waiting: list[Ranked] = []
        self.judged: dict[int, tuple[Evidence, Verdict]] = {}
        self.seen: set[int] = set()
        self.hits: dict[int, Hit] = {}  # by digest, in order
        self.duplicates = 0
        self.capped = False

    def is_enough(self) -> bool:
        return len(self.hits) >= self.wanted

    def take(self, batch: Batch) -> None:
        """Judge a batch, up to what must wait for the next tier."""
        self.capped = self.capped or batch.capped
        fresh = [candidate for candidate in batch.candidates if candidate.found.rid not in self.seen]
        self.seen.update(candidate.found.rid for candidate in fresh)
        self.waiting += ranked(fresh, batch.measure)
        heapq.heapify(self.waiting)
        while self.waiting and not self.is_enough() and self.waiting[0].candidate.tier <= batch.tier:
            self._judge(heapq.heappop(self.waiting))

    def _judge(self, place: Ranked) -> None:
        found = place.candidate.found
        if found.digest in self.hits:
            self._same(found)
            return
        if found.rid not in self.judged:
            seen = self.examiner.look(self.places.of(found))
            if seen is None:
                return
            self.judged[found.rid] = seen
            if seen[1].tier > place.candidate.tier == LITERAL:  # a later tier proposes it for what it is
                self.seen.discard(found.rid)
                return
            if seen[1].tier != place.candidate.tier:
                heapq.heappush(self.waiting, place.moved(seen[1].tier))
                return
        seen_text, verdict = self.judged[found.rid]
        self.hits[found.digest] = Hit(
            self.places.of(found), seen_text, verdict, place.score, found.digest, place.candidate.standing
        )

    def _same(self, found: Found) -> None:
        hit = self.hits[found.digest]
        self.duplicates += 1
        place = self.places.of(found)
        if len(hit.same) < _MOST_PLACES and (other := self.examiner.entry_at(place)):
            self.hits[found.digest] = hit._replace(same=(*hit.same, (place.session_id, other.id)))

    def examined(self) -> Examined:
        """Give the hits, with the other places of their texts among what was not looked at any more."""
        alike = [place for place in self.waiting if place.candidate.found.digest in self.hits]
        for place in sorted(alike):
            if place.candidate.found.rid not in self.judged:
                self._same(place.candidate.found)
        return Examined(list(self.hits.values()), self.duplicates, self.capped)
