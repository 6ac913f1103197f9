"""A connection to a server. PyMySQL speaks the protocol; its errors become binspark's.

This module and `session` are the only ones that use what PyMySQL does not offer publicly; here how it loads a file
(`_execute_command`, `_read_packet`), and the socket (`_sock`), which a replication stream takes over once PyMySQL has
nothing more to read from it.
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import Any, Self

from binspark.errors import Authentication, ConnectionLost, OptionError, Server, SourceError
from binspark.position import Position
from binspark.server.config import Address, ConnectionConfig, Tls, TlsMode
from binspark.server.errors import ANY_ACCOUNT, MISSING_PRIVILEGE, TABLE_ACCESS_DENIED, explain_error

Row = tuple[Any, ...]

_QUERY_SECONDS = 60.0
_COM_QUERY = 3
_MULTI_STATEMENTS = 1 << 16
_LOCAL_FILES = 1 << 7
"""The flags of a client that sends several statements at once, and files with LOAD DATA LOCAL."""

_MALFORMED = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, struct.error)
"""What PyMySQL raises where the bytes of a server make no sense."""

_CONNECTION_ENDED = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)


class Connection:
    """A session with one server; made by `connect`.

    `config` is for this server alone: with it, one more connection reaches the same server.
    """

    def __init__(self, session: Any, config: ConnectionConfig) -> None:
        self._session = session
        self.config = config
        self.address = config.addresses[0]

    @property
    def server_version(self) -> str:
        """The version that the server reported at login, such as `9.7.4` or `10.11.18-MariaDB-log`."""
        version: str = self._session.get_server_info()
        return version.removeprefix("5.5.5-") if "MariaDB" in version else version

    @property
    def id(self) -> int:
        """The number of this connection on the server, as SHOW PROCESSLIST lists it."""
        number: int = self._session.thread_id()
        return number

    @property
    def position(self) -> Position:
        """The position of errors of this connection: its server."""
        return Position(source=str(self.address))

    @cached_property
    def account(self) -> str:
        """The account of the session, as it is written in GRANT: `` `user`@`host` ``."""
        user, _, host = str(self.rows("SELECT CURRENT_USER()")[0][0]).rpartition("@")
        return f"{quoted_name(user)}@{quoted_name(host)}"

    @property
    def socket(self) -> socket.socket:
        """The socket of the session, for a `PacketChannel` that takes it over: statements can no longer be run then."""
        connected: socket.socket | None = self._session._sock
        if connected is None:
            raise ConnectionLost("the connection is closed", self.position)
        return connected

    def rows(self, sql: str, arguments: Sequence[Any] | None = None) -> list[Row]:
        """Run one statement and return its rows; `arguments` replace each %s."""
        with _explained_errors(self.address, self._account), self._session.cursor() as cursor:
            cursor.execute(sql, arguments)
            return list(cursor.fetchall())

    def records(self, sql: str, arguments: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Run one statement and return its rows by the names of their columns."""
        with _explained_errors(self.address, self._account), self._session.cursor() as cursor:
            cursor.execute(sql, arguments)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def run_script(self, statements: Sequence[bytes]) -> tuple[int, SourceError | None]:
        """Run statements with one request; the connection must be one for scripts.

        Return how many were run, and the error of the one after them: None if all were. No statement but the last may
        end in a comment, which would hide the next.
        """
        done = 0
        try:
            with _explained_errors(self.address, self._account):
                self._session.query(b";".join(statements))
                for done in range(1, len(statements)):  # noqa: B007 (used if an error is raised)
                    self._session.next_result()  # after BINLOG, MySQL does not say that there are more
        except SourceError as error:
            return done, error
        return len(statements), None

    def run_load(self, statement: bytes, name: bytes, blocks: Iterable[bytes]) -> SourceError | None:
        """Run LOAD DATA LOCAL with these blocks as the file of a name; return the error, None if there is none.

        The connection must be one for scripts. A server that asks for another file gets none.
        """
        session = self._session
        try:
            with _explained_errors(self.address, self._account):
                session._execute_command(_COM_QUERY, statement)
                answer = session._read_packet()
                if answer.is_load_local_packet():
                    is_right = bytes(answer.get_all_data()[1:]) == name
                    for block in blocks if is_right else ():
                        session.write_packet(block)
                    session.write_packet(b"")
                    session._read_packet()
                    if not is_right:
                        raise RuntimeError("LOAD_LOCAL")
        except SourceError as error:
            return error
        return None

    def _account(self) -> str:
        """Return the account for an error message."""
        try:
            return self.account
        except SourceError:
            return ANY_ACCOUNT

    def close(self) -> None:
        """End the session; ending it twice does nothing."""
        if self._session.open:
            self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(config: ConnectionConfig, *, scripts: bool = False) -> Connection:
    """Connect to the first of the servers that answers.

    A connection for scripts runs several statements at once, and waits for them as long as they take. It is a
    `ConnectionLost` when none answers, `Authentication` when one refuses the user or cannot prove who it is.
    """
    failures: list[ConnectionLost] = []
    for address in config.addresses:
        try:
            return _connect(config, address, scripts=scripts)
        except ConnectionLost as error:
            failures.append(error)
    raise failures[0] if len(failures) == 1 else ConnectionLost("; ".join(map(str, failures)))


