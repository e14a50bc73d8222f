"""Search a session in its log itself: where the index is behind or gone, and for what no index of words can find.

Reads the newest entries first, within a bound of bytes, hits and time that is reported when it is reached.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

import apsw

from foundation.errors import ContextError
from index.querying import Filters, Found, every
from index.schema import ROLE_CODE, id_key, text_key
from recall.evidence import Logs, Place, entry_of
from recall.examiner import Examiner
from recall.hits import Hit
from recall.needles import Needles, least
from recall.ranking import Candidate, measure_of, ranked
from recall.request import SearchRequest
from recall.scope import Standing, View
from sessions.tree import Outline

MOST_BYTES = 512_000_000
MOST_FOUND = 200

_BYTES_PER_WORD = 6
_BLOCK, _WIDEST_GAP = 1 << 20, 4096  # bytes


class Spot(NamedTuple):
    """A place to look at: bytes of the log, and what is known of the entry there.

    For one that is not indexed `rid` is 0 and `sha` is empty.
    """

    rid: int
    id_key: int
    timestamp: int | None
    offset: int
    size: int
    role: int
    sha: bytes = b""


StandingOf = Callable[[Spot], Standing]
"""Tells how an entry stands to the live leaf."""


class Scanned(NamedTuple):
    """What a scan found, in order, and whether it reached its end."""

    hits: list[Hit]
    complete: bool


class Lookout:
    """Looks at spots of one log, for all terms or literals only; `anywhere` lets words count inside of other words."""

    def __init__(
        self, request: SearchRequest, examiner: Examiner, path: str, standing_of: StandingOf,
        *, only_literals: bool = False, anywhere: bool = False, expired: Callable[[], bool],
    ) -> None:  # fmt: skip
        self.request, self.examiner, self.path, self.standing_of = request, examiner, path, standing_of
        self.anywhere, self.expired = anywhere, expired
        self.session_id = examiner.logs.session_id(path)
        terms = request.query.terms
        self.needles = Needles(
            (term.text for term in terms if term.kind == "literal")
            if only_literals
            else (sign for term in terms for sign in least(term))
        )

    def scan(self, spots: Iterable[Spot]) -> Scanned:
        """Look at spots in their order, until one of the bounds is reached."""
        found: list[tuple[Candidate, Hit]] = []
        read = 0
        for block in _blocks(spots):
            for spot, raw in self._possible(block):
                if len(found) == MOST_FOUND or self.expired():
                    return Scanned(_in_order(found), complete=False)
                if hit := self._look(spot, raw):
                    found.append((_candidate(hit, spot, -len(found)), hit))
            read += sum(spot.size for spot in block)
            if read > MOST_BYTES or self.expired():
                return Scanned(_in_order(found), complete=False)
        return Scanned(_in_order(found), complete=True)

    def _possible(self, block: Sequence[Spot]) -> Iterator[tuple[Spot, bytes]]:
        """Read the spots of a block at once, and yield those whose line may hold what is looked for."""
        start, end = block[-1].offset, block[0].offset + block[0].size
        data = self.examiner.logs.bytes_at(self.path, start, end - start)
        nothing = len(block) > 1 and self.needles.rules_out(data)
        for spot in block:
            raw = data[spot.offset - start : spot.offset - start + spot.size]
            if not (nothing and raw.isascii()) and self.needles.may_be_in(raw):
                yield spot, raw

    def _look(self, spot: Spot, raw: bytes) -> Hit | None:
        sha = spot.sha or sha256(raw).digest()
        place = Place(self.path, self.session_id, spot.offset, spot.size, sha, spot.id_key)
        seen = self.examiner.look_closely(place, anywhere=self.anywhere)
        if seen is None or (self.request.tools and not set(self.request.tools) & set(seen[0].entry.tools)):
            return None
        digest = text_key(seen[0].text.encode("utf-8", "replace"))
        return Hit(place, *seen, score=0.0, digest=digest, standing=self.standing_of(spot))


def indexed_spots(db: apsw.Connection, view: View, filters: Filters) -> tuple[Iterator[Spot], StandingOf]:
    """Give the entries of a scope of one session as the index has them, all filters applied, the newest first."""
    return (Spot(*row) for row in every(db, view.scope, filters)), lambda spot: view.standing(spot.rid)


def spots(
    request: SearchRequest, examiner: Examiner, session: Outline, *, ancestors_only: bool
) -> tuple[list[Spot], StandingOf]:
    """Give the entries of a session that pass the filters which an outline can tell, the newest first."""
    path = {node.offset for node in session.path_to(session.leaf)}
    gone = omitted(examiner.logs, session, path)
    listed = [
        Spot(0, id_key(node.id), node.timestamp, node.offset, node.length, ROLE_CODE[node.role])
        for node in reversed(session.entries)
        if (not ancestors_only or (node.offset in path and node.offset not in gone))
        and _passes(request, node.role, node.timestamp)
    ]
    return listed, lambda spot: Standing(spot.offset in path, spot.offset in gone)


def _blocks(spots: Iterable[Spot]) -> Iterator[list[Spot]]:
    """Put spots that follow each other closely, from the end of the log on, into blocks that are read at once."""
    block: list[Spot] = []
    for spot in spots:
        if block and (
            block[-1].offset - spot.offset - spot.size > _WIDEST_GAP or block[0].offset - spot.offset > _BLOCK
        ):
            yield block
            block = []
        block.append(spot)
    if block:
        yield block


def omitted(logs: Logs, session: Outline, path: set[int]) -> set[int]:
    """Give the offsets of the entries that the last context edit on the path takes out of the context."""
    last: dict[str, bool] = {}
    identity = logs.session_id(session.path)
    for node in session.entries:
        if node.type == "context_edit" and node.offset in path:
            place = Place(session.path, identity, node.offset, node.length, b"", id_key(node.id))
            with suppress(ContextError):  # the log has changed since its outline was made
                found = entry_of(logs.peek(place), place)
                if found.edit:
                    last[found.edit.target] = found.edit.omits
    return {session.by_id[target].offset for target, omits in last.items() if omits and target in session.by_id}


def _passes(request: SearchRequest, role: str, timestamp: int | None) -> bool:
    """Apply the filters that an outline can tell; entries without a time never pass a filter of time."""
    if role not in request.roles:
        return False
    if request.after is not None and (timestamp is None or timestamp <= request.after):
        return False
    return request.before is None or (timestamp is not None and timestamp < request.before)


def _candidate(hit: Hit, spot: Spot, order: int) -> Candidate:
    counts = tuple(map(len, hit.verdict.spans))
    length = len(hit.evidence.text) // _BYTES_PER_WORD
    found = Found(
        order, spot.id_key, spot.timestamp, spot.offset, spot.size, hit.place.sha, hit.digest, spot.role, b"", length
    )
    return Candidate(found, hit.verdict.tier, counts, hit.standing)


def _in_order(found: list[tuple[Candidate, Hit]]) -> list[Hit]:
    by_order = {candidate.found.rid: hit for candidate, hit in found}
    candidates = [candidate for candidate, _ in found]
    places = sorted(ranked(candidates, measure_of(candidates)))
    return [by_order[place.candidate.found.rid]._replace(score=place.score) for place in places]
