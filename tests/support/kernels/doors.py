"""The doors of the kernels: the functions in machine code that Python calls, or hands over to other kernels."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import binspark
from binspark.kernels.compiler import Kernel

_ROOT = Path(binspark.__file__).parent
_KERNELS = "binspark.kernels"
_WRITER_FORM = ["int"] * 5  # the annotations of `kernels.compiler.Writer`: four numbers, and what it returns


@cache
def kernel_doors() -> set[str]:
    """Return the names of all kernels, and of all functions for kernels, that modules of other packages import."""
    modules = [path for path in _ROOT.rglob("*.py") if path.relative_to(_ROOT).parts[0] != "kernels"]
    trees = [ast.parse(text) for text in map(Path.read_text, modules) if _KERNELS in text]
    imports = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        door
        for node in imports
        if node.module and node.module.startswith(_KERNELS)
        for name in node.names
        for door in _doors_of(getattr(import_module(node.module), name.name, None))
    }


def _doors_of(imported: Any) -> Iterator[str]:
    """Yield the doors that an imported object is or contains."""
    match imported:
        case Kernel():
            yield imported.name
        case FunctionType() if imported.__module__.startswith(_KERNELS):
            if list(imported.__annotations__.values()) == _WRITER_FORM:
                yield f"{imported.__module__}.{imported.__qualname__}"
        case dict():
            for value in imported.values():
                yield from _doors_of(value)
        case tuple():
            for value in imported:
                yield from _doors_of(value)
