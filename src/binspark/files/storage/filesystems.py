"""pyarrow's file systems by scheme, made from a URI, options and the environment; fsspec's for other schemes."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from binspark.errors import OptionError
from binspark.files.storage.options import Option, Storage
from binspark.options.option import suggestion

Options = dict[str, Any]

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ANY_REGION = "us-east-1"
_BOOLEANS = {"true": True, "false": False}
_NUMBERS: Mapping[str, type[int] | type[float]] = {
    "request_timeout": float,
    "connect_timeout": float,
    "load_frequency": int,
    "port": int,
    "replication": int,
    "buffer_size": int,
    "default_block_size": int,
    "retry_limit_seconds": float,
}
_RETRY_SECONDS = 60
# Options that have another name in a URI than as an argument of pyarrow.
_URI_OPTIONS = ("retry_limit_seconds",)


def typed_options(options: Mapping[str, Option]) -> Options:
    """Return options with text converted to booleans and numbers; options that come from Spark are all text."""
    return {name: _value(name, option) for name, option in options.items()}


def _value(name: str, option: Option) -> Option:
    if not isinstance(option, str):
        return option
    if option.lower() in _BOOLEANS:
        return _BOOLEANS[option.lower()]
    try:
        return _NUMBERS.get(name, str)(option)
    except ValueError:
        raise ValueError(f"{name} must be a number, got {option!r}") from None


def s3_arguments(host: str, user: str, options: Options) -> Options:
    """Return the arguments of `S3FileSystem`.

    Without a region, S3 is asked for the region of the bucket. Other stores with this protocol cannot be asked: they
    get the region from the environment, or any.
    """
    if user:
        key, _, secret = user.partition(":")
        options = {"access_key": unquote(key), "secret_key": unquote(secret), **options}
    if endpoint := _environment(_ENDPOINTS):
        options = {"endpoint_override": endpoint, **options}
    if "region" in options:
        return options
    if "endpoint_override" in options:
        return {"region": _environment(_REGIONS) or _ANY_REGION, **options}
    from pyarrow.fs import resolve_s3_region

    return {"region": resolve_s3_region(host), **options}


def _environment(names: tuple[str, ...]) -> str | None:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def gcs_arguments(host: str, user: str, options: Options) -> Options:  # noqa: ARG001 (one signature for all)
    """Return the arguments of `GcsFileSystem`; `anonymous@` before the bucket sets `anonymous`."""
    seconds = options.pop("retry_limit_seconds", _RETRY_SECONDS)
    defaults = {"retry_time_limit": timedelta(seconds=seconds), "anonymous": host.startswith("anonymous@")}
    return {**defaults, **options}


def azure_arguments(host: str, user: str, options: Options) -> Options:
    """Return the arguments of `AzureFileSystem`: the account is in the host name, or before it."""
    before, _, address = f"{user}@{host}".rpartition("@")
    name, _, key = before.strip("@").partition(":")
    account = address.partition(".")[0] if address.endswith(".core.windows.net") else name
    from_uri = {"account_name": unquote(account), "account_key": unquote(key)}
    return {**{option: value for option, value in from_uri.items() if value}, **options}


def hadoop_arguments(host: str, user: str, options: Options) -> Options:  # noqa: ARG001 (one signature for all)
    """Return the arguments of `HadoopFileSystem`."""
    name, _, address = host.rpartition("@")
    machine, _, port = address.partition(":")
    from_uri = {"host": machine or "default", "port": int(port or 0), "user": name}
    return {**{option: value for option, value in from_uri.items() if value != ""}, **options}


def viewfs_arguments(host: str, user: str, options: Options) -> Options:
    """Return the arguments of `HadoopFileSystem` for ViewFs, which has the name of a mount table instead of a port."""
    arguments = hadoop_arguments(host, user, options)
    return {**arguments, "host": f"viewfs://{arguments['host']}", "port": 0}


class _Maker(NamedTuple):
    """A file system class of pyarrow, and the function that makes its arguments from host, user and options."""

    class_name: str
    arguments: Callable[[str, str, Options], Options]


_MAKERS = {
    "s3": _Maker("S3FileSystem", s3_arguments),
    "gs": _Maker("GcsFileSystem", gcs_arguments),
    "gcs": _Maker("GcsFileSystem", gcs_arguments),
    "abfs": _Maker("AzureFileSystem", azure_arguments),
    "abfss": _Maker("AzureFileSystem", azure_arguments),
    "hdfs": _Maker("HadoopFileSystem", hadoop_arguments),
    "viewfs": _Maker("HadoopFileSystem", viewfs_arguments),
}
# Hadoop's and Spark's names for schemes that pyarrow knows by another name.
_ALIASES = {"s3a": "s3", "s3n": "s3"}

_ARGUMENT = re.compile(r"(?<![=\w])([a-z]\w*)(?=[=,)])")
# pyarrow's own default for Google Cloud Storage is to retry for 15 minutes.
_GCS_RETRIES = f"retry_limit_seconds={_RETRY_SECONDS}"
_UNKNOWN_TO_FSSPEC = "Protocol not known"


class System(NamedTuple):
    """A file system of pyarrow, and how the path of a URI becomes a path in it: after `root`, before `suffix`."""

    files: Any
    root: str
    suffix: str = ""

    @property
    def fresh_files(self) -> Any:
        """The file system without the directory listings that fsspec caches: they may be outdated."""
        if handler := getattr(self.files, "handler", None):
            handler.fs.invalidate_cache()
        return self.files

    def path(self, uri_path: str) -> str:
        """Return the path in the file system for the path of a URI."""
        return ((self.root.rstrip("/") + uri_path).rstrip("/") or "/") + self.suffix


@lru_cache(maxsize=32)
def open_system(scheme: str, host: str, storage: Storage) -> System:
    """Return the file system for a scheme and host. It is made once and shared by all logs there."""
    scheme = _ALIASES.get(scheme, scheme)
    try:
        maker = _MAKERS.get(scheme)
        if maker is None or not _has(maker.class_name):
            return _with_fsspec(scheme, host, storage)
        return _with_options(maker, scheme, host, storage) if storage.options else _from_uri(scheme, host, storage)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{scheme}: {storage.redact(str(error))}") from None


def _has(class_name: str) -> bool:
    """Return whether this build of pyarrow has a file system: not every platform has all of them."""
    from pyarrow import fs

    try:
        return getattr(fs, class_name) is not None
    except ImportError:
        return False


def _from_uri(scheme: str, host: str, storage: Storage) -> System:
    from pyarrow import fs

    if scheme in ("gs", "gcs") and "retry_limit_seconds" not in storage.query:
        storage = storage.with_uri("", "&".join(filter(None, (storage.query, _GCS_RETRIES))))
    return System(*fs.FileSystem.from_uri(_uri(scheme, host, storage)))


def _with_options(maker: _Maker, scheme: str, host: str, storage: Storage) -> System:
    from pyarrow import fs

    file_system = getattr(fs, maker.class_name)
    options = typed_options(storage.all_options())
    _check_names(scheme, options, signature=file_system.__doc__.partition("\n")[0])
    files = file_system(**maker.arguments(host, storage.user, options))
    if maker.class_name == "HadoopFileSystem":
        return System(files, "/")
    if maker.class_name == "AzureFileSystem":
        return System(files, fs.FileSystem.from_uri(f"{scheme}://{host}/")[1])
    return System(files, host.rpartition("@")[2])


def _check_names(scheme: str, options: Options, signature: str) -> None:
    """Refuse an option that the file system does not have, before anything is requested from it."""
    known = {*_ARGUMENT.findall(signature), *_URI_OPTIONS}
    unknown = sorted(options.keys() - known) if "(" in signature else []
    for name in unknown:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; its options are {', '.join(sorted(known))}"
        raise OptionError(f"{scheme}:// has no option {name!r}{hint}")


def _with_fsspec(scheme: str, host: str, storage: Storage) -> System:
    try:
        from fsspec import available_protocols
        from fsspec.core import url_to_fs
    except ImportError:
        raise OptionError(f"{scheme}:// requires fsspec: pip install fsspec") from None
    from pyarrow import fs

    address = _uri(scheme, host, Storage(user=storage.user))
    try:
        files, root = url_to_fs(address, **typed_options(dict(storage.options)))
    except ImportError as error:
        raise OptionError(f"{scheme}:// requires a package that is not installed: {error}") from None
    except ValueError as error:
        if not str(error).startswith(_UNKNOWN_TO_FSSPEC):
            raise
        hint = suggestion(scheme, {*available_protocols(), *_MAKERS, *_ALIASES})
        raise OptionError(f"neither pyarrow nor fsspec has a file system for {scheme}://{hint}") from None
    suffix = f"?{storage.query}" if storage.query else ""
    return System(fs.PyFileSystem(fs.FSSpecHandler(files)), root, suffix)


def _uri(scheme: str, host: str, storage: Storage) -> str:
    user = f"{quote(storage.user, safe=':%')}@" if storage.user else ""
    query = f"?{storage.query}" if storage.query else ""
    return f"{scheme}://{user}{host}/{query}"
