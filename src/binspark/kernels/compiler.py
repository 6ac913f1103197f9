"""How kernels are compiled and called: `@kernel` for functions that Python and kernels call, `@intrinsic` for LLVM's.

A kernel is compiled when Python calls it for the first time, and from then on kept as machine code if
`kernels.cache.enable()` was called. A process that finds all its kernels there needs only llvmlite to load them: it
imports no Numba, which takes half a second. So no module of this package imports Numba, except `numba_compiler`, which
is imported when something must be compiled.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from operator import index
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import ref

from binspark.errors import Unsupported
from binspark.kernels import machine_code
from binspark.kernels.cache import is_enabled
from binspark.kernels.machine_code import MachineCode
from binspark.lazy import LazyModule

if TYPE_CHECKING:
    import numpy as np

ir: Any = LazyModule("llvmlite.ir")
types: Any = LazyModule("numba.core.types")

Function = TypeVar("Function", bound=Callable[..., Any])
Writer = Callable[[int, int, int, int], int]
"""Writes a value in another form; what it takes and returns are addresses and lengths."""

_WORD = "word"
_WRITER_FORM = (_WORD,) * 4
_LOCK = RLock()
_STOPS_WITHOUT_PROGRESS = 1 << 12  # more than all columns of a row need to grow one after the other
_STATUS_AND_RESULT = 2  # what Numba's functions take before their own arguments: where to put the result and an error


def kernel(function: Function) -> Function:
    """Compile a function when it is called for the first time. It runs without Python's lock."""
    compiled: Any = Kernel(function)
    return compiled


def inlined(function: Function) -> Function:
    """Compile a function into the kernels that call it. A call of another kernel passes what it returns by memory.

    That is for functions that are called for every value, in few places: code grows with each of them.
    """
    compiled: Any = Kernel(function, inline=True)
    return compiled


def intrinsic(function: Callable[..., Any]) -> Any:
    """Make what a function generates as LLVM's instructions callable by kernels; see `numba.extending.intrinsic`."""
    return Intrinsic(function)


@cache
def callback_address(writer: Writer) -> int:
    """Return the address of a writer, for `memory.call_writer`.

    So it is compiled only when somebody needs it, and once, not into each kernel that calls it.
    """
    return Kernel(writer).entry(_WRITER_FORM).address


def is_kept(function: Callable[..., Any]) -> bool:
    """Return whether a kernel is on disk, so that its first call need not compile it."""
    return isinstance(function, Kernel) and machine_code.is_kept(function.name)


