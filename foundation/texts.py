"""The three kinds of text, told apart by the type checker.

Text of a log is raw until `privacy.redaction` has taken the secrets out of it, and it is visible only once
`memory.visibility` has masked what the owner removed. Judging and excerpts ask for the last kind, so that a step
cannot be skipped without mypy noticing; a test holds that only those two modules make them. The index redacts what it
takes in, in `index.writing`, before anything of it is written.
"""

from typing import NewType

RawText = NewType("RawText", str)
"""Decoded text as the log holds it; may contain secrets."""

RedactedText = NewType("RedactedText", str)
"""Text whose detected secrets have become `[redacted:KIND]`; made only in `privacy.redaction`."""

VisibleText = NewType("VisibleText", str)
"""Redacted text with removed names masked: what an audience may see; made only in `memory.visibility`."""
