"""The process that runs a command: it loads no more than it needs, and ends at once."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

_UNWANTED = {"pandas": "", "cffi": "numba.", "yaml": "numba."}
"""What is loaded because it is installed, and what the names of the modules begin with that ask for it in vain.

Arrow asks for the first, Numba for the others. It takes a third of a second, and no command uses it.
"""

_NEW_OBJECTS = 200_000
"""After how many of them Python looks for garbage: what is imported is none."""


def load_lightly() -> None:
    """Let this process load nothing that is of no use to it. This is not for processes of Spark."""
    sys.meta_path.insert(0, _Unwanted)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(_NEW_OBJECTS)


class _Unwanted:
    """Says of some libraries that they are not installed."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        if name in _UNWANTED and _who_asks().startswith(_UNWANTED[name]):
            raise ModuleNotFoundError(f"{name} is of no use here", name=name)


def _who_asks() -> str:
    """Return the name of the module that imports another one."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "importlib" in frame.f_globals.get("__name__", ""):
        frame = frame.f_back
    asking: str = frame.f_globals.get("__name__", "")
    return asking


def leave(code: int) -> NoReturn:
    """End the process without tidying up: Python takes a tenth of a second to give back what the system takes back."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            continue
    os._exit(code)
