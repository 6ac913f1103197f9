"""How kernels are compiled and kept: `@kernel` for functions that Python and kernels call, `callback` for C functions.

Numba's own `cache=True` chooses a folder when a function is decorated, which is when its module is imported, and takes
it from a setting of the process. Here a folder is chosen when a kernel is needed, if `kernels.cache.enable()` was
called by then. So importing kernels has no effect on files, nor on other users of Numba.

The folder is named after all that machine code depends on: the sources of kernels and of the modules of binspark that
they use, the compiler, and the processor. Nothing that another version compiled is ever loaded, and it does not matter
whether binspark is imported from files or from an archive (Spark's `--py-files`). `NUMBA_CACHE_DIR` is obeyed.
"""

from __future__ import annotations

import hashlib
import pickle
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba import types
from numba.core import caching
from numba.core.ccallback import CFunc
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

import binspark.kernels
from binspark.folders import writable_cache_folder
from binspark.kernels.cache import is_enabled

USED_MODULES = (
    "binspark.errors",
    "binspark.event.column_types",
    "binspark.folders",
    "binspark.frames.codes",
    "binspark.position",
    "binspark.transactions.byte_tables",
    "binspark.transactions.grammar",
    "binspark.wire.floats",
    "binspark.wire.meaning",
)
"""What kernels import of binspark, themselves or by way of others; a test compares this with the sources."""

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Writer = Callable[[int, int, int, int], int]
"""Writes a value in another form; what it takes and returns are addresses and lengths."""

_OPTIONS = {"nopython": True, "nogil": True, "boundscheck": None}
_WRITER = normalize_signature(types.int64(types.int64, types.int64, types.int64, types.int64))
_NAME_LENGTH = 16
_UNREADABLE = (OSError, EOFError, pickle.UnpicklingError)


def kernel(function: Kernel) -> Kernel:
    """Compile a function when it is called for the first time. It runs without Python's lock."""
    if _setting("DISABLE_JIT"):
        return function
    dispatcher: Any = _Dispatcher(py_func=function, locals={}, targetoptions=dict(_OPTIONS))
    dispatcher.enable_caching()
    return dispatcher


@cache
def callback(writer: Writer) -> CFunc:
    """Compile a writer as a C function.

    Kernels call it by its address. So it is compiled only when somebody needs it, and once, not into each of them.
    """
    function = _Callback(writer)
    function.compile()
    return function


def callback_address(writer: Writer) -> int:
    """Return the address of a writer as a C function."""
    return int(callback(writer).address or 0)


def is_kept(function: Callable[..., Any]) -> bool:
    """Return whether a kernel is on disk, so that its first call need not compile it."""
    return isinstance(function, _Dispatcher) and function.is_kept


class _Dispatcher(CPUDispatcher):
    def enable_caching(self) -> None:
        self._cache = _KernelCache(self.py_func)

    @property
    def is_kept(self) -> bool:
        folder, name = self._cache.cache_path, self.py_func.__name__
        return folder is not None and any(Path(folder).glob(f"*.{name}-{self.py_func.__module__}-*.nbi"))


class _Callback(CFunc):
    def __init__(self, writer: Writer) -> None:
        super().__init__(writer, _WRITER, locals={}, options={})
        self._cache = _KernelCache(writer)


class _KernelCache(caching.NullCache):
    """Where one kernel is kept: nowhere until caching is enabled. A cache that cannot be used is no error."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def _files(self) -> caching.FunctionCache:
        return _FunctionCache(self._function)

    @property
    def cache_path(self) -> str | None:
        return self._files.cache_path if is_enabled() else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if is_enabled():
            with suppress(*_UNREADABLE):
                return self._files.load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if is_enabled():
            with suppress(*_UNREADABLE):
                self._files.save_overload(sig, data)


class _Locator(caching._CacheLocator):
    """Names our folder to Numba, and the files of each kernel in it."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._function = function
        self._py_file = file  # Numba's warnings name it
        self._folder = kernel_folder(_compiler(), _setting("CACHE_DIR"))

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator:
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return f"{self._function.__module__}-{self._function.__code__.co_firstlineno}"


class _CacheImplementation(caching.CompileResultCacheImpl):
    _locator_classes: list[Any] = [_Locator]  # noqa: RUF012 (as Numba declares it)


class _FunctionCache(caching.FunctionCache):
    _impl_class = _CacheImplementation


@cache
def kernel_folder(compiler: str, parent: str) -> Path:
    """Return the folder for what a compiler makes of kernels: below `parent`, or below the cache folder."""
    base = Path(parent) if parent else writable_cache_folder()
    return base / "kernels" / folder_name(compiler, _sources())


def folder_name(compiler: str, sources: Mapping[str, bytes]) -> str:
    """Return a name for what a compiler makes of sources."""
    digest = hashlib.sha256(compiler.encode())
    for name, text in sources.items():
        digest.update(b"\0%s\0%d\0%s" % (name.encode(), len(text), text))
    return digest.hexdigest()[:_NAME_LENGTH]


def _sources() -> dict[str, bytes]:
    files = {*_files_below(binspark.kernels.__path__, "kernels")}
    files |= {f"{module.removeprefix('binspark.').replace('.', '/')}.py" for module in USED_MODULES}
    return {file: pkgutil.get_data("binspark", file) or b"" for file in sorted(files)}


def _files_below(path: Iterable[str], folder: str) -> Iterator[str]:
    """Yield the files of a package relative to binspark, without importing any of them."""
    yield f"{folder}/__init__.py"
    for module in pkgutil.iter_modules(path):
        if module.ispkg:
            yield from _files_below([f"{parent}/{module.name}" for parent in path], f"{folder}/{module.name}")
        else:
            yield f"{folder}/{module.name}.py"


@cache
def _compiler() -> str:
    """Return what decides on machine code besides the sources."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag)
    return " ".join((*versions, binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()))


def _setting(name: str) -> Any:
    """Return a setting of Numba."""
    return vars(numba.config)[name]
