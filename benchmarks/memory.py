"""The peak memory of a process."""

from __future__ import annotations

import re
from pathlib import Path


def peak_bytes(process: int | str = "self") -> int | None:
    """Return the peak resident memory of a process; None where /proc does not have it."""
    try:
        match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return None
    return int(match[1]) << 10 if match else None
