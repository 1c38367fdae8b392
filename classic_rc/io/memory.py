"""Memory that the process no longer needs goes back to the system."""

from __future__ import annotations

from contextlib import suppress

_LITTLE_MEMORY = 2**18  # kilobytes


def release_memory() -> None:
    """Give freed memory back to the system if the process has needed more than 256 MB.

    Linux's C library keeps freed arrays of up to 32 MB. Later arrays of other sizes cannot use that
    memory, so the process would grow.
    """
    # Other systems have no such module or function, or no library without a name.
    with suppress(ImportError, AttributeError, OSError, TypeError):
        import ctypes
        import resource

        # Small data would only pay for the pages that it needs again.
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _LITTLE_MEMORY:
            ctypes.CDLL(None).malloc_trim(0)
