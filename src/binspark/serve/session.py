"""The session of one client: login, statements, a dump."""

from __future__ import annotations

import logging
import secrets
import ssl
import threading
from collections import Counter
from dataclasses import dataclass, field

from binspark.errors import BinlogError, ConnectionLost, DecodeError, OptionError
from binspark.frames import Family
from binspark.gtid import MariadbPosition
from binspark.replication.commands import (
    BinlogDump,
    BinlogDumpGtid,
    RegisterSlave,
    decode_command,
)
from binspark.replication.commands import CommandCode as ReplicationCode
from binspark.replication.packets import ErrorPacket, encode_error
from binspark.serve import errors
from binspark.serve.admission import Admission
from binspark.serve.authentication import FAST_LOGIN, is_known, is_right
from binspark.serve.channel import ClientChannel
from binspark.serve.dump import Dump, DumpRequest
from binspark.serve.errors import ClientError
from binspark.serve.find import DumpStart, StartFinder
from binspark.serve.logs import ArchiveLogs
from binspark.serve.protocol import (
    CACHING_SHA2,
    NATIVE,
    NONCE_LENGTH,
    OFFERED,
    REQUIRED,
    Capability,
    CommandCode,
    Greeting,
    Login,
    Result,
    decode_login,
    encode_greeting,
    encode_more_data,
    encode_ok,
    encode_result,
    encode_switch,
)
from binspark.serve.settings import ServeSettings
from binspark.serve.source_info import Reader, SourceInfo
from binspark.serve.statements import Statements
from binspark.server.errors import printable

LOGIN_SECONDS = 10.0
_NANOSECONDS = 1_000_000_000
_MARIADB_CAPABILITY = 4
_OLD_CLIENTS_PREFIX = "5.5.5-"
_REPLICATION_CODES = frozenset(map(int, ReplicationCode))
_NO_ANSWER = frozenset({CommandCode.INIT_DB, CommandCode.PING, CommandCode.SET_OPTION, CommandCode.RESET_CONNECTION})
_PRINTABLE = bytes(range(33, 127))

log = logging.getLogger("binspark.serve")


@dataclass(frozen=True)
class Service:
    """What all sessions share.

    errors   how many sessions ended with each kind of error, by the name of its class
    """

    settings: ServeSettings
    logs: ArchiveLogs
    source: SourceInfo
    starts: StartFinder
    tls: ssl.SSLContext
    stop: threading.Event
    admission: Admission = field(default_factory=Admission)
    errors: Counter[str] = field(default_factory=Counter)


