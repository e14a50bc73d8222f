"""Propose places for a query, tier by tier: literal terms first, then all words, then some of them.

Each tier is one pass with its own cap, newest first; the literal tier is walked to its end, for its only hit may be
the oldest of all. The places are proposals: `judging` decides on the text.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import apsw

from index import matching
from index.ancestors import session_of
from index.listing import session
from index.querying import AuthorisedScope, Filters, Found, search, walk
from recall.evidence import Place
from recall.examiner import Examiner
from recall.judging import ALL_WORDS, LITERAL, SOME
from recall.needles import Needles
from recall.query import Query, Term
from recall.ranking import Candidate, Measure, Tally, measure_of
from recall.scope import PROJECT_WIDE, Standing, View

CAP = 1000
_LEAST_PER_TERM = 60
_MOST_WALKED = 5000  # places that the literal tier looks at beyond one session and its sources


class Batch(NamedTuple):
    """The candidates of one tier, what they are measured by, and whether a cap left some out."""

    tier: int
    candidates: list[Candidate]
    measure: Measure
    capped: bool


class Places:
    """Knows the files behind the rids of one answer, and how their entries stand to the leaf."""

    def __init__(self, db: apsw.Connection, view: View) -> None:
        self._db, self._view = db, view
        self._known: dict[int, tuple[str, str]] = {}

    def of(self, found: Found) -> Place:
        """Give where in which file a found entry lies."""
        sid = session_of(found.rid)
        if sid not in self._known:
            row = session(self._db, sid)
            self._known[sid] = (row.path, row.id)
        return Place(*self._known[sid], found.offset, found.size, found.sha, found.id_key)

    def standing(self, found: Found) -> Standing:
        """Tell how a found entry stands to the live leaf."""
        return self._view.standing(found.rid)


def tiers(
    db: apsw.Connection, scope: AuthorisedScope, query: Query, filters: Filters, places: Places, examiner: Examiner,
    *, exact: bool, words: bool,
) -> Iterator[Batch]:  # fmt: skip
    """Yield the tiers of a query, the best first; `exact` and `words` switch literal terms and words on."""
    required = matching.all_of(
        matching.any_of(matching.phrase(term.text) for term in group)
        for group in query.groups
        if any(term.required for term in group)
    )
    touches = examiner.gate.visibility.touches  # what nobody may find must not show by what is missing either
    unwanted = matching.any_of(
        matching.single(term.text) for term in query.excluded if term.kind == "word" and not touches(term.text)
    )
    each = [_expression(term, matching.all_of) for term in query.terms]
    loosely = [_expression(term, matching.any_of) for term in query.terms]
    anything = matching.without(matching.any_of(loosely), unwanted)
    counted = _Counted(db, scope, filters, places, [matching.phrases_in(expression) for expression in each])
    literals = [term.text for term in query.terms if term.kind == "literal"]
    if exact and literals:
        wanted = required or matching.any_of(map(matching.phrase, literals))
        yield counted.literal((wanted, anything), literals, examiner)
    if required or not words:
        return
    at = iter(each)
    together = matching.all_of(matching.any_of(next(at) for _ in group) for group in query.groups)
    yield counted.batch(ALL_WORDS, [("", matching.without(together, unwanted))], most=CAP)
    if len(each) > 1 or loosely != each:
        gates = [(expression, anything) for expression in loosely if expression]
        yield counted.batch(SOME, gates, most=max(CAP // len(each), _LEAST_PER_TERM))


def _expression(term: Term, join: Callable[[list[str]], str]) -> str:
    """Match a term; a literal by its words, all or any of them as they are joined."""
    match term.kind:
        case "prefix":
            return matching.phrase(term.text, prefix=True)
        case "literal":
            return join(matching.words_of(term.text))
        case _:
            return matching.word(term.text)


class _Counted:
    """Searches with counts, and gives each wanted term its share of them."""

    def __init__(
        self, db: apsw.Connection, scope: AuthorisedScope, filters: Filters, places: Places, phrases: list[int]
    ) -> None:
        self.db, self.scope, self.filters, self.places, self.phrases = db, scope, filters, places, phrases

    def batch(self, tier: int, passes: Iterable[tuple[str, str]], *, most: int) -> Batch:
        """Run passes of `(gate, counted)` expressions, each to its cap, and give every place once."""
        found: dict[int, Candidate] = {}
        capped = False
        for gate, counted in passes:
            rows, more = search(self.db, self.scope, matching.all_of((gate, counted)), self.filters, most=most)
            for row in rows:
                if row.rid not in found:
                    found[row.rid] = self._candidate(tier, row, gate)
            capped = capped or more
        candidates = list(found.values())
        return Batch(tier, candidates, measure_of(candidates), capped)

    def literal(self, expressions: tuple[str, str], literals: Iterable[str], examiner: Examiner) -> Batch:
        """Keep the places whose line may hold a literal, whatever their number.

        Lines hold secrets too, so they only pass places over: rarity and density are those of the words in the index.
        """
        needles = Needles(literals)
        kept: list[Candidate] = []
        tally = Tally(len(self.phrases))
        capped = False
        for row in walk(self.db, self.scope, matching.all_of(expressions), self.filters):
            if tally.number == _MOST_WALKED and len(self.scope.parts) > 1 and self.scope.name in PROJECT_WIDE:
                capped = True
                break
            candidate = self._candidate(LITERAL, row, expressions[0])
            tally.add(candidate)
            place = self.places.of(row)
            raw = examiner.peek(place)
            if needles.may_be_in(raw):
                kept.append(candidate)
            else:
                examiner.is_there(place, raw)  # the index took it for a match: perhaps it is another line now
        return Batch(LITERAL, kept, tally.measure(), capped)

    def _candidate(self, tier: int, row: Found, gate: str) -> Candidate:
        counts = self._per_term(row.counts[matching.phrases_in(gate) :])
        return Candidate(row, tier, counts, self.places.standing(row))

    def _per_term(self, counts: bytes) -> tuple[int, ...]:
        shares, at = [], 0
        for number in self.phrases:
            shares.append(sum(counts[at : at + number]))
            at += number
        return tuple(shares)
