"""Connection options out of arguments, an option file, the environment, a prompt: the first to say something counts."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from binspark.client.option_file import Options, read_option_file
from binspark.client.options import DEFAULT_CONNECT_SECONDS, DEFAULT_PORT, Address, ConnectionOptions, Tls, TlsMode
from binspark.client.options import checked_port as _port
from binspark.errors import OptionError
from binspark.position import Position

GROUPS = ("client", "binspark")
"""The groups of an option file that are read; the later one wins."""

PASSWORD_VARIABLES = ("BINSPARK_PASSWORD", "MYSQL_PWD")

KNOWN_OPTIONS = frozenset(
    {"host", "port", "user", "password", "socket", "ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "connect-timeout"}
)

Prompt = Callable[[str], str]
"""Asks a person for a password; is given the question."""


def connection_options(
    *,
    hosts: str | Iterable[str] | None = None,
    port: int | None = None,
    user: str | None = None,
    password: str | None = None,
    socket: str | None = None,
    tls_mode: TlsMode | str | None = None,
    tls_ca: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    connect_seconds: float | None = None,
    defaults_file: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] = os.environ,
    prompt: Prompt | None = None,
) -> ConnectionOptions:
    """Return the options of a connection.

    `hosts` is `host[:port]`, several of them with commas or in a list. What is not given comes from the groups [client]
    and [binspark] of `defaults_file`, under the names that MySQL's clients use. A password that is not there either
    comes from BINSPARK_PASSWORD or MYSQL_PWD, then from `prompt`.
    """
    file = _file_options(defaults_file)
    addresses = _addresses(hosts, port, socket, file)
    chosen_user = user or file.get("user") or _login_name()
    return ConnectionOptions(
        addresses,
        chosen_user,
        _password(password, file, environ, prompt, f"Password of {chosen_user} at {addresses[0]}: "),
        _tls(
            tls_mode or file.get("ssl-mode"),
            tls_ca or file.get("ssl-ca"),
            tls_cert or file.get("ssl-cert"),
            tls_key or file.get("ssl-key"),
        ),
        connect_seconds or _seconds(file.get("connect-timeout")),
    )


def _file_options(path: str | os.PathLike[str] | None) -> Options:
    if path is None:
        return {}
    groups = read_option_file(path, GROUPS)
    for name in groups["binspark"]:
        if name not in KNOWN_OPTIONS:
            near = get_close_matches(name, KNOWN_OPTIONS, 1)
            hint = f"; is it {near[0]}?" if near else ""
            raise OptionError(f"[binspark] has no option {name}{hint}", Position(file=str(path)))
    return groups["client"] | groups["binspark"]


def _addresses(
    hosts: str | Iterable[str] | None, port: int | None, socket: str | None, file: Options
) -> tuple[Address, ...]:
    if hosts and socket:
        raise OptionError("either hosts or a socket, not both")
    default_port = _port(port or file.get("port") or DEFAULT_PORT)
    listed = _listed(hosts)
    if not listed and not socket:
        socket, listed = file.get("socket"), _listed(file.get("host"))
        if socket and listed and listed != ["localhost"]:
            socket = None  # as for MySQL's clients: a socket is for this machine
    if socket:
        return (Address("localhost", socket=os.path.expanduser(socket)),)
    return tuple(Address.parse(host, default_port) for host in listed or ["localhost"])


def _listed(hosts: str | Iterable[str] | None) -> list[str]:
    texts = hosts.split(",") if isinstance(hosts, str) else list(hosts or ())
    return [text.strip() for text in texts if text.strip()]


def _password(
    given: str | None, file: Options, environ: Mapping[str, str], prompt: Prompt | None, question: str
) -> str:
    if given is not None:
        return given
    in_file = file.get("password")
    if in_file is not None:
        return in_file
    in_environment = next((environ[name] for name in PASSWORD_VARIABLES if name in environ), None)
    if in_environment is not None:
        return in_environment
    return "" if prompt is None else prompt(question)


def _tls(mode: TlsMode | str | None, ca: str | None, cert: str | None, key: str | None) -> Tls:
    if (cert is None) != (key is None):
        raise OptionError("a certificate and its key are given together, or neither")
    default = TlsMode.VERIFY_CA if ca else TlsMode.PREFERRED
    chosen = default if mode is None else _mode(str(mode))
    return Tls(chosen, *(os.path.expanduser(path) if path else None for path in (ca, cert, key)))


def _mode(text: str) -> TlsMode:
    try:
        return TlsMode(text.lower())
    except ValueError:
        raise OptionError(f"tls_mode: {text!r} is none of {', '.join(TlsMode)}") from None


def _seconds(text: str | None) -> float:
    if not text:
        return DEFAULT_CONNECT_SECONDS
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"connect-timeout: {text!r} is not a number of seconds") from None


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        raise OptionError("user: none is given, and this process has no login name") from None
