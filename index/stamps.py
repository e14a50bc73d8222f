"""What a file's stat result says about it, as the index keeps it."""

import os

Stamp = tuple[int, int, int, int]
"""Inode, size, and the times of the last change of content and of the file (ns)."""

_MOST = (1 << 63) - 1  # what SQLite can hold


def stamp(stat: os.stat_result) -> Stamp:
    """Give the stamp of a file: as long as it is the same, so are the file's bytes, as far as anyone can tell."""
    return (stat.st_ino & _MOST, stat.st_size, stat.st_mtime_ns & _MOST, stat.st_ctime_ns & _MOST)
