"""The best passages of a text, cut at line or sentence borders, no longer than they may be once serialised.

Works on visible text only: cutting before redaction could leave half a secret behind.
"""

import re
from collections.abc import Sequence

from foundation.canonical import dumps, utf16_units
from foundation.texts import VisibleText
from recall.judging import Span

SHORTEST, ROOM = 40, 45
"""UTF-16 units as serialised: below the first no excerpt is cut, and with the second it never need be.

The difference is the longest escape of one character, less one.
"""

ELLIPSIS = "…"
_BORDER = re.compile(r"\n|[.!?]\s|[。！？]")
_SLACK = 0.25  # of a passage may be given up to end it at a border
_TWO_PASSAGES = 500  # units from which on an excerpt may be split


def serialised(text: str) -> int:
    """Count the UTF-16 units of a text within JSON, its quotes not included."""
    return utf16_units(dumps(text)) - 2


def longest_start(text: str, units: int) -> str:
    """Give the longest beginning of a text that takes at most `units` once serialised, one character at least."""
    low, high = 1, min(len(text), max(units, 1))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if serialised(text[:middle]) <= units else (low, middle - 1)
    return text[:low]


def longest_end(text: str, units: int) -> str:
    """Give the longest end of a text that takes at most `units` once serialised."""
    start = len(text)
    while start > 0 and serialised(text[start - 1 :]) <= units:
        start -= 1
    return text[start:]


def excerpt(text: VisibleText, spans: Sequence[Sequence[Span]], units: int) -> str:
    """Cut the best passages out of a text, at most `units` serialised UTF-16 units of them.

    `spans` tells for each wanted term where it stands; the passage with the most different terms is the best.
    """
    units = max(units, ROOM)
    if len(text) <= units and serialised(text) <= units:
        return text
    size = units - 2 * len(ELLIPSIS)
    while size > 0:
        cut = _passages(text, spans, size)
        over = serialised(cut) - units
        if over <= 0:
            return cut if units + over >= SHORTEST else _packed(text, spans, units)
        size = min(size - 1, size - max(over // 6, 1)) if over < size else size // 2
    return _packed(text, spans, units)


def _packed(text: str, spans: Sequence[Sequence[Span]], units: int) -> str:
    """Take as many characters as fit from the first match on, then before it, whatever the borders."""
    begin = end = min((start for found in spans for start, _ in found), default=0)
    while end < len(text) and serialised(_framed(text, begin, end + 1)) <= units:
        end += 1
    while begin > 0 and serialised(_framed(text, begin - 1, end)) <= units:
        begin -= 1
    return _framed(text, begin, end)


def _passages(text: str, spans: Sequence[Sequence[Span]], size: int) -> str:
    places = sorted((start, end, term) for term, found in enumerate(spans) for start, end in found)
    if not places:
        return _cut(text, 0, size)
    best = _best_window(places, size)
    covered = {term for start, end, term in places if best <= start and end <= best + size}
    missing = [place for place in places if place[2] not in covered]
    if not missing or size < _TWO_PASSAGES:
        return _around(text, places, best, size)
    half = size // 2 - 2
    first, second = sorted((_best_window(places, half), _best_window(missing, half)))
    if second - first < half:
        return _around(text, places, best, size)
    return _around(text, places, first, half) + "\n" + _around(text, places, second, half)


def _best_window(places: Sequence[tuple[int, int, int]], size: int) -> int:
    """Give the start of the window that holds the most different terms, then the most occurrences, then the first."""
    best, best_worth, low = places[0][0], (0, 0), 0
    inside: dict[int, int] = {}
    for high, (_, end, term) in enumerate(places):
        inside[term] = inside.get(term, 0) + 1
        while places[low][0] < end - size and low < high:
            gone = places[low][2]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            low += 1
        worth = (len(inside), high - low)
        if worth > best_worth:
            best, best_worth = places[low][0], worth
    return best


def _around(text: str, places: Sequence[tuple[int, int, int]], start: int, size: int) -> str:
    """Set a window so that what it must hold has some text before it, and cut it at borders."""
    last = max((end for begin, end, _ in places if begin >= start and end <= start + size), default=start)
    room = max(size - (last - start), 0)
    begin = max(start - room // 3, 0)
    begin = max(min(begin, len(text) - size), 0)
    return _cut(text, begin, size, keep_from=start, keep_to=last)


def _cut(text: str, begin: int, size: int, *, keep_from: int = 0, keep_to: int = 0) -> str:
    """Cut `size` characters out, moved inwards to borders, never past what must be kept."""
    end = min(begin + size, len(text))
    slack = int(size * _SLACK)
    if begin > 0:
        border = _BORDER.search(text, begin, min(begin + slack, max(keep_from, begin)))
        space = text.find(" ", begin, min(begin + slack, max(keep_from, begin)))
        begin = border.end() if border else space + 1 if space >= 0 else begin
    if end < len(text):
        low = max(end - slack, keep_to, begin)
        borders = list(_BORDER.finditer(text, low, end))
        space = text.rfind(" ", low, end)
        end = borders[-1].end() if borders else space if space > low else end
    return _framed(text, begin, end, strip="\n")


def _framed(text: str, begin: int, end: int, *, strip: str = "") -> str:
    """Cut a piece out of a text, with a sign at each end where something is left out."""
    piece = text[begin:end].strip(strip) if strip else text[begin:end]
    return (ELLIPSIS if begin > 0 else "") + piece + (ELLIPSIS if end < len(text) else "")
