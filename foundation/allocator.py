"""How the C library keeps the memory that long texts leave behind."""

_MMAP_THRESHOLD, _BYTES = -3, 1 << 20  # M_MMAP_THRESHOLD of <malloc.h>


def return_large_blocks() -> None:
    """Let blocks of a megabyte and more go back to the system as soon as they are free.

    glibc raises that limit to 32 MiB when the first such block is freed; a few log lines of that length then leave
    holes that nothing else fits into. Other C libraries do not know the call, and nothing happens.
    """
    import ctypes

    try:
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _BYTES)
    except (OSError, AttributeError, TypeError):  # TypeError: Windows has no library without a name
        return
