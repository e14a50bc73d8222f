"""Small things that people read: sizes, days, first words."""

from pi_context.output import plain


def size(count: float) -> str:
    """Write a number of bytes with three digits at most: `3.7 MB`."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:  # noqa: PLR2004 - units step by a thousand
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"  # noqa: PLR2004
        count /= 1000
    return f"{count:.1f} GB"


def day(stamp: str) -> str:
    """Write an instant in local time, as a person reads it."""
    from datetime import datetime

    return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M") if stamp else ""


def first_words(text: str, most: int) -> str:
    """Give the beginning of a text on one line."""
    line = " ".join(text.split())
    return plain(line if len(line) <= most else line[: most - 1] + "…")
