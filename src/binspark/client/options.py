"""Where the server is and who asks: values only. `binspark.client.gather` makes them out of what a user gives."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from binspark.errors import OptionError

DEFAULT_PORT = 3306
DEFAULT_CONNECT_SECONDS = 10.0

_ADDRESS = re.compile(r"(?:\[([0-9a-fA-F:.%a-z]+)\]|([^\[\]:/\s,]+))(?::(\d{1,5}))?")


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
            raise OptionError(f"host: {text!r} is not a host, host:port or [IPv6 address]:port")
        bracketed, plain, port = match.groups()
        return cls(bracketed or plain, checked_port(port) if port else default_port)

    def __str__(self) -> str:
        if self.socket is not None:
            return self.socket
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class TlsMode(StrEnum):
    """How a connection is protected, under the names of MySQL's clients.

    DISABLED         never encrypted
    PREFERRED        encrypted if the server can; nothing is checked
    REQUIRED         encrypted, or no connection; nothing is checked
    VERIFY_CA        encrypted, and the server's certificate is of a known authority
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
    """How a connection is protected: the mode, the authorities, and a certificate of one's own, all in PEM files.

    Without `ca` the authorities are those that this machine trusts.
    """

    mode: TlsMode = TlsMode.PREFERRED
    ca: str | None = None
    cert: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """How to reach a server, or one of several that hold the same data.

    The password is never shown. It travels when the options are pickled, because the process at the other end is to
    connect with it.
    """

    addresses: tuple[Address, ...]
    user: str
    password: str = field(default="", repr=False)
    tls: Tls = Tls()
    connect_seconds: float = DEFAULT_CONNECT_SECONDS

    def __post_init__(self) -> None:
        if not self.addresses:
            raise OptionError("host: none is given")
        if not self.connect_seconds > 0:
            raise OptionError(f"connect_seconds: {self.connect_seconds} is not a time to wait")

    def only(self, address: Address) -> ConnectionOptions:
        """Return the same options for one of the servers."""
        return replace(self, addresses=(address,))


def checked_port(text: str | int) -> int:
    """Return a port number, or say what is wrong with it."""
    port = int(text) if str(text).isdecimal() else 0
    if not 1 <= port <= 65535:
        raise OptionError(f"port: {text!r} is not a number from 1 to 65535")
    return port
