"""PyMySQL's connection, as careful with a password as MySQL's own clients: see docs/security.md and ADR 55.

A server asks a client how to log in, and whoever answers on a port may be no server. PyMySQL does what it is asked: it
requests a key and encrypts the password with any, sends the password in clear text, and waits without an end. This
class has a list of safe logins; all others are refused before anything is sent.

This module uses what PyMySQL does not offer publicly: its steps of a login (`_get_server_information`,
`_get_auth_plugin_handler`), its reading and writing (`_read_bytes`, `_write_bytes`, `_read_packet`), whether others can
read the connection (`_secure`), and its arithmetic of passwords (`pymysql._auth`).
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pymysql.connections import Connection

from binspark.errors import Authentication, ConnectionLost, OptionError, Server
from binspark.os_errors import describe_os_error
from binspark.position import Position
from binspark.server.config import ConnectionConfig, PasswordRules, is_loopback

NATIVE, CACHING_SHA2, SHA256 = "mysql_native_password", "caching_sha2_password", "sha256_password"
CLEAR_TEXT, ED25519 = "mysql_clear_password", "client_ed25519"

_auth: Any = import_module("pymysql._auth")
_NONCE_LENGTH = 20
_NATIVE_WITHOUT_NAME = ""
_FAST_LOGIN, _FULL_LOGIN = 3, 4
_KEY_REQUESTS = {CACHING_SHA2: b"\x02", SHA256: b"\x01"}
_MAX_LOGIN_BYTES = 1 << 16
_MAX_RESULT_BYTES = 1 << 30
_READ_COST = 256
"""What counts for a read besides its bytes: a row of nothing takes memory, too. A packet takes two reads."""

_UNKNOWN_TIMEOUT = -1.0

_warned: set[str] = set()

log = logging.getLogger("binspark.server")


class Session(Connection):  # type: ignore[misc]
    """PyMySQL's connection with a list of safe logins, one time limit for the login, and a limit for results."""

    _auth_plugin_name: str

    def __init__(
        self, config: ConnectionConfig, context: ssl.SSLContext | None, query_seconds: float | None, **arguments: Any
    ) -> None:
        """Connect and log in. `context` is how TLS is used, None for never; `query_seconds` limits silence later."""
        self._rules = config.password_rules
        self._position = Position(source=str(config.addresses[0]))
        self._verifies = config.tls.mode.verifies
        self._context = context
        self._deadline: float | None = time.monotonic() + config.connect_timeout
        self._budget = _MAX_LOGIN_BYTES
        super().__init__(connect_timeout=config.connect_timeout, **arguments)
        self._deadline = None
        self._read_timeout = self._write_timeout = query_seconds
        self._current_timeout = _UNKNOWN_TIMEOUT

    def _create_ssl_ctx(self, _given: object) -> ssl.SSLContext | None:
        return self._context

    # --- Limits -------------------------------------------------------------------------------------------------------

    def _read_bytes(self, num_bytes: int) -> bytes:
        """Read a part of a packet: in a login until its time is over, in a result as many bytes as fit in memory."""
        self._budget -= num_bytes + _READ_COST
        if self._budget < 0:
            self._force_close()
            where = "login" if self._deadline is not None else "answer to one statement"
            raise Server(f"the server sends too much: a {where} may take {self._limit:,} bytes", self._position)
        if self._deadline is None:
            data: bytes = super()._read_bytes(num_bytes)
            return data
        parts = bytearray()
        while len(parts) < num_bytes:
            try:
                self._sock.settimeout(self._left_seconds())
                part = self._rfile.read1(num_bytes - len(parts))
            except TimeoutError:
                raise self._too_late() from None
            if not part:
                raise ConnectionLost("the server closed the connection during the login", self._position)
            parts += part
        return bytes(parts)

    def _write_bytes(self, data: bytes) -> None:
        if self._deadline is not None:  # for this write, and for the TLS handshake that may follow it
            self._write_timeout, self._current_timeout = self._left_seconds(), _UNKNOWN_TIMEOUT
        super()._write_bytes(data)

    def _left_seconds(self) -> float:
        left = self._deadline - time.monotonic() if self._deadline is not None else 0.0
        if left <= 0:
            raise self._too_late()
        return left

    def _too_late(self) -> ConnectionLost:
        message = f"the login took longer than connect_timeout, {self.connect_timeout:g} seconds"
        return ConnectionLost(message, self._position)

    @property
    def _limit(self) -> int:
        return _MAX_LOGIN_BYTES if self._deadline is not None else _MAX_RESULT_BYTES

    def _execute_command(self, command: int, sql: bytes | str) -> None:
        self._budget = self._limit
        super()._execute_command(command, sql)

    # --- Login --------------------------------------------------------------------------------------------------------

    def _get_server_information(self) -> None:
        """Read the greeting. The first response is a hash, by whichever plugin the server wants a login."""
        super()._get_server_information()
        self.take_nonce(self.salt)
        if self._auth_plugin_name not in (_NATIVE_WITHOUT_NAME, NATIVE):
            self._auth_plugin_name = CACHING_SHA2

    def _get_auth_plugin_handler(self, plugin_name: bytes | str) -> _Login:
        """Return how to log in by a plugin; all that are not on the list are refused."""
        name = plugin_name.decode("ascii", "replace") if isinstance(plugin_name, bytes) else plugin_name
        step = _STEPS.get(name)
        if step is None:
            message = (
                f"the server requests a login by the plugin {name[:64]!r}, which binspark does not have. It has "
                f"{', '.join(filter(None, _STEPS))}"
            )
            raise Authentication(message, self._position)
        return _Login(self, step)

    def take_nonce(self, nonce: bytes) -> None:
        """Use a nonce of the server, which must be long enough that no response to it was computed before."""
        if len(nonce) < _NONCE_LENGTH:
            raise Server(f"the server sends a nonce of {len(nonce)} bytes, expected {_NONCE_LENGTH}", self._position)
        self.salt = nonce

    def send_password(self) -> Any:
        """Send the password itself over TLS or a socket, and return the answer."""
        host = "" if self.unix_socket else str(self._sock.getpeername()[0])
        if host and not self._verifies and not is_loopback(host) and host not in _warned:
            _warned.add(host)
            log.warning(
                "%s: the server requests the password itself, and nobody has verified its certificate: it may be "
                "another server. Use ssl_mode verify_identity or verify_ca, with ssl_ca (see docs/security.md)",
                self._position.source,
            )
        return self.answer(self.password + b"\0")

    def send_encrypted_password(self, plugin: str) -> Any:
        """Send the password encrypted with a public key of the server, and return the answer."""
        key = _known_key(self._rules)
        if key is None and not self._rules.get_server_public_key:
            message = (
                f"Authentication plugin '{plugin}' requires a secure connection (error 2061), and this one is not "
                "encrypted. Use ssl_mode required, or the server's socket; or give its public key "
                "(server_public_key_path); or trust whoever answers to send one (get_server_public_key)"
            )
            raise Authentication(message, self._position)
        if key is None:
            sent = self.answer(_KEY_REQUESTS[plugin])
            if not sent.is_extra_auth_data():
                raise Server("the server sends no public key, although one was requested", self._position)
            key = bytes(sent.get_all_data()[1:])
        try:
            encrypted = _auth.sha2_rsa_encrypt(self.password, self.salt, key)
        except (ValueError, AttributeError, TypeError) as error:
            raise Authentication(f"the server's public key cannot be used: {error}", self._position) from None
        return self.answer(encrypted)

    def answer(self, payload: bytes) -> Any:
        """Send a packet of the login, and return the next one of the server."""
        self.write_packet(payload)
        return self.next_packet()

    def next_packet(self) -> Any:
        """Return the next packet of the server; its error is raised."""
        return self._read_packet()

    @property
    def is_encrypted(self) -> bool:
        """Whether TLS is used."""
        return isinstance(self._sock, ssl.SSLSocket)

    @property
    def is_secure(self) -> bool:
        """Whether nobody else can read the connection: it is encrypted, or a socket."""
        return bool(self._secure)

    @property
    def rules(self) -> PasswordRules:
        """How the server may get the password."""
        return self._rules


