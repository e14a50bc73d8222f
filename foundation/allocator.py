"""How the C library keeps memory in a bulk build: many small pieces looked up at random, and a few huge texts."""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of <malloc.h>
_HUGE_PAGES, _HUGE_PAGE = 14, 2 << 20  # MADV_HUGEPAGE of <sys/mman.h>; bytes
_HEAP = 64 << 20  # bytes that the small pieces of a bulk build fit into
_LARGE = 1 << 20  # bytes


def prepare_for_bulk() -> None:
    """Let small pieces live on huge pages, and large blocks go back to the system as soon as they are free.

    The words of a bulk build lie all over some 20 MB, so that on pages of 4 kB most look-ups miss the processor's
    table of pages: that costs 7 % of a build. And glibc raises its limit for large blocks to 32 MiB when the first
    such block is freed; a few log lines of that length then leave holes that nothing else fits into.

    Other C libraries and systems do not know the calls, and nothing happens.
    """
    if sys.platform != "linux":
        return
    try:
        libc = ctypes.CDLL(None)
        mallopt, malloc, free, madvise = libc.mallopt, libc.malloc, libc.free, libc.madvise
    except (OSError, AttributeError):
        return
    malloc.restype = ctypes.c_void_p
    mallopt(_MMAP_THRESHOLD, 2 * _HEAP)  # so that the next block is cut from the heap, and not by itself
    mallopt(_TRIM_THRESHOLD, 2 * _HEAP)
    start = malloc(ctypes.c_size_t(_HEAP))
    if start:
        first = -(-start // _HUGE_PAGE) * _HUGE_PAGE
        madvise(ctypes.c_void_p(first), ctypes.c_size_t(start + _HEAP - first), _HUGE_PAGES)
        free(ctypes.c_void_p(start))
    mallopt(_MMAP_THRESHOLD, _LARGE)
