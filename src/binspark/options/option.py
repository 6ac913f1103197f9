"""An option: its name on each surface, its parser and its help text."""

from __future__ import annotations

import difflib
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

from binspark.errors import OptionError
from binspark.options.values import InvalidValue

_PACKAGE = __name__.partition(".")[0]


class Surface(Enum):
    """Where an option is given. Each surface spells the same name in its own way."""

    COMMAND_LINE = "command line"
    PYTHON = "Python"
    SPARK = "Spark"

    def spell(self, name: str) -> str:
        """Return how a name is written here: `--exclude-tables`, `exclude_tables`, `excludeTables`."""
        if self is Surface.COMMAND_LINE:
            return "--" + name.replace("_", "-")
        if self is Surface.SPARK:
            return re.sub(r"_(.)", lambda match: match[1].upper(), name)
        return name


EVERYWHERE = frozenset(Surface)
OnRenamed = Callable[[str, str], None]
"""Is called with the old name that was given and the new one."""


def suggestion(given: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the known name that is most like the given one; an empty text if none is."""
    spellings = {name.lower(): name for name in known}
    nearest = difflib.get_close_matches(given.lower(), spellings, n=1)
    return f"; did you mean {spellings[nearest[0]]}?" if nearest else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option.

    name       its name in Python; the other surfaces spell the same words, see `Surface.spell`
    parse      turns a value into what it means: the text of the command line or of Spark, or a value in Python
    help       one sentence for the command line and the documentation
    metavar    what the value is, for the command line; empty for a flag
    choices    the values that are allowed, if they can be listed
    default    what applies if the option is not given, in words
    surfaces   where it exists
    spelling   a name that differs from the rule, by surface
    old_names  names that are still accepted, by surface
    is_list    whether it takes several values: separated by commas, or repeated on the command line
    short      its short name on the command line, such as `-h`
    """

    name: str
    parse: Callable[[Any], Any]
    help: str
    metavar: str = "TEXT"
    choices: tuple[str, ...] = ()
    default: str = ""
    surfaces: frozenset[Surface] = EVERYWHERE
    spelling: Mapping[Surface, str] = field(default_factory=dict)
    old_names: Mapping[Surface, str] = field(default_factory=dict)
    is_list: bool = False
    short: str = ""

    def name_on(self, surface: Surface) -> str:
        """Return the name as users of a surface write it."""
        return self.spelling.get(surface) or surface.spell(self.name)

    def read(self, value: Any, surface: Surface) -> Any:
        """Return what a value means; an `OptionError` with the name of the option if it is not valid."""
        try:
            return self.parse(value)
        except InvalidValue as error:
            raise OptionError(str(error), option=self.name_on(surface)) from None


AnyOption = TypeVar("AnyOption", bound=Option)
Value = TypeVar("Value")


class OptionTable(Generic[AnyOption]):
    """The options of one surface, by the names that users write."""

    def __init__(
        self, options: Iterable[AnyOption], surface: Surface, on_renamed: OnRenamed, unknown: str = "there is no option"
    ) -> None:
        """Keep the options that the surface has; `unknown` begins the message about a name that is none of theirs."""
        self._surface = surface
        self._on_renamed = on_renamed
        self._unknown = unknown
        self.options = tuple(option for option in options if surface in option.surfaces)
        self._by_name = {self._key(option.name_on(surface)): option for option in self.options}
        self._by_old_name = {
            self._key(option.old_names[surface]): option for option in self.options if surface in option.old_names
        }

    def find_all(self, given: Mapping[str, Value]) -> dict[str, tuple[AnyOption, Value]]:
        """Return the options that names mean, with their values, by their names in Python."""
        found: dict[str, tuple[AnyOption, Value]] = {}
        names: dict[str, str] = {}
        for name, value in given.items():
            option = self.find(name)
            if option.name in found:
                raise OptionError(given_twice(names[option.name], name))
            found[option.name], names[option.name] = (option, value), name
        return found

    def find(self, given: str) -> AnyOption:
        """Return the option that a name means; an `OptionError` if there is none."""
        key = self._key(given)
        option = self._by_name.get(key)
        if option is not None:
            return option
        option = self._by_old_name.get(key)
        if option is None:
            known = (option.name_on(self._surface) for option in self.options)
            raise OptionError(f"{self._unknown} {given}{suggestion(given, known)}")
        self._on_renamed(option.old_names[self._surface], option.name_on(self._surface))
        return option

    def _key(self, name: str) -> str:
        """Spark's options ignore case."""
        return name.lower() if self._surface is Surface.SPARK else name


def renamed(old: str, new: str) -> str:
    """Return the warning about an old name."""
    return f"{old} is deprecated; use {new}"


def given_twice(one: str, other: str) -> str:
    """Return the message about an option that was given under its old and its new name."""
    return f"{one} and {other} are the same option; give only one of them"


def warn_renamed(old: str, new: str) -> None:
    """Warn the Python code that called binspark with an old name."""
    warnings.warn(renamed(old, new), DeprecationWarning, stacklevel=frames_to_caller())


def frames_to_caller() -> int:
    """Return the stack level, for `warnings.warn` in the calling function, of the first caller outside binspark."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