class _Login:
    """The form in which PyMySQL calls a step of a login."""

    def __init__(self, session: Session, step: Callable[[Session, Any], Any]) -> None:
        self._session = session
        self._step = step

    def authenticate(self, packet: Any) -> Any:
        """Answer a request to log in by another plugin, or what a plugin of the server sends."""
        return self._step(self._session, packet)


def _new_nonce(session: Session, packet: Any) -> bool:
    """Take over the nonce of a request to log in by another plugin; return whether it is such a request."""
    if not packet.is_auth_switch_request():
        return False
    session.take_nonce(bytes(packet.read_all()).removesuffix(b"\0"))
    return True


def _native(session: Session, packet: Any) -> Any:
    if not _new_nonce(session, packet):
        raise _unexpected(session, NATIVE)
    return session.answer(_auth.scramble_native_password(session.password, session.salt))


def _ed25519(session: Session, packet: Any) -> Any:
    if not packet.is_auth_switch_request():
        raise _unexpected(session, ED25519)
    return session.answer(_auth.ed25519_password(session.password, packet.read_all()))


def _caching_sha2(session: Session, packet: Any) -> Any:
    if _new_nonce(session, packet):
        packet = session.answer(_auth.scramble_caching_sha2(session.password, session.salt))
        if not packet.is_extra_auth_data():
            return packet
    state = bytes(packet.get_all_data()[1:])
    if state == bytes((_FAST_LOGIN,)):
        return session.next_packet()
    if state != bytes((_FULL_LOGIN,)):
        raise _unexpected(session, CACHING_SHA2)
    return session.send_password() if session.is_secure else session.send_encrypted_password(CACHING_SHA2)


def _sha256(session: Session, packet: Any) -> Any:
    if not _new_nonce(session, packet):
        raise _unexpected(session, SHA256)
    if not session.password:
        return session.answer(b"\0")
    # The server's plugin makes no exception for a socket.
    return session.send_password() if session.is_encrypted else session.send_encrypted_password(SHA256)


def _clear_text(session: Session, packet: Any) -> Any:
    if not packet.is_auth_switch_request():
        raise _unexpected(session, CLEAR_TEXT)
    if not session.rules.enable_cleartext_plugin:
        message = "the server requests the password in clear text. If you trust this server: enable_cleartext_plugin"
        raise Authentication(message, session._position)
    if not session.is_secure:
        message = "the server requests the password in clear text, and the connection is not encrypted"
        raise Authentication(message, session._position)
    return session.send_password()


_STEPS: dict[str, Callable[[Session, Any], Any]] = {
    _NATIVE_WITHOUT_NAME: _native,
    NATIVE: _native,
    CACHING_SHA2: _caching_sha2,
    SHA256: _sha256,
    ED25519: _ed25519,
    CLEAR_TEXT: _clear_text,
}
"""The plugins by which binspark logs in; `mysql_old_password` and `dialog`, which PyMySQL has, are not safe."""


def _unexpected(session: Session, plugin: str) -> Server:
    return Server(f"the server's packet does not belong to a login by {plugin}", session._position)


def _known_key(rules: PasswordRules) -> bytes | None:
    path = rules.server_public_key_path
    if path is None:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        problem = f"{path} cannot be read: {describe_os_error(error)}"
        raise OptionError(problem, option="server_public_key_path") from None
