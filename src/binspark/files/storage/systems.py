"""File systems by scheme: pyarrow's where it knows the scheme, fsspec's for all others."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from binspark.errors import OptionError
from binspark.files.storage import Storage
from binspark.files.storage.options import (
    URI_OPTIONS,
    azure_options,
    gcs_options,
    hadoop_options,
    s3_options,
    values,
    viewfs_options,
)

Options = dict[str, Any]


class Maker(NamedTuple):
    """A class of pyarrow, and what makes its arguments of the host and the user of a URI and of options."""

    class_name: str
    arguments: Callable[[str, str, Options], Options]


_MAKERS = {
    "s3": Maker("S3FileSystem", s3_options),
    "gs": Maker("GcsFileSystem", gcs_options),
    "gcs": Maker("GcsFileSystem", gcs_options),
    "abfs": Maker("AzureFileSystem", azure_options),
    "abfss": Maker("AzureFileSystem", azure_options),
    "hdfs": Maker("HadoopFileSystem", hadoop_options),
    "viewfs": Maker("HadoopFileSystem", viewfs_options),
}
_ALIASES = {"s3a": "s3", "s3n": "s3"}
"""What Spark calls a store that pyarrow calls otherwise."""

_ARGUMENT = re.compile(r"(?<![=\w])([a-z]\w*)(?=[=,)])")
_GCS_RETRIES = "retry_limit_seconds=60"
"""How long a store of Google's is tried by default; pyarrow would try for a quarter of an hour."""


class System(NamedTuple):
    """A file system of pyarrow, where in it the paths of a URI begin, and what is added to each of them."""

    files: Any
    root: str
    suffix: str = ""

    def path(self, uri_path: str) -> str:
        """Return how the file system calls the path of a URI."""
        return ((self.root.rstrip("/") + uri_path).rstrip("/") or "/") + self.suffix


@lru_cache(maxsize=32)
def open_system(scheme: str, host: str, storage: Storage) -> System:
    """Return the file system that serves a host of a scheme. It is made once, and shared by all logs there."""
    scheme = _ALIASES.get(scheme, scheme)
    try:
        maker = _MAKERS.get(scheme)
        if maker is None or not _has(maker.class_name):
            return _with_fsspec(scheme, host, storage)
        return _with_options(maker, scheme, host, storage) if storage.options else _as_told(scheme, host, storage)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{scheme}: {storage.redact(str(error))}") from None


def _has(class_name: str) -> bool:
    """Tell whether this pyarrow was built with a file system; not all are, on all machines."""
    from pyarrow import fs

    try:
        return getattr(fs, class_name) is not None
    except ImportError:
        return False


def _as_told(scheme: str, host: str, storage: Storage) -> System:
    from pyarrow import fs

    if scheme in ("gs", "gcs") and "retry_limit_seconds" not in storage.query:
        storage = storage.with_uri("", "&".join(filter(None, (storage.query, _GCS_RETRIES))))
    return System(*fs.FileSystem.from_uri(_uri(scheme, host, storage)))


def _with_options(maker: Maker, scheme: str, host: str, storage: Storage) -> System:
    from pyarrow import fs

    file_system = getattr(fs, maker.class_name)
    options = values(storage.asked())
    _check_names(scheme, options, signature=file_system.__doc__.partition("\n")[0])
    files = file_system(**maker.arguments(host, storage.user, options))
    if maker.class_name == "HadoopFileSystem":
        return System(files, "/")
    if maker.class_name == "AzureFileSystem":
        return System(files, fs.FileSystem.from_uri(f"{scheme}://{host}/")[1])
    return System(files, host.rpartition("@")[2])


def _check_names(scheme: str, options: Options, signature: str) -> None:
    """Refuse an option that a file system does not take, before it is asked for anything."""
    known = {*_ARGUMENT.findall(signature), *URI_OPTIONS}
    unknown = sorted(options.keys() - known) if "(" in signature else []
    for name in unknown:
        near = difflib.get_close_matches(name, known, n=1)
        raise OptionError(f"{scheme}:// takes no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _with_fsspec(scheme: str, host: str, storage: Storage) -> System:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise OptionError(f"{scheme}:// needs fsspec, which is not installed: pip install fsspec") from None
    from pyarrow import fs

    address = _uri(scheme, host, Storage(user=storage.user))
    try:
        files, root = url_to_fs(address, **values(dict(storage.options)))
    except ImportError as error:
        raise OptionError(f"{scheme}:// needs a package that is not installed: {error}") from None
    suffix = f"?{storage.query}" if storage.query else ""
    return System(fs.PyFileSystem(fs.FSSpecHandler(files)), root, suffix)


def _uri(scheme: str, host: str, storage: Storage) -> str:
    user = f"{quote(storage.user, safe=':%')}@" if storage.user else ""
    query = f"?{storage.query}" if storage.query else ""
    return f"{scheme}://{user}{host}/{query}"
