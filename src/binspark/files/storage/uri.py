"""Names of logs that are URIs: `s3://bucket/logs/binlog.000001`. Everything else is a local path."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from binspark.errors import OptionError

# One letter is a drive, not a scheme. Two colons chain fsspec's file systems: `simplecache::memory://`.
_URI = re.compile(r"((?:[A-Za-z][\w+.-]*::)*[A-Za-z][A-Za-z0-9+.-]+)://([^/]*)(.*)", re.DOTALL)
# A question mark that no `name=value` follows is part of a glob.
_QUERY = re.compile(r"\?(\w[\w.-]*=.*)$", re.DOTALL)
_LOCAL_HOSTS = ("", "localhost")
_S3 = frozenset({"s3", "s3a", "s3n"})
# A secret key of S3 may contain slashes. No bucket name contains a colon.
_S3_USER = re.compile(r"([^/@:]+(?::[^@]*)?)@")
_USER = re.compile(r"([^/@]*:[^/@]*)@")


class Uri(NamedTuple):
    """The parts of a URI. The path is not percent-encoded."""

    scheme: str
    host: str
    path: str

    @property
    def is_local(self) -> bool:
        """Whether this is a `file://` URI."""
        return self.scheme == "file"

    def local_path(self) -> str:
        """Return the path of a `file://` URI, percent-decoded."""
        if self.host not in _LOCAL_HOSTS:
            raise OptionError(f"file://{self.host} is a file on another host; write a local file as file:///path")
        return unquote(self.path)


class HiddenParts(NamedTuple):
    """A name that can be shown, and the credentials that were taken out of it."""

    name: str
    user: str
    query: str


def parse_uri(name: str) -> Uri | None:
    """Return the parts of a URI, None for a local path."""
    match = _URI.match(name)
    return Uri(match[1].lower(), match[2], match[3]) if match else None


def local_uri(path: str) -> str:
    """Return the `file://` URI of a local path."""
    return f"file://{quote(path)}"


def child_uri(directory: str, base_name: str) -> str:
    """Return the URI of a file in a directory, which may end in a slash or be the root of a host."""
    uri = parse_uri(directory)
    path = uri.path if uri else directory
    return f"{directory.removesuffix(path)}{path.rstrip('/')}/{base_name}"


def hide_credentials(name: str) -> HiddenParts:
    """Take user and query out of a URI: they may be secrets, and they are not part of the name of a log.

    A user without a password stays: it may be a part of the storage, as in `abfs://container@account`.
    """
    uri = _URI.match(name)
    if uri is None or uri[1].lower() == "file":
        return HiddenParts(name, "", "")
    scheme, rest, user, query = uri[1], uri[2] + uri[3], "", ""
    if found := _QUERY.search(rest):
        rest, query = rest[: found.start()], found[1]
    if found := (_S3_USER if scheme.lower() in _S3 else _USER).match(rest):
        rest, user = rest[found.end() :], found[1]
    return HiddenParts(f"{scheme}://{rest}", user, query)
