"""Where zlib's crc32 is, for kernels to call."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator
from functools import lru_cache

from binspark.errors import Unsupported


@lru_cache(maxsize=1)
def crc32_address() -> int:
    """Return the address of zlib's crc32."""
    for name in _names():
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        return int(ctypes.cast(library.crc32, ctypes.c_void_p).value or 0)
    raise Unsupported("zlib is not installed as a shared library")


def _names() -> Iterator[str]:
    """Yield what zlib may be called. Looking for it takes a program, so its usual name comes first."""
    yield "libz.so.1"
    found = ctypes.util.find_library("z")
    if found is not None:
        yield found