class Kernel:
    """A function that is compiled. Numba takes it for its own dispatcher, and compiles it into kernels that call it."""

    def __init__(self, function: Callable[..., Any], *, inline: bool = False) -> None:
        update_wrapper(self, function)
        self.function = function
        self._inline = inline
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._entries: dict[tuple[str, ...], Entry] = {}
        self._passed: dict[int, _PassedArray] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code for arguments of these types: arrays, and integers as words."""
        form: list[str] = []
        words: list[int] = []
        for position, argument in enumerate(arguments):
            if hasattr(type(argument), "ctypes"):  # an array; NumPy may not have been imported
                passed = self._passed.get(position)
                if passed is None or passed.array() is not argument:
                    passed = self._passed[position] = _PassedArray(argument)
                form.append(passed.form)
                words += passed.words
            else:
                form.append(_WORD)
                words.append(index(argument))
        return self.entry(tuple(form)).call(words)

    def entry(self, form: tuple[str, ...]) -> Entry:
        """Return the machine code for arguments of these types."""
        known = self._entries.get(form)
        if known is None:
            with _LOCK:
                known = self._entries[form] = self._load(form)
        return known

    def _load(self, form: tuple[str, ...]) -> Entry:
        kept = self._kept(form)
        if kept is not None or not is_enabled():
            return kept or self._compile(form)
        from binspark.kernels.compile_lock import compile_lock

        with compile_lock(self.name, form):
            return self._kept(form) or self._compile(form)  # another process may have compiled it meanwhile

    def _kept(self, form: tuple[str, ...]) -> Entry | None:
        kept = machine_code.find(self.name, form) if is_enabled() else None
        return None if kept is None else Entry(machine_code.load(kept), kept)

    def _compile(self, form: tuple[str, ...]) -> Entry:
        from binspark.kernels.numba_compiler import compile_function

        code, address = compile_function(self.function, form)
        if is_enabled():
            machine_code.keep(self.name, form, code)
        return Entry(address, code)

    @cached_property
    def _numba_type_(self) -> Any:
        """What Numba takes this for, where another kernel calls it."""
        from binspark.kernels.numba_compiler import function_type

        return function_type(self.function, inline=self._inline)


class Entry:
    """Machine code that Python can call: a function with the calling convention of Numba."""

    def __init__(self, address: int, code: MachineCode) -> None:
        self.address = address
        self._result_words = max(1, code.result_words)
        self._result = _RESULTS[code.result]
        kinds = [ctypes.c_void_p] * _STATUS_AND_RESULT + [ctypes.c_int64] * code.argument_words
        self._function = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(address)

    def call(self, words: list[int]) -> Any:
        """Call the function with the words that its arguments consist of."""
        result = (ctypes.c_int64 * self._result_words)()
        error = ctypes.c_void_p()
        if self._function(ctypes.addressof(result), ctypes.addressof(error), *words):
            raise RuntimeError("a kernel has raised an error, which none should")
        return self._result(result)


class Headway:
    """Follows a kernel that is called again and again: it must get further, or it would be called for ever.

    allowed   how often in a row it may stop without having got further, while Python makes room for it, for example
    """

    __slots__ = ("_allowed", "_furthest", "_stops")

    def __init__(self, allowed: int = _STOPS_WITHOUT_PROGRESS) -> None:
        self._allowed = allowed
        self._furthest: tuple[int, ...] = ()
        self._stops = 0

    def reaches(self, *place: int) -> bool:
        """Record the place where a kernel stopped; return False if it has not got further too often in a row.

        A place is one or more numbers, the most significant first. They only grow while the kernel gets further.
        """
        if place > self._furthest:
            self._furthest, self._stops = place, 0
        else:
            self._stops += 1
        return self._stops <= self._allowed

    def check(self, *place: int) -> None:
        """Record the place where a kernel stopped; raise `Unsupported` if it has not got further too often in a row."""
        if not self.reaches(*place):
            raise Unsupported(
                f"this event cannot be read: {self._stops} attempts did not get past it; "
                "that is a mistake in binspark, please report it"
            )


class Intrinsic:
    """What kernels call instead of a function. Its body is asked for the instructions when a kernel is compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__doc__ = function.__doc__
        self.function = function

    @cached_property
    def _numba_type_(self) -> Any:
        from binspark.kernels.numba_compiler import intrinsic_type

        return intrinsic_type(self.function)


class Choice:
    """One of several kernels: which one is known when a kernel that calls it is compiled."""

    def __init__(self, choose: Callable[[], Any]) -> None:
        self._choose = choose

    @cached_property
    def _numba_type_(self) -> Any:
        return self._choose()._numba_type_


_RESULTS: dict[str, Callable[[Any], Any]] = {
    "none": lambda _result: None,
    "bool": lambda result: bool(result[0] & 0xFF),
    "word": lambda result: result[0],
    "words": tuple,
}


class _PassedArray:
    """An array as an argument. Many calls pass the same ones, so what was found out of the last one is kept.

    form   its type
    words  what Numba passes for it: its owner (nobody), counts, address, shape and strides
    """

    __slots__ = ("array", "form", "words")

    def __init__(self, array: np.ndarray) -> None:
        if not array.flags.c_contiguous:
            raise TypeError("kernels take contiguous arrays")
        self.array = ref(array)
        self.form = f"{array.dtype.kind}{array.itemsize}x{array.ndim}"
        self.words = (0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides)
