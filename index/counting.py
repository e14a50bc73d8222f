"""What FTS5 tells about a match: how often each phrase occurs, and how long the text is.

SQLite's own `bm25()` counts every phrase over the whole table, so its cost grows with the corpus and scores move
when unrelated sessions are added. Counting within the row costs the same everywhere; rarity is judged later,
among the candidates.
"""

import apsw

_MOST = 255


def phrase_counts(api: apsw.FTS5ExtensionApi, /, *_: object) -> bytes:
    """Give one byte per phrase of the query, its occurrences capped at 255, and four bytes of text length."""
    counts = [len(api.phrase_locations(number)[0]) for number in range(api.phrase_count)]
    try:
        packed = bytes(counts)
    except ValueError:
        packed = bytes(min(count, _MOST) for count in counts)
    return packed + api.column_size(0).to_bytes(4, "little")
