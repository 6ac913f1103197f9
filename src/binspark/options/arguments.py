"""Arguments of Python functions that are not options: what is wrong with them is an `OptionError`, too."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from binspark.errors import OptionError


def wrong_argument(name: str, expected: str, found: object) -> OptionError:
    """Return the error about an argument: what is expected, and what was found."""
    return OptionError(f"must be {expected}, got {'None' if found is None else _shown(found)}", option=name)


def path_argument(value: object, name: str, expected: str) -> str:
    """Return a path or URI as text."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise wrong_argument(name, expected, value)
    return value


def path_arguments(value: object, name: str, expected: str) -> tuple[str, ...]:
    """Return one or several paths or URIs as texts, at least one."""
    is_one = isinstance(value, str | os.PathLike) or not isinstance(value, Iterable) or isinstance(value, Mapping)
    paths = [value] if is_one else list(value) if isinstance(value, Iterable) else []
    if not paths:
        raise OptionError(f"must be {expected}, got nothing", option=name)
    return tuple(path_argument(path, name, expected) for path in paths)


def check_session(spark: object) -> None:
    """Refuse what is not a Spark session; one of Spark Connect has another class."""
    if not hasattr(spark, "dataSource"):
        raise wrong_argument("spark", "a Spark session", spark)


def _shown(found: object) -> str:
    return f"{found!r} ({type(found).__name__})"
