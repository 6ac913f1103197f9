"""Where a server is and who connects: from arguments, an option file, the environment, a prompt, in this order."""

from __future__ import annotations

import getpass
import ipaddress
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Unpack

from binspark.errors import OptionError
from binspark.options.server import ServerArguments
from binspark.server.option_files import Options, file_options, is_on

DEFAULT_PORT = 3306
DEFAULT_CONNECT_TIMEOUT = 10.0
_MAX_PORT = 65535

_ADDRESS = re.compile(r"(?:\[([0-9a-fA-F:.%a-z]+)\]|([^\[\]:/\s,]+))(?::(\d{1,5}))?")


# --- Values -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Address:
    """A server's host and port, or its socket. `str` is how people write it."""

    host: str
    port: int = DEFAULT_PORT
    socket: str | None = None

    @classmethod
    def parse(cls, text: str, default_port: int = DEFAULT_PORT) -> Address:
        """Parse `host`, `host:port` or `[IPv6]:port`."""
        match = _ADDRESS.fullmatch(text.strip())
        if not match:
            raise OptionError(f"must be host, host:port or [IPv6 address]:port, got {text!r}", option="host")
        bracketed, plain, port = match.groups()
        return cls(bracketed or plain, _checked_port(port) if port else default_port)

    def __str__(self) -> str:
        if self.socket is not None:
            return self.socket
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def is_loopback(address: str) -> bool:
    """Return whether an address is of this machine alone."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address == "localhost"
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed).is_loopback


class TlsMode(StrEnum):
    """How a connection is protected, under the names of MySQL's clients.

    DISABLED         never encrypted
    PREFERRED        encrypted if the server can, else not; nothing is verified
    REQUIRED         encrypted, or no connection; nothing is verified
    VERIFY_CA        encrypted, and a known authority has signed the server's certificate
    VERIFY_IDENTITY  the same, and the certificate names the host
    """

    DISABLED = "disabled"
    PREFERRED = "preferred"
    REQUIRED = "required"
    VERIFY_CA = "verify_ca"
    VERIFY_IDENTITY = "verify_identity"

    @property
    def verifies(self) -> bool:
        """Whether the server must prove who it is."""
        return self in (TlsMode.VERIFY_CA, TlsMode.VERIFY_IDENTITY)


@dataclass(frozen=True, slots=True)
class Tls:
    """How a connection is protected: the mode, the authorities, and a certificate for the client, all in PEM files.

    Without `ca` the authorities are those that this machine trusts.
    """

    mode: TlsMode = TlsMode.PREFERRED
    ca: str | None = None
    cert: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class PasswordRules:
    """How a server may get the password itself, under the names of MySQL's clients.

    get_server_public_key    without TLS, encrypted with the RSA key that the server sends
    server_public_key_path   without TLS, encrypted with the RSA key in this file
    enable_cleartext_plugin  in clear text if the server requests it, over TLS or a socket
    """

    get_server_public_key: bool = False
    server_public_key_path: str | None = None
    enable_cleartext_plugin: bool = False


@dataclass(frozen=True, slots=True)
class ConnectionConfig:
    """How to reach a server, or one of several that have the same data.

    The password is never shown. It is pickled with the rest, because the process that unpickles it is to connect.
    """

    addresses: tuple[Address, ...]
    user: str
    password: str = field(default="", repr=False)
    tls: Tls = Tls()
    connect_timeout: float = DEFAULT_CONNECT_TIMEOUT
    password_rules: PasswordRules = PasswordRules()

    def __post_init__(self) -> None:
        if not self.addresses:
            raise OptionError("must name at least one server", option="host")
        if not self.connect_timeout > 0:
            raise OptionError(f"must be positive, got {self.connect_timeout}", option="connect_timeout")

    def only(self, address: Address) -> ConnectionConfig:
        """Return the same for one of the servers."""
        return replace(self, addresses=(address,))


# --- Sources of values ------------------------------------------------------------------------------------------------

PASSWORD_VARIABLES = ("BINSPARK_PASSWORD", "MYSQL_PWD")

Prompt = Callable[[str], str]
"""Asks a person for a password; the argument is the question."""


def connection_config(
    *,
    environ: Mapping[str, str] = os.environ,
    prompt: Prompt | None = None,
    default_files: Sequence[str] = (),
    **given: Unpack[ServerArguments],
) -> ConnectionConfig:
    """Return how to reach a server.

    `host` is `host[:port]`, several of them with commas or in a list. What is not given comes from the groups [client]
    and [binspark] of `defaults_file`, under the names that MySQL's clients use; without one, of `default_files`. A
    password that is not there either comes from BINSPARK_PASSWORD or MYSQL_PWD, then from `prompt`.
    """
    defaults_file = given.get("defaults_file")
    file: Options = {}
    for path in default_files if defaults_file is None else (defaults_file,):
        file |= file_options(path)
    addresses = _addresses(given, file)
    user = given.get("user") or file.get("user") or _login_name()
    return ConnectionConfig(
        addresses,
        user,
        _password(given.get("password"), file, environ, prompt, f"Password of {user} at {addresses[0]}: "),
        _tls(given, file),
        given.get("connect_timeout") or _seconds(file.get("connect-timeout")),
        _password_rules(given, file),
    )


def _addresses(given: ServerArguments, file: Options) -> tuple[Address, ...]:
    hosts, socket = _listed(given.get("host")), given.get("socket")
    if hosts and socket:
        raise OptionError("host and socket cannot be combined")
    default_port = _checked_port(given.get("port") or file.get("port") or DEFAULT_PORT)
    if hosts == ["localhost"] and not given.get("port") and file.get("socket"):
        hosts, socket = [], file["socket"]  # as for MySQL's clients: localhost is the socket, if there is one
    if not hosts and not socket:
        socket, hosts = file.get("socket"), _listed(file.get("host"))
        if socket and hosts and hosts != ["localhost"]:
            socket = None  # as for MySQL's clients: a socket is for this machine
    if socket:
        return (Address("localhost", socket=os.path.expanduser(os.fspath(socket))),)
    return tuple(Address.parse(host, default_port) for host in hosts or ["localhost"])


def _checked_port(text: str | int) -> int:
    port = int(text) if str(text).isdecimal() else 0
    if not 1 <= port <= _MAX_PORT:
        raise OptionError(f"must be from 1 to {_MAX_PORT}, got {text!r}", option="port")
    return port


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


def _tls(given: ServerArguments, file: Options) -> Tls:
    mode = given.get("ssl_mode") or file.get("ssl-mode")
    ca = given.get("ssl_ca") or file.get("ssl-ca")
    cert = given.get("ssl_cert") or file.get("ssl-cert")
    key = given.get("ssl_key") or file.get("ssl-key")
    if (cert is None) != (key is None):
        raise OptionError("ssl_cert and ssl_key are given together, or neither")
    # MariaDB's clients, and old ones of MySQL, have a switch instead of the mode.
    default = TlsMode.VERIFY_IDENTITY if is_on(file, "ssl-verify-server-cert") else TlsMode.PREFERRED
    default = TlsMode.VERIFY_CA if ca and default is TlsMode.PREFERRED else default
    chosen = default if mode is None else _mode(str(mode))
    return Tls(chosen, *(os.path.expanduser(os.fspath(path)) if path else None for path in (ca, cert, key)))


def _password_rules(given: ServerArguments, file: Options) -> PasswordRules:
    key = given.get("server_public_key_path") or file.get("server-public-key-path")
    requests_key, sends_clear_text = given.get("get_server_public_key"), given.get("enable_cleartext_plugin")
    return PasswordRules(
        is_on(file, "get-server-public-key") if requests_key is None else requests_key,
        os.path.expanduser(os.fspath(key)) if key else None,
        is_on(file, "enable-cleartext-plugin") if sends_clear_text is None else sends_clear_text,
    )


def _mode(text: str) -> TlsMode:
    try:
        return TlsMode(text.lower())
    except ValueError:
        raise OptionError(f"must be one of {', '.join(TlsMode)}, got {text!r}", option="ssl_mode") from None


def _seconds(text: str | None) -> float:
    if not text:
        return DEFAULT_CONNECT_TIMEOUT
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"must be a number of seconds, got {text!r}", option="connect_timeout") from None


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        raise OptionError("must be given: this process has no login name", option="user") from None