class Session:
    """A connected client."""

    def __init__(self, service: Service, channel: ClientChannel, connection_id: int) -> None:
        self._service = service
        self._channel = channel
        self._connection_id = connection_id
        self._registered = RegisterSlave(0)
        self._statements = Statements(service.source, service.settings.user, channel.host, connection_id)
        self._is_replaced = False

    def run(self) -> None:
        """Serve the client until it is gone, or the server stops."""
        channel = self._channel
        try:
            channel.begin_login(LOGIN_SECONDS)
            self._log_in()
            channel.end_login()
            while not self._service.stop.is_set() and self._answer(channel.read_command()):
                pass
        except ClientError as error:
            self._service.errors[type(error).__name__] += 1
            self._send_error(error)
            log.warning("%s: %s", channel.client, printable(error.message))
        except ConnectionLost:
            pass  # that is how clients leave
        except BinlogError as error:
            self._service.errors[type(error).__name__] += 1
            log.warning("%s: %s", channel.client, printable(str(error)))
        finally:
            channel.close()
            self._service.admission.gone(channel)

    # --- Login --------------------------------------------------------------------------------------------------------

    def _log_in(self) -> None:
        settings, channel = self._service.settings, self._channel
        nonce = bytes(secrets.choice(_PRINTABLE) for _ in range(NONCE_LENGTH))
        channel.send(encode_greeting(self._greeting(nonce)))
        login = decode_login(channel.read())
        if login.user is None and login.capabilities & Capability.SSL:
            channel.encrypt(self._service.tls)
            login = decode_login(channel.read())
        if login.user is None or not login.capabilities & REQUIRED == REQUIRED:
            raise ClientError(1043, "Bad handshake: the client is older than MySQL 4.1", "08S01")
        plugin, response = self._response(login, nonce)
        password, admission = settings.password.encode(), self._service.admission
        # Before it is known whether the password is right: who does not wait for the answer learns nothing.
        channel.keep_waiting(admission.delay(channel))
        if login.user != settings.user or not is_right(plugin, password, nonce, response):
            admission.failed(channel)
            raise errors.access_denied(login.user, channel.host, with_password=bool(response))
        admission.logged_in(channel)
        if plugin == CACHING_SHA2 and password:
            channel.send(encode_more_data(FAST_LOGIN), encode_ok())
        else:
            channel.send(encode_ok())

    def _greeting(self, nonce: bytes) -> Greeting:
        identity = self._service.logs.identity
        is_mariadb = identity.family is Family.MARIADB
        capabilities = OFFERED | Capability.SSL
        version = identity.version
        if is_mariadb:
            capabilities &= ~Capability.LONG_PASSWORD
            version = _OLD_CLIENTS_PREFIX + version if version.startswith("10.") else version
        plugin = NATIVE if is_mariadb else CACHING_SHA2
        return Greeting(version, self._connection_id, nonce, capabilities, plugin)

    def _response(self, login: Login, nonce: bytes) -> tuple[str, bytes]:
        """Return by which plugin the client logs in, and its response; another plugin is requested if need be."""
        if is_known(login.plugin):
            return login.plugin, login.response
        self._channel.send(encode_switch(NATIVE, nonce))
        return NATIVE, self._channel.read()

    # --- Commands -----------------------------------------------------------------------------------------------------

    def _answer(self, command: bytes) -> bool:
        """Answer a command; return whether the session continues."""
        code = command[0] if command else CommandCode.QUIT
        if code == CommandCode.QUIT:
            return False
        try:
            if code in _REPLICATION_CODES:
                return self._replicate(command)
            if code == CommandCode.QUERY:
                self._query(command[1:])
            elif code == CommandCode.STATISTICS:
                self._channel.send(b"binspark serve")
            elif code in _NO_ANSWER:
                self._channel.send(encode_ok())
            else:
                raise errors.unknown_command(code)
        except ClientError as error:
            if code in _REPLICATION_CODES:
                raise
            self._send_error(error)
        except ConnectionLost:
            raise
        except BinlogError as error:
            self._send_error(ClientError(1105, str(error)))
        return True

    def _query(self, text: bytes) -> None:
        answer = self._statements.answer(text.decode("utf-8", "replace"))
        self._channel.send(*(encode_result(answer) if isinstance(answer, Result) else [encode_ok()]))

    def _send_error(self, error: ClientError) -> None:
        try:
            self._channel.send(encode_error(ErrorPacket(error.code, error.message, error.state)))
        except ConnectionLost:
            return

    # --- Replication --------------------------------------------------------------------------------------------------

    def _replicate(self, packet: bytes) -> bool:
        try:
            command = decode_command(packet)
        except DecodeError as error:
            raise errors.fatal(f"the command cannot be read: {error}") from None
        if isinstance(command, RegisterSlave):
            self._registered = command
            self._channel.send(encode_ok())
            return True
        if not isinstance(command, BinlogDump | BinlogDumpGtid):
            raise errors.unknown_command(packet[0])
        return self._dump(command)

    def _dump(self, command: BinlogDump | BinlogDumpGtid) -> bool:
        start = self._start(command)
        request = DumpRequest(command.flags, self._service.source.server_id, self._checksum(), self._heartbeat())
        reader = Reader(command.server_id, self._uuid(), self._registered.host, self._registered.port, self._replace)
        self._service.source.add_reader(reader)
        dump = Dump(self._channel, self._service.logs, start, request, self._service.stop)
        log.info("%s: server %d reads from %s:%d", self._channel.client, command.server_id, *dump.position)
        try:
            dump.run()
        except ConnectionLost:
            if self._is_replaced:
                log.info("%s: server %d has connected again", self._channel.client, command.server_id)
            raise
        finally:
            self._service.source.remove_reader(reader)
            log.info("%s: server %d has read up to %s:%d", self._channel.client, command.server_id, *dump.position)
        return not self._service.stop.is_set()

    def _start(self, command: BinlogDump | BinlogDumpGtid) -> DumpStart:
        variables, family = self._statements.user_variables, self._service.logs.identity.family
        if family is not Family.MARIADB:
            return self._service.starts.by_command(command)
        if isinstance(command, BinlogDumpGtid):
            raise errors.unknown_command(ReplicationCode.BINLOG_DUMP_GTID)
        if int(variables.get("mariadb_slave_capability") or 0) < _MARIADB_CAPABILITY:
            raise errors.no_mariadb_gtids()
        state, until = (variables.get(name) for name in ("slave_connect_state", "slave_until_gtid"))
        if state is None:
            return self._service.starts.by_command(command)
        stop = None if until is None else _mariadb_position(until, "slave_until_gtid")
        strict = str(variables.get("slave_gtid_strict_mode")) == "1"
        position = _mariadb_position(state, "slave_connect_state")
        return self._service.starts.by_position(position, until=stop, strict=strict)

    def _replace(self) -> None:
        """End this dump: its replica has connected again."""
        self._is_replaced = True
        self._channel.shut()

    def _variable(self, *names: str) -> str:
        """Return a variable that the client has set; it has a new and an old name."""
        values = (self._statements.user_variables.get(name) for name in names)
        return str(next((value for value in values if value is not None), ""))

    def _uuid(self) -> str:
        return self._variable("replica_uuid", "slave_uuid")

    def _checksum(self) -> bool | None:
        known = self._variable("source_binlog_checksum", "master_binlog_checksum")
        return known.upper() == "CRC32" if known else None

    def _heartbeat(self) -> float | None:
        period = self._variable("source_heartbeat_period", "master_heartbeat_period")
        if period.isdigit():
            return int(period) / _NANOSECONDS or None
        return self._service.settings.heartbeat_seconds


def _mariadb_position(text: object, variable: str) -> MariadbPosition:
    """Return the GTIDs that a replica has set as a variable."""
    try:
        return MariadbPosition(str(text))
    except (DecodeError, OptionError) as error:
        raise errors.fatal(f"Failed to load slave replication state from @{variable}: {error}") from None
