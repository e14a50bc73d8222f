"""Some sixty sessions whose summaries list some three hundred items, each labelled: a name, or junk of some kind.

Deterministic, and shaped like what real summaries list: the same promotional senders in every mail check, ids, paths.
"""

import random
from typing import NamedTuple

GOOD = [
    "Walgreens", "Acme Rocket", "Node.js", "HTTP/2", "Łukasz Nowak", "Émile", "索引社", "Ökofen", "PostgreSQL", "Kubernetes",
    "Anna-Maria Lindqvist", "Bolt", "Москва Экспресс", "O'Reilly", "C++ Weekly", "Überweisung Nord", "Tokio Marine", "GitHub",
    "Дом Книги", "日本橋", "Raspberry Pi", "Zürich HB",
]  # fmt: skip
ONCE = [f"Passing Remark {letter}" for letter in "ABCDEFGHIJKLMNOPQRST"]
SENDERS = ["Mega Deals Daily", "Fashion Outlet News", "Pizza Palace Offers"]
JUNK = {
    "id": ["4f3a9b1c", "deadbeef42", "550e8400-e29b-41d4-a716-446655440000", "ticket 8f14e45f"],
    "email": ["anna@example.com", "Bob <bob@mail.example>"],
    "path": ["/usr/local/bin", "src/main.py", "C:\\Users\\anna", "docs/readme"],
    "file": ["report.pdf", "index.ts", "Makefile.am"],
    "number": ["2026-11-20", "12:30", "3.14", "42"],
    "identifier": ["retry_budget", "max_tokens_left"],
    "lower": ["the invoice", "größe", "счёт"],
    "label": ["Status: open", "Price: 40"],
    "prose": ["we then went on to look at all of the other things"],
    "empty": ["none", "n/a", "-"],
}  # fmt: skip


class Labelled(NamedTuple):
    """The summaries by session, and what must and must not be drawn."""

    summaries: dict[str, list[str]]
    good: frozenset[str]
    junk: frozenset[str]
    count: int  # type: ignore[assignment]  # of items


def labelled() -> Labelled:
    """Make them."""
    rng = random.Random(61)
    found: dict[str, list[str]] = {}
    count = 0
    junk = [item for items in JUNK.values() for item in items]
    for number in range(61):
        identity = f"test-{number}" if number % 10 == 9 else f"01995f{number:02x}-7a11-7000-8000-0000000000{number:02x}"
        items = [GOOD[(2 * number + at) % len(GOOD)] for at in range(2)] + rng.sample(junk, 2)
        items += [ONCE[number // 3]] if number % 3 == 0 and number // 3 < len(ONCE) else []
        items += [rng.choice(SENDERS)] if number % 4 == 0 else []
        if identity.startswith("test-"):
            items = [*rng.sample(junk, 2), "Only In Tests"]
        rng.shuffle(items)
        count += len(items)
        found[identity] = [f"Goal: go on with step {number}\nReferenced: {', '.join(items)}\nNext: more"]
    return Labelled(found, frozenset(GOOD), frozenset([*junk, *ONCE, "Only In Tests"]), count)
