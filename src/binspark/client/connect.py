"""A connection to a server. PyMySQL speaks; what goes wrong is said in binspark's errors."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Self

from binspark.client.advice import explained
from binspark.client.options import Address, ConnectionOptions, Tls, TlsMode
from binspark.client.wire_access import SecureCleartext, set_read_seconds
from binspark.errors import Authentication, ConnectionLost, OptionError, Server, SourceError
from binspark.position import Position

Row = tuple[Any, ...]

_QUERY_SECONDS = 60.0
_CUT_OFF = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)


class Connection:
    """A session with one server; made by `connect`.

    `session` is PyMySQL's own object; `options` are those of this server alone, for one more connection to it.
    """

    def __init__(self, session: Any, options: ConnectionOptions) -> None:
        self.session = session
        self.options = options
        self.address = options.addresses[0]

    @property
    def server_version(self) -> str:
        """What the server said when it was called, such as `9.7.4` or `10.11.18-MariaDB-log`."""
        version: str = self.session.get_server_info()
        return version.removeprefix("5.5.5-") if "MariaDB" in version else version

    @property
    def position(self) -> Position:
        """Where errors of this connection are: at its server."""
        return Position(source=str(self.address))

    def rows(self, sql: str, arguments: Sequence[Any] | None = None) -> list[Row]:
        """Run one statement and return its rows; `arguments` replace each %s."""
        with self.errors(), self.session.cursor() as cursor:
            cursor.execute(sql, arguments)
            return list(cursor.fetchall())

    def records(self, sql: str, arguments: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Run one statement and return its rows by the names of their columns."""
        with self.errors(), self.session.cursor() as cursor:
            cursor.execute(sql, arguments)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def close(self) -> None:
        """End the session; ending it twice does nothing."""
        if self.session.open:
            self.session.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn PyMySQL's errors into binspark's."""
        with _explained_errors(self.address):
            yield

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(options: ConnectionOptions) -> Connection:
    """Connect to the first of the servers that answers.

    `ConnectionLost` when none does, `Authentication` when one refuses the user or cannot prove who it is.
    """
    failures: list[ConnectionLost] = []
    for address in options.addresses:
        try:
            return _connect(options, address)
        except ConnectionLost as error:
            failures.append(error)
    raise failures[0] if len(failures) == 1 else ConnectionLost("; ".join(map(str, failures)))


def _connect(options: ConnectionOptions, address: Address) -> Connection:
    pymysql = import_module("pymysql")
    with _explained_errors(address):
        session = pymysql.connect(
            host=address.host,
            port=address.port,
            unix_socket=address.socket,
            user=options.user,
            password=options.password.encode(),
            charset="utf8mb4",
            autocommit=True,
            local_infile=False,
            connect_timeout=options.connect_seconds,
            read_timeout=options.connect_seconds,
            program_name="binspark",
            auth_plugin_map={"mysql_clear_password": SecureCleartext},
            **_tls_arguments(options.tls),
        )
    set_read_seconds(session, max(options.connect_seconds, _QUERY_SECONDS))
    return Connection(session, options.only(address))


def _tls_arguments(tls: Tls) -> dict[str, Any]:
    if tls.mode is TlsMode.DISABLED:
        return {"ssl_disabled": True}
    if tls.mode is TlsMode.PREFERRED and tls.cert is None:
        return {}
    return {"ssl": _tls_context(tls)}


def _tls_context(tls: Tls) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=tls.ca)
        # The certificates that MySQL makes for itself lack what this flag, on since Python 3.13, asks for.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.check_hostname = tls.mode is TlsMode.VERIFY_IDENTITY
        context.verify_mode = ssl.CERT_REQUIRED if tls.mode.verifies else ssl.CERT_NONE
        if tls.cert is not None:
            context.load_cert_chain(tls.cert, tls.key)
    except (OSError, ValueError) as error:
        files = ", ".join(file for file in (tls.ca, tls.cert, tls.key) if file)
        raise OptionError(f"the files for TLS cannot be used ({files}): {error}") from None
    return context


@contextmanager
def _explained_errors(address: Address) -> Iterator[None]:
    errors = import_module("pymysql").err
    place = Position(source=str(address))
    try:
        yield
    except errors.MySQLError as error:
        _raise_tls(error, place)
        code, message = _code_and_message(error)
        raise explained(code, message, place) from None
    except (ssl.SSLError, ssl.CertificateError) as error:
        raise _tls_failed(error, place) from None
    except OSError as error:
        raise ConnectionLost(f"the connection failed: {error}", place) from None
    except RuntimeError as error:
        raise _refused_by_pymysql(error, place) from None


def _refused_by_pymysql(error: RuntimeError, place: Position) -> SourceError:
    """PyMySQL has two reasons: a server that asks for a file, and a library that a login needs and does not find."""
    if "LOAD_LOCAL" in str(error):
        return Server("the server asks for a file of this machine, and never gets one; do not trust it", place)
    return Authentication(f"PyMySQL cannot log in: {error}", place)


def _code_and_message(error: Exception) -> tuple[int, str]:
    match error.args:
        case (int(code), message, *_):
            return code, str(message)
    return 0, str(error)


def _raise_tls(error: Exception, place: Position) -> None:
    """PyMySQL reports a failed handshake like a server that cannot be reached, and keeps the reason."""
    reason = getattr(error, "original_exception", None)
    if isinstance(reason, ssl.SSLError):
        raise _tls_failed(reason, place) from None


def _tls_failed(error: Exception, place: Position) -> SourceError:
    if isinstance(error, _CUT_OFF):
        return ConnectionLost(f"the connection ended while TLS began: {error}", place)
    message = (
        f"no TLS with this server: {error}. Check tls_ca (the authority that signed the server's certificate) "
        "and, with verify_identity, that the certificate names the host that you connect to"
    )
    return Authentication(message, place)
