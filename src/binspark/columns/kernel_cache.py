"""Where compiled kernels are kept, and the files that Numba compiles them from.

Numba notices a change of the file that a kernel stands in, but not of the files that it uses. So compiled kernels are
kept in a folder that is named after the text of all of them. It keeps only kernels that stand in files: where binspark
is imported from an archive (Spark's `--py-files`), the texts are written to that folder first, so that every program on
a machine finds what one of them compiled.
"""

from __future__ import annotations

import hashlib
import os
import pkgutil
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_PACKAGE = "binspark.columns.kernels"
_USED = (
    ("binspark.columns", "layout.py"),
    ("binspark.columns", "packet_layout.py"),
    ("binspark.frames", "codes.py"),
    ("binspark.transactions", "grammar.py"),
    ("binspark.transactions", "byte_tables.py"),
)
_WRITTEN = "sources"
_DIGITS = 16


def kernel_sources(package_path: Iterable[str]) -> dict[str, bytes]:
    """Return the texts of all kernels by the names of their files, wherever they are imported from."""
    names = ["__init__", *(module.name for module in pkgutil.iter_modules(package_path))]
    return {f"{name}.py": _text(_PACKAGE, f"{name}.py") for name in sorted(names)}


def cache_folder(sources: Mapping[str, bytes], compiler_version: str) -> Path:
    """Return the folder for kernels with these texts."""
    digest = hashlib.sha256(compiler_version.encode())
    for text in (*sources.values(), *(_text(package, name) for package, name in _USED)):
        digest.update(text)
    return _base() / "kernels" / digest.hexdigest()[:_DIGITS]


def written_sources(sources: Mapping[str, bytes], cache: Path) -> Path:
    """Return a folder that holds the texts as files. Whoever comes first writes it, whole or not at all."""
    folder = cache / _WRITTEN
    if folder.exists():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=_WRITTEN, dir=cache))
    for name, text in sources.items():
        (made / name).write_bytes(text)
    try:
        made.rename(folder)
    except OSError:
        shutil.rmtree(made)
        if not folder.exists():
            raise
    return folder


def _text(package: str, name: str) -> bytes:
    found = pkgutil.get_data(package, name)
    assert found is not None
    return found


def _base() -> Path:
    """Return the first folder that can be written to. A container may have no home, or one that is read-only."""
    for folder in _wished():
        if _is_writable(folder):
            return folder
    shared = Path(tempfile.gettempdir()) / f"binspark-{os.getuid()}"
    return shared if _is_private(shared) else Path(tempfile.mkdtemp(prefix="binspark-"))


def _wished() -> Iterator[Path]:
    named = os.environ.get("BINSPARK_CACHE")
    if named:
        yield Path(named)
    try:
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "binspark"
    except RuntimeError:  # nobody knows this user's home
        return


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _is_private(folder: Path) -> bool:
    """Tell whether a folder where everybody may write is ours alone: what is compiled in it is run."""
    try:
        folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) == stat.S_IRWXU
