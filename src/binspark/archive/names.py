"""Names of logs as a server gives them: checked before any of them becomes a path."""

from __future__ import annotations

import re

from binspark.errors import Malformed

_LOG = re.compile(r"(?!\.)([^\0-\x1f\x7f/\\]+)\.(\d{1,18})")
_LONGEST = 255


def checked_name(name: str) -> str:
    """Return a name that is one of a log and nothing else; whatever could lead elsewhere is refused."""
    if not is_log_name(name):
        raise Malformed(f"the server names a log {name!r}: that is no name to write to")
    return name


def is_log_name(name: str) -> bool:
    """Tell whether a name is that of a log: a base, a point, a number."""
    return _LOG.fullmatch(name) is not None and len(name.encode("utf-8", "surrogatepass")) <= _LONGEST


def base_of(name: str) -> str:
    """Return what the names of all logs of a server begin with."""
    return name.rpartition(".")[0]


def next_name(name: str) -> str:
    """Return how a server names the log behind this one."""
    base, _, number = name.rpartition(".")
    return f"{base}.{int(number) + 1:0{len(number)}}"
