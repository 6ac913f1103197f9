"""Numba: the only module that imports it, when a kernel must be compiled.

A kernel that Python calls is compiled without the wrapper that Numba makes for Python, which would need Numba at run
time. Its function takes the words of its arguments (`compiler` says which), where to put the result, and where to put
an error; it returns 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.compiler import Flags, compile_extra
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher, cpu_target
from numba.extending import intrinsic

from binspark.kernels.machine_code import MachineCode, can_be_loaded

_OPTIONS = {"nopython": True, "nogil": True, "boundscheck": None}
_WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_DECLARED = re.compile(r'^declare [^@\n]*@"?([^"(\n]+)"?\(', re.MULTILINE)
_EXTERNAL = re.compile(r'^@"?([^"=\n]+?)"? = external ', re.MULTILINE)


@cache
def function_type(function: Callable[..., Any], *, inline: bool) -> Any:
    """Return the type of a function that kernels call, or that is compiled into them."""
    dispatcher = CPUDispatcher(py_func=function, locals={}, targetoptions=_OPTIONS | {"forceinline": inline})
    _KEPT.append(dispatcher)
    return numba.typeof(dispatcher)


@cache
def intrinsic_type(function: Callable[..., Any]) -> Any:
    """Return the type of a function that generates instructions."""
    defined = intrinsic(function)
    _KEPT.append(defined)
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(defined)


def compile_function(function: Callable[..., Any], form: tuple[str, ...]) -> tuple[MachineCode, int]:
    """Compile a function for arguments of some types; return its code and its address in this process."""
    arguments = tuple(map(_type, form))
    flags: Any = Flags()
    cpu_target.options.parse_as_flags(flags, _OPTIONS | _WITHOUT_WRAPPERS)
    flags.no_compile = True  # what would be made executable is the wrapper
    with global_compiler_lock:
        typing, target = cpu_target.typing_context, cpu_target.target_context
        compiled = compile_extra(typing, target, function, arguments, None, flags, {})
        library, symbol = compiled.library, compiled.fndesc.llvm_func_name
        address = int(library.get_pointer_to_function(symbol))
        result, result_words = _result(compiled.signature.return_type)
        _, _, (data, _) = library.serialize_using_object_code()
        if library.has_dynamic_globals or not can_be_loaded(_undefined(library.get_llvm_str())):
            data = b""
    _KEPT.append(compiled)
    return MachineCode(symbol, result, result_words, sum(map(_words, arguments)), data), address


_KEPT: list[Any] = []
"""What owns the code of this process, and what Numba's types refer to weakly."""


def _type(kind: str) -> Any:
    if kind == "word":
        return types.int64
    element, _, dimensions = kind.partition("x")
    return types.Array(numba.from_dtype(np.dtype(element)), int(dimensions), "C")


def _words(kind: Any) -> int:
    """Return how many words Numba passes for an argument; of an array see `compiler`."""
    return 5 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


def _result(kind: Any) -> tuple[str, int]:
    """Return what Python makes of a result, and how many words it takes."""
    if isinstance(kind, types.NoneType):
        return "none", 0
    if isinstance(kind, types.Boolean):
        return "bool", 1
    if isinstance(kind, types.UniTuple) and kind.dtype == types.int64:
        return "words", len(kind)
    if kind == types.int64 or (isinstance(kind, types.IntEnumMember) and kind.dtype == types.int64):
        return "word", 1
    raise TypeError(f"a kernel that Python calls returns a number, a truth value or nothing, not {kind}")


def _undefined(assembly: str) -> Iterator[str]:
    """Yield the names of what a module refers to and does not define."""
    for name in _DECLARED.findall(assembly) + _EXTERNAL.findall(assembly):
        if not name.startswith("llvm."):
            yield name
