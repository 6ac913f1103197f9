"""The hot loops: Python that Numba compiles, and keeps compiled on disk.

Numba notices a change of the file that a kernel stands in, but not of the files that it uses. So compiled kernels are
kept in a folder that is named after the text of all of them. `NUMBA_CACHE_DIR` is obeyed where it is set.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numba


def _cache_folder() -> str:
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted([*here.glob("*.py"), here.parent / "layout.py"]):
        digest.update(source.read_bytes())
    base = (
        os.environ.get("BINSPARK_CACHE")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "binspark"
    )
    return str(Path(base) / "kernels" / digest.hexdigest()[:16])


if not os.environ.get("NUMBA_CACHE_DIR"):
    vars(numba.config)["CACHE_DIR"] = _cache_folder()
