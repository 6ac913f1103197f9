"""Frozen values, made fast.

The constructor of a frozen dataclass sets each field through `object.__setattr__`, which takes longer than decoding the
field. For the events that every transaction has, decoders therefore fill a mutable twin with the same slots, and then
make it an instance of the frozen class. What comes out cannot be told from what the constructor makes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

Value = TypeVar("Value")


def fast_constructor(frozen: type[Value]) -> Callable[..., Value]:
    """Return a function that takes all fields of a frozen, slotted dataclass by position and makes a value of it."""
    kind: Any = frozen
    names = [field.name for field in fields(kind)]
    namespace: dict[str, Any] = {"frozen": frozen}
    arguments = ", ".join(names)
    assignments = "\n".join(f"        self.{name} = {name}" for name in names)
    source = f"""
class Twin:
    __slots__ = {tuple(names)!r}
    def __init__(self, {arguments}):
{assignments}

def construct({arguments}):
    value = Twin({arguments})
    value.__class__ = frozen
    return value
"""
    exec(source, namespace)  # noqa: S102 (the source is made of field names only)
    construct: Callable[..., Value] = namespace["construct"]
    return construct
