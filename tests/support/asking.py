"""Short ways to ask a world, and to look at what it answers."""

from typing import Any

from worlds import World

Json = dict[str, Any]


def relations(made: World, query: str, **asked: Any) -> dict[str, str]:
    """Ask, and give each hit's relation by its entry's id, as a plain number."""
    return {hit["entryId"].lstrip("0"): hit["relation"] for hit in made.search(query, **asked)["hits"]}


def reference_to(made: World, query: str = "okapi", **asked: Any) -> str:
    """Give a reference to the first hit of a question."""
    found: str = made.search(query, **asked)["hits"][0]["sourceRef"]
    return found


def refused(answer: Json, code: str) -> bool:
    """Tell whether a read was refused by a code, and showed nothing else."""
    told = {"status": "unavailable", "code": code, "warnings": [code]}
    return answer == {"schema": "context-history-read-v1", "quotedData": True} | told
