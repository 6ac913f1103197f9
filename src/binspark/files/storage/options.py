"""Options into arguments of pyarrow's file systems. What they do not tell, a URI or the environment may."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from binspark.files.storage import Option

Options = dict[str, Any]

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ANY_REGION = "us-east-1"
_TRUTH = {"true": True, "false": False}
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
URI_OPTIONS = ("retry_limit_seconds",)
"""Options that are named otherwise in a URI than in an argument."""


def values(options: Mapping[str, Option]) -> Options:
    """Return options that may be texts, as they are where they come from Spark, as what they mean."""
    return {name: _value(name, option) for name, option in options.items()}


def _value(name: str, option: Option) -> Option:
    if not isinstance(option, str):
        return option
    if option.lower() in _TRUTH:
        return _TRUTH[option.lower()]
    try:
        return _NUMBERS.get(name, str)(option)
    except ValueError:
        raise ValueError(f"{name} must be a number") from None


def s3_options(host: str, user: str, options: Options) -> Options:
    """Return the arguments of `S3FileSystem`.

    Without a region, Amazon is asked for that of the bucket. Another store has the one that the environment names, or
    any: nobody is asked then.
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


def gcs_options(host: str, user: str, options: Options) -> Options:  # noqa: ARG001 (all take the same)
    """Return the arguments of `GcsFileSystem`; `anonymous@` before the bucket is one of them."""
    seconds = options.pop("retry_limit_seconds", _RETRY_SECONDS)
    defaults = {"retry_time_limit": timedelta(seconds=seconds), "anonymous": host.startswith("anonymous@")}
    return {**defaults, **options}


def azure_options(host: str, user: str, options: Options) -> Options:
    """Return the arguments of `AzureFileSystem`: the account is named by the host, or before it."""
    before, _, address = f"{user}@{host}".rpartition("@")
    name, _, key = before.strip("@").partition(":")
    account = address.partition(".")[0] if address.endswith(".core.windows.net") else name
    from_uri = {"account_name": unquote(account), "account_key": unquote(key)}
    return {**{option: value for option, value in from_uri.items() if value}, **options}


def hadoop_options(host: str, user: str, options: Options) -> Options:  # noqa: ARG001 (all take the same)
    """Return the arguments of `HadoopFileSystem`."""
    name, _, address = host.rpartition("@")
    machine, _, port = address.partition(":")
    from_uri = {"host": machine or "default", "port": int(port or 0), "user": name}
    return {**{option: value for option, value in from_uri.items() if value != ""}, **options}


def viewfs_options(host: str, user: str, options: Options) -> Options:
    """Return the arguments of `HadoopFileSystem` for a view, which has a name instead of a port."""
    arguments = hadoop_options(host, user, options)
    return {**arguments, "host": f"viewfs://{arguments['host']}", "port": 0}
