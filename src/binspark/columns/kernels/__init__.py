"""The hot loops: Python that Numba compiles, and keeps compiled on disk: see `columns.kernel_cache`.

`NUMBA_CACHE_DIR` is obeyed where it is set.
"""

from __future__ import annotations

import os

import numba

from binspark.columns.kernel_cache import cache_folder, kernel_sources, written_sources

_sources = kernel_sources(__path__)
_cache = cache_folder(_sources, numba.__version__)
if not os.environ.get("NUMBA_CACHE_DIR"):
    vars(numba.config)["CACHE_DIR"] = str(_cache)
if not os.path.exists(__file__):
    __path__ = [str(written_sources(_sources, _cache))]
