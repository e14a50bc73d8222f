"""Finds secrets in text: `find` gives their places."""

from privacy.secrets import first_look
from privacy.secrets.model import Secret

__all__ = ["Secret", "find"]


def find(text: str) -> list[Secret]:
    """Find the secrets of a text: `[start, end)` in characters of it, in order, without overlaps."""
    data = text.encode("utf-8", "surrogatepass")
    first = first_look.search(data)
    if first is None:
        return []
    from privacy.secrets.scanning import judged

    return judged(text, data, first)
