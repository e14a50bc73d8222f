"""Search a session in its log itself: where the index is behind or gone, and for what no index of words can find.

Reads the newest entries first, within a bound of bytes, hits and time that is reported when it is reached.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from foundation.canonical import dumps
from index.querying import Found
from index.schema import ROLE_CODE, id_key, text_key
from index.tokens import split_word
from recall.candidates import lowered
from recall.evidence import Place
from recall.folding import fold
from recall.hits import Examiner, Hit
from recall.query import Query
from recall.ranking import Candidate, ranked
from recall.request import SearchRequest
from sessions.tree import Node, Outline

MOST_BYTES = 512_000_000
MOST_HITS = 200

_WORD = re.compile(r"[^\W_]+")


class Scanned(NamedTuple):
    """What a scan found, in order, and whether it reached its end."""

    hits: list[Hit]
    complete: bool


def scan(
    request: SearchRequest,
    examiner: Examiner,
    session: Outline,
    *,
    session_id: str,
    ancestors_only: bool,
    start: int = 0,
    anywhere: bool = False,
    expired: Callable[[], bool],
) -> Scanned:
    """Look at the entries of a session from the byte `start` on; with `anywhere` words count inside of other words."""
    path = {node.id for node in session.path_to(session.leaf)}
    gone = omitted(examiner, session, session_id, path) if ancestors_only else frozenset()
    needles = list(_needles(request.query))
    found: list[tuple[Candidate, Hit]] = []
    read = 0
    complete = True
    for number in range(len(session.entries) - 1, -1, -1):
        node = session.entries[number]
        if node.offset < start:
            break
        if ancestors_only and (node.id not in path or node.id in gone or session.by_id[node.id] is not node):
            continue
        if not _passes(request, node):
            continue
        read += node.length
        if read > MOST_BYTES or len(found) == MOST_HITS or expired():
            complete = False
            break
        hit = _look(request, examiner, session.path, session_id, node, needles, anywhere=anywhere)
        if hit is not None:
            hit = hit._replace(ancestor=node.id in path)
            found.append((_candidate(hit, node, number), hit))
    return Scanned(_in_order(found), complete)


def omitted(examiner: Examiner, session: Outline, session_id: str, path: set[str]) -> frozenset[str]:
    """Give the entries that the last context edit on the path takes out of the context."""
    last: dict[str, bool] = {}
    for node in session.entries:
        if node.type == "context_edit" and node.id in path:
            place = _place(session.path, session_id, node, b"")
            found = examiner.entry_at(place._replace(sha=sha256(examiner.logs.peek(place)).digest()))
            if found and found.edit:
                last[found.edit.target] = found.edit.omits
    return frozenset(target for target, omits in last.items() if omits)


def _look(
    request: SearchRequest, examiner: Examiner, path: str, session_id: str, node: Node, needles: Sequence[bytes],
    *, anywhere: bool,
) -> Hit | None:  # fmt: skip
    place = _place(path, session_id, node, b"")
    raw = examiner.logs.peek(place)
    line = lowered(raw)
    if not any(needle in line for needle in needles):
        return None
    place = place._replace(sha=sha256(raw).digest())
    seen = examiner.look(place, anywhere=anywhere)
    if seen is None or (request.tools and not set(request.tools) & set(seen[0].entry.tools)):
        return None
    text_digest = text_key(seen[0].text.encode("utf-8", "replace"))
    return Hit(0, place, *seen, score=0.0, digest=text_digest, ancestor=False)


def _passes(request: SearchRequest, node: Node) -> bool:
    """Apply the filters that an outline can tell; entries without a time never pass a filter of time."""
    if node.role not in request.roles:
        return False
    if request.after is not None and (node.timestamp is None or node.timestamp <= request.after):
        return False
    return request.before is None or (node.timestamp is not None and node.timestamp < request.before)


def _needles(query: Query) -> Iterator[bytes]:
    """Give, for each wanted term, bytes without which a folded line cannot hold it."""
    for term in query.terms:
        words = _WORD.findall(term.text)
        piece = term.text if term.required or not words else split_word(words[0]).split()[0]
        yield dumps(fold(piece))[1:-1].encode("utf-8", "replace")


def _place(path: str, session_id: str, node: Node, sha: bytes) -> Place:
    return Place(path, session_id, node.offset, node.length, sha, id_key(node.id))


def _candidate(hit: Hit, node: Node, number: int) -> Candidate:
    counts = tuple(map(len, hit.verdict.spans))
    length = len(hit.evidence.text) // 6
    found = Found(number + 1, hit.place.id_key, node.timestamp, node.offset, node.length, hit.place.sha, hit.digest,
                  ROLE_CODE[node.role], b"", length)  # fmt: skip
    return Candidate(found, hit.verdict.tier, counts, hit.ancestor)


def _in_order(found: Iterable[tuple[Candidate, Hit]]) -> list[Hit]:
    by_rid = {candidate.found.rid: (candidate, hit) for candidate, hit in found}
    places = ranked([candidate for candidate, _ in by_rid.values()])
    return [by_rid[place.candidate.found.rid][1]._replace(score=place.score) for place in places]
