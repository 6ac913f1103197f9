"""Readers pickled for workers: one without binspark reports that it is missing, and what to do."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

Unpack = Callable[[bytes], Any]


def check_function() -> Callable[[], None]:
    """Return a function that fails where binspark, or what it needs, is not installed, and says what to do.

    It is defined in here, and imports nothing of binspark, because Spark then sends it to workers by value.
    """

    def check() -> None:
        import platform
        import sys
        from importlib.util import find_spec

        missing = [name for name in ("binspark", "numba", "pyarrow") if find_spec(name) is None]
        if missing:
            raise ImportError(
                f"Spark's workers run {sys.executable} on {platform.node()}, which has no {' and no '.join(missing)}. "
                "Set PYSPARK_PYTHON, before the session starts, to a Python with binspark[spark] that exists on the "
                "driver and all executors"
            )

    return check


def _unpack_function() -> Unpack:
    check = check_function()

    def unpack(packed: bytes) -> Any:
        import pickle

        check()
        kind, state = pickle.loads(packed)  # noqa: S301 (the driver made it)
        made = object.__new__(kind)
        made.__dict__.update(state)
        return made

    return unpack


_UNPACK = _unpack_function()


def packed(reader: object, state: dict[str, Any]) -> tuple[Unpack, tuple[bytes]]:
    """Return what `__reduce__` returns for a reader whose attributes are `state`."""
    return _UNPACK, (pickle.dumps((type(reader), state)),)
