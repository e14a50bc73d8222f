"""What is taken out of a text before its words are indexed, beyond secrets: names that were deleted for good.

Handed in by the door, for the index knows nothing of memory: by the working folder of a session.
"""

from collections.abc import Callable

Mask = Callable[[str], str]
"""Gives a text without what may not be indexed."""

Masks = Callable[[str], Mask | None]
"""Gives the mask for the sessions of a working folder, as its header spells it; None where nothing is to be masked."""


def no_masks(_cwd: str) -> None:
    """Mask nothing."""
