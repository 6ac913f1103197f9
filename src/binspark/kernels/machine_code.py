"""Compiled kernels on disk: what Numba made of them, as object files that llvmlite loads.

The folder is named after all that machine code depends on: the sources of kernels and of the modules of binspark that
they use, the compiler, and the processor. Nothing that another version compiled is ever loaded, and it does not matter
whether binspark is imported from files or from an archive (Spark's `--py-files`). `NUMBA_CACHE_DIR` is obeyed.

Code is executed as this user. It is loaded only if no other user can have written it: neither the file nor its folder
can be changed by others (`folders.why_unsafe`), and a digest covers all of the file and the kernel that it is for.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import pkgutil
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import binspark.kernels
from binspark.folders import (
    READABLE_FILE,
    READABLE_FOLDER,
    UnsafeCacheWarning,
    is_safe,
    why_changeable,
    writable_cache_folder,
)
from binspark.private_files import create_folder, open_file, replace_file

USED_MODULES = (
    "binspark.errors",
    "binspark.event.column_types",
    "binspark.folders",
    "binspark.frames.codes",
    "binspark.lazy",
    "binspark.position",
    "binspark.private_files",
    "binspark.transactions.byte_tables",
    "binspark.transactions.grammar",
    "binspark.wire.floats",
    "binspark.wire.meaning",
)
"""What kernels import of binspark, themselves or by way of others; a test compares this with the sources."""

_NAME_LENGTH = 16
_LOADED: list[Any] = []
"""The engines that own loaded code. It stays in memory as long as the process lives."""


@dataclass(frozen=True, slots=True)
class MachineCode:
    """A compiled function.

    symbol          its name in the object file
    result          none, bool, word or words
    result_words    how many words the result takes
    argument_words  how many words the arguments take
    data            the object file; empty if the function works only in the process that compiled it
    """

    symbol: str
    result: str
    result_words: int
    argument_words: int
    data: bytes


def find(name: str, form: tuple[str, ...]) -> MachineCode | None:
    """Return the code of a kernel for arguments of some types, None if it is not on disk, or cannot be relied on."""
    try:
        digest, _, rest = _read(_path(name, form)).partition(b"\n")
        if digest == _digest(name, form, rest):
            head, _, data = rest.partition(b"\n")
            return MachineCode(data=data, **json.loads(head))
    except (OSError, ValueError, TypeError):
        pass
    return None


def _read(path: Path) -> bytes:
    """Return a file that nobody else can have written."""
    with open(open_file(path, os.O_RDONLY), "rb") as file:
        reason = why_changeable(os.fstat(file.fileno()))
        if reason is None:
            return file.read()
    _warn_of_file(path, reason)
    raise PermissionError(reason)


def _warn_of_file(path: Path, reason: str) -> None:
    """Warn of the first file that is not loaded, and is compiled again."""
    if path.parent not in _WARNED:
        _WARNED.add(path.parent)
        message = f"compiled code is not loaded, and compiled again: {path} {reason}"
        warnings.warn(message, UnsafeCacheWarning, stacklevel=2)


_WARNED: set[Path] = set()


def keep(name: str, form: tuple[str, ...], code: MachineCode) -> None:
    """Write the code of a kernel to disk. A folder that cannot be written to is not an error: nothing is kept then."""
    if not code.data:
        return
    fields = {"symbol": code.symbol, "result": code.result, "result_words": code.result_words}
    head = json.dumps(fields | {"argument_words": code.argument_words}).encode()
    rest = head + b"\n" + code.data
    with suppress(OSError):
        create_folder(kernel_folder(), READABLE_FOLDER)
        content = _digest(name, form, rest) + b"\n" + rest
        replace_file(_path(name, form), content, mode=READABLE_FILE, unfinished=f".{os.getpid()}")


def _digest(name: str, form: tuple[str, ...], rest: bytes) -> bytes:
    """Return a digest of a file, and of the kernel that it is for."""
    return hashlib.sha256(f"{name}({','.join(form)})\n".encode() + rest).hexdigest().encode()


def is_kept(name: str) -> bool:
    """Return whether a kernel is on disk, for arguments of any types."""
    return any(kernel_folder().glob(f"{name}(*).o"))


def load(code: MachineCode) -> int:
    """Load code into memory and return its address."""
    from llvmlite import binding

    _initialize()
    machine = binding.Target.from_default_triple().create_target_machine(codemodel="jitdefault", jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code.data))
    engine.finalize_object()
    _LOADED.append(engine)
    return int(engine.get_function_address(code.symbol))


def can_be_loaded(undefined: Iterable[str]) -> bool:
    """Return whether code that uses these functions of others can be loaded without Numba."""
    from llvmlite import binding

    _initialize()
    return all(binding.address_of_symbol(name) for name in undefined)


@cache
def _initialize() -> None:
    """Prepare LLVM, and provide what code of Numba may refer to, but never calls: kernels own no memory."""
    from llvmlite import binding

    with suppress(RuntimeError):  # later versions need not be initialized, and say so
        binding.initialize()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    if not binding.address_of_symbol(_DESTRUCTOR):
        abort = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value
        binding.add_symbol(_DESTRUCTOR, abort)


_DESTRUCTOR = "NRT_MemInfo_call_dtor"


def _path(name: str, form: tuple[str, ...]) -> Path:
    return kernel_folder() / f"{name}({','.join(form)}).o"


def kernel_folder() -> Path:
    """Return the folder of compiled kernels: below `NUMBA_CACHE_DIR` if that is set, or below the cache folder.

    One that others can write to is not used: kernels are compiled for the next one.
    """
    return _folder(_compiler(), os.environ.get("NUMBA_CACHE_DIR", ""))


@cache
def _folder(compiler: str, parent: str) -> Path:
    below = Path("kernels", folder_name(compiler, _sources()))
    if parent:
        folder = (Path(parent) / below).resolve()  # who can replace a link can do so after it was checked
        with suppress(OSError):
            create_folder(folder, READABLE_FOLDER)
        if is_safe(folder):
            return folder
    return (writable_cache_folder() / below).resolve()


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
    from llvmlite import binding

    versions = (*map(_version_file, _COMPILERS), sys.implementation.cache_tag)
    return " ".join((*versions, binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()))


_COMPILERS = {"numba": "_version.py", "llvmlite": "_version.py", "numpy": "version.py"}


def _version_file(package: str) -> str:
    """Return the file with the version of a package. Importing `importlib.metadata` takes longer than a kernel."""
    found = find_spec(package)
    try:
        reader: Any = found.loader if found else None
        path = Path(((found and found.submodule_search_locations) or [""])[0]) / _COMPILERS[package]
        return bytes(reader.get_data(str(path))).decode()
    except (OSError, AttributeError):  # it is installed in an unusual way
        from importlib.metadata import version

        return version(package)
