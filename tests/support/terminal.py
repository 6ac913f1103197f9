"""What programs write to a pseudo-terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator


def terminal_output(main: int) -> Iterator[bytes]:
    """Yield what comes through the main end of a pseudo-terminal, until the other end is closed; then close it."""
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        yield chunk
    os.close(main)
