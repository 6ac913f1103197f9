"""A server as a URL: `mysql://user:password@host:port`, for commands that name more than one server."""

from __future__ import annotations

import re
from urllib.parse import unquote

from binspark.errors import OptionError
from binspark.options.server import ServerArguments

_URL = re.compile(r"(?:mysql|mariadb)://(?:([^@/:]*)(?::([^@/]*))?@)?([^@/?#]*)(/[^?#]*)?", re.IGNORECASE)
_EXPECTED = "mysql://[USER[:PASSWORD]@]HOST[:PORT] or mysql://[USER[:PASSWORD]@]/PATH/OF/SOCKET"


def is_server_url(text: str) -> bool:
    """Return whether a text names a server: one that begins with mysql:// or mariadb://."""
    return text.lower().startswith(("mysql://", "mariadb://"))


def url_arguments(url: str) -> ServerArguments:
    """Return what a URL says of a connection, as the arguments of `connection_config`.

    >>> url_arguments("mysql://repl@db1:3307")
    {'user': 'repl', 'host': 'db1:3307'}
    >>> url_arguments("mariadb:///run/mysqld/mysqld.sock")
    {'socket': '/run/mysqld/mysqld.sock'}
    """
    match = _URL.fullmatch(url)
    user, password, host, path = match.groups() if match else (None, None, None, None)
    socket = path if path != "/" else None
    if not host and not socket:
        raise OptionError(f"must be {_EXPECTED}, got {_without_password(url)!r}")
    if host and socket:
        raise OptionError(f"names a host and a socket ({_without_password(url)!r}), expected one of them")
    arguments = ServerArguments()
    if user:
        arguments["user"] = unquote(user)
    if password is not None:
        arguments["password"] = unquote(password)
    if host:
        arguments["host"] = host
    if socket:
        arguments["socket"] = unquote(socket)
    return arguments


def _without_password(url: str) -> str:
    return re.sub(r"//([^@/:]*):[^@/]*@", r"//\1:…@", url)