def _connect(config: ConnectionConfig, address: Address, *, scripts: bool) -> Connection:
    from binspark.server.session import Session  # PyMySQL takes longer to load than most commands take to fail

    config = config.only(address)
    with _explained_errors(address):
        session = Session(
            config,
            None if config.tls.mode is TlsMode.DISABLED else _tls_context(config.tls),
            None if scripts else max(config.connect_timeout, _QUERY_SECONDS),
            host=address.host,
            port=address.port,
            unix_socket=address.socket,
            user=config.user,
            password=config.password.encode(),
            charset="utf8mb4",
            autocommit=True,
            program_name="binspark",
            # Not PyMySQL's `local_infile`: it would send any file that the server asks for, which `run_load` does not.
            client_flag=_MULTI_STATEMENTS | _LOCAL_FILES if scripts else 0,
            **_tls_arguments(config.tls),
        )
    return Connection(session, config)


def _tls_arguments(tls: Tls) -> dict[str, Any]:
    if tls.mode is TlsMode.DISABLED:
        return {"ssl_disabled": True}
    if tls.mode is TlsMode.PREFERRED and tls.cert is None:
        return {}
    return {"ssl": {"required": True}}  # the context itself is the session's


def _tls_context(tls: Tls) -> ssl.SSLContext:
    try:
        # What does not verify needs no authorities, and those of a system take as long to load as a log to copy.
        context = ssl.create_default_context(cafile=tls.ca) if tls.mode.verifies else _unverified_context(tls.ca)
        # The certificates that MySQL creates for itself lack what this flag, on since Python 3.13, requires.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.check_hostname = tls.mode is TlsMode.VERIFY_IDENTITY
        context.verify_mode = ssl.CERT_REQUIRED if tls.mode.verifies else ssl.CERT_NONE
        if tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ValueError) as error:
        files = ", ".join(file for file in (tls.ca, tls.cert, tls.key) if file)
        raise OptionError(f"the files for TLS cannot be used ({files}): {error}") from None
    return context


def _unverified_context(authorities: str | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if authorities is not None:
        context.load_verify_locations(authorities)  # a file that cannot be used is an error even so
    return context


def quoted_name(name: str) -> str:
    """Return a name as it is written in a statement."""
    return "`" + name.replace("`", "``") + "`"


@contextmanager
def _explained_errors(address: Address, account: Callable[[], str] | None = None) -> Iterator[None]:
    """Turn PyMySQL's errors into binspark's. `account` returns whose session it is, for a privilege that is missing."""
    errors = import_module("pymysql").err
    position = Position(source=str(address))
    try:
        yield
    except errors.MySQLError as error:
        # PyMySQL reports a failed handshake like a server that cannot be reached, and keeps the reason.
        reason = getattr(error, "original_exception", None)
        if isinstance(reason, ssl.SSLError):
            raise _tls_failure(reason, position) from None
        code, message = _code_and_message(error)
        lacks_privilege = code in (MISSING_PRIVILEGE, TABLE_ACCESS_DENIED)
        whose = account() if account is not None and lacks_privilege else ANY_ACCOUNT
        raise explain_error(code, message, position, whose) from None
    except (ssl.SSLError, ssl.CertificateError) as error:
        raise _tls_failure(error, position) from None
    except OSError as error:
        raise ConnectionLost(f"the connection failed: {error}", position) from None
    except RuntimeError as error:
        raise _pymysql_refusal(error, position) from None
    except _MALFORMED as error:
        message = f"the server's answer does not have the form of the protocol ({type(error).__name__}: {error})"
        raise Server(message, position) from None


def _pymysql_refusal(error: RuntimeError, position: Position) -> SourceError:
    """PyMySQL has two reasons: a server that requests a file, and a library that a login needs and does not find."""
    if "LOAD_LOCAL" in str(error):
        message = "the server requests a file of this machine, and never gets one; do not trust it"
        return Server(message, position)
    return Authentication(f"PyMySQL cannot log in: {error}", position)


def _code_and_message(error: Exception) -> tuple[int, str]:
    match error.args:
        case (int(code), message, *_):
            return code, str(message)
    return 0, str(error)


def _tls_failure(error: Exception, position: Position) -> SourceError:
    if isinstance(error, _CONNECTION_ENDED):
        return ConnectionLost(f"the connection ended during the TLS handshake: {error}", position)
    message = (
        f"TLS with this server failed: {error}. Check ssl_ca (the authority that signed the server's certificate) "
        "and, with verify_identity, that the certificate names the host that you connect to"
    )
    return Authentication(message, position)
