"""Names of logs that are URIs: `s3://bucket/logs/binlog.000001`. Everything else is a local path."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

from binspark.errors import OptionError
from binspark.position import Position

# One letter is a drive, not a scheme.
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/]*)(.*)", re.DOTALL)
# A question mark without a name and a value behind it stands for a letter.
_QUERY = re.compile(r"\?(\w[\w.-]*=.*)$", re.DOTALL)
_LOCAL_HOSTS = ("", "localhost")
_NEVER_NAMED = frozenset({"s3", "s3a", "s3n"})


class Uri(NamedTuple):
    """The parts of a URI. The path is as the store calls it: nothing in it is quoted."""

    scheme: str
    host: str
    path: str

    @property
    def is_local(self) -> bool:
        return self.scheme == "file"

    def local_path(self) -> str:
        """Return the path of a `file://` URI, in which letters may be quoted."""
        if self.host not in _LOCAL_HOSTS:
            raise OptionError(f"file://{self.host} is another host; a local file is file:///path", Position())
        return unquote(self.path)


class HiddenParts(NamedTuple):
    """A name as it may be shown, and what was taken out of it."""

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


def hide(name: str) -> HiddenParts:
    """Take user and query out of a URI: they hold secrets, and they are not part of the name of a log.

    A user without a password is none where it names a part of the store (`abfs://container@account`).
    """
    uri = _URI.match(name)
    if uri is None or uri[1].lower() == "file":
        return HiddenParts(name, "", "")
    rest, query = uri[2] + uri[3], ""
    if found := _QUERY.search(rest):
        rest, query = rest[: found.start()], found[1]
    host, slash, path = rest.partition("/")
    user, at, bare_host = host.rpartition("@")
    if at and (":" in user or uri[1].lower() in _NEVER_NAMED):
        host = bare_host
    else:
        user = ""
    return HiddenParts(f"{uri[1]}://{host}{slash}{path}", user, query)
