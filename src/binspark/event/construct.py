"""Fast construction of frozen dataclasses.

The constructor of a frozen dataclass sets each field through `object.__setattr__`, which takes longer than decoding the
field. For the events that every transaction has, decoders therefore fill an instance of a mutable class with the same
slots, and then assign the frozen class to it. The result is the same as that of the constructor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

Value = TypeVar("Value")


def fast_constructor(frozen: type[Value]) -> Callable[..., Value]:
    """Return a function that takes the fields of a frozen dataclass with slots by position and returns its value."""
    kind: Any = frozen
    names = [field.name for field in fields(kind)]
    namespace: dict[str, Any] = {"frozen": frozen}
    arguments = ", ".join(names)
    assignments = "\n".join(f"        self.{name} = {name}" for name in names)
    source = f"""
class Mutable:
    __slots__ = {tuple(names)!r}
    def __init__(self, {arguments}):
{assignments}

def construct({arguments}):
    value = Mutable({arguments})
    value.__class__ = frozen
    return value
"""
    exec(source, namespace)  # noqa: S102 (the source contains field names only)
    construct: Callable[..., Value] = namespace["construct"]
    return construct
