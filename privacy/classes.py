"""The order of classifications: which of two is the stricter, and which one a mixture has."""

from foundation.settings import CLASSES

_RANKS = {name: at for at, name in enumerate(CLASSES)}


def rank(cls: str) -> int:
    """Give the place of a class from open (0) to closed (3); KeyError for a name that is no class."""
    return _RANKS[cls]


def highest(*classes: str) -> str:
    """Give the strictest of the classes; without any, the most open one."""
    return max(classes, key=rank, default=CLASSES[0])
