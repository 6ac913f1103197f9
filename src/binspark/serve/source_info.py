"""What the source reports of itself: its variables, its logs, where they end, and who reads them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from binspark.event import Event
from binspark.frames import EventCode, Family
from binspark.frames.format import ChecksumAlgorithm
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.gtid import GtidSet, MariadbGtid, MariadbState
from binspark.serve.archive_end import ArchiveEnd, EndFinder, gtids_at
from binspark.serve.errors import no_such_log, unknown_variable
from binspark.serve.logs import ArchiveLogs, first_events
from binspark.serve.protocol import Value

_MAX_EVENTS = 1000
_EVENT_NAMES: dict[int, str] = {EventCode.PREVIOUS_GTIDS: "Previous_gtids", EventCode.GTID_LIST: "Gtid_list"}


@dataclass(frozen=True, slots=True)
class Reader:
    """A client that has requested a dump."""

    server_id: int
    uuid: str
    host: str
    port: int
    end: Callable[[], None]

    @property
    def key(self) -> str:
        """What a replica has in common with itself after it has connected again."""
        return self.uuid or str(self.server_id)


class SourceInfo:
    """What the source reports of itself."""

    def __init__(self, logs: ArchiveLogs, end: EndFinder, server_id: int | None) -> None:
        self._logs = logs
        self._end = end
        identity = logs.identity
        self.server_id = identity.server_id if server_id is None else server_id
        self.version = identity.version
        self.is_mariadb = identity.family is Family.MARIADB
        self._lock = threading.Lock()
        self._readers: dict[str, Reader] = {}
        # Without rpl_semi_sync_source_enabled, even without one that is 0: replicas take any value for a promise.
        common: dict[str, Callable[[], Value]] = {
            "server_id": lambda: self.server_id,
            "version": lambda: self.version,
            "version_comment": lambda: "binspark serve",
            "log_bin": lambda: 1,
            "read_only": lambda: 1,
            "binlog_checksum": self._checksum,
            "hostname": socket.gethostname,
            "max_allowed_packet": lambda: 1 << 30,
            "character_set_server": lambda: "utf8mb4",
            "lower_case_table_names": lambda: 0,
            "time_zone": lambda: "SYSTEM",
            "system_time_zone": lambda: "UTC",
        }
        own = self._mariadb_variables() if self.is_mariadb else self._mysql_variables(identity.uuid)
        self._variables = dict(sorted((common | own).items()))

    # --- Variables ----------------------------------------------------------------------------------------------------

    def variable(self, name: str) -> Value:
        """Return the value of a variable; an error if there is no such variable."""
        value = self._variables.get(name.lower())
        if value is None:
            raise unknown_variable(name)
        return value()

    def variable_names(self) -> Iterator[str]:
        """Yield the names of all variables."""
        yield from self._variables

    def variable_text(self, name: str) -> str:
        """Return the value of a variable as SHOW VARIABLES does."""
        value = self.variable(name)
        return ("ON" if value else "OFF") if name in _SWITCHES else str(value)

    def _mysql_variables(self, uuid: str) -> dict[str, Callable[[], Value]]:
        return {
            "server_uuid": lambda: uuid,
            "gtid_mode": self._gtid_mode,
            "enforce_gtid_consistency": lambda: self._gtid_mode(),
            "gtid_executed": lambda: str(self._end.find().gtids or GtidSet()),
            "gtid_purged": lambda: str(self._logs.gtids_before(self._logs.all()[0]) or GtidSet()),
        }

    def _mariadb_variables(self) -> dict[str, Callable[[], Value]]:
        return {
            "server_uid": lambda: self._logs.identity.uuid,
            "gtid_domain_id": self._domain,
            "gtid_binlog_state": lambda: str(self._state()),
            "gtid_binlog_pos": lambda: str(self._state().position),
            "gtid_current_pos": lambda: str(self._state().position),
            "gtid_slave_pos": lambda: "",
            "gtid_strict_mode": lambda: 0,
        }

    def _state(self) -> MariadbState:
        gtids = self._end.find().gtids
        return gtids if isinstance(gtids, MariadbState) else MariadbState()

    def _domain(self) -> int:
        """Return the domain in which the server of the logs wrote; 0 if there is none of its GTIDs."""
        own = [gtid.domain for gtid in self._state() if gtid.server == self._logs.identity.server_id]
        return own[0] if own else 0

    def _gtid_mode(self) -> str:
        end = self._end.find()
        return "ON" if isinstance(end.gtids, GtidSet) and not end.anonymous else "OFF"

    def _checksum(self) -> str:
        with self._logs.last().open() as (_, head):
            return "CRC32" if head.format.checksum is ChecksumAlgorithm.CRC32 else "NONE"

    # --- Logs ---------------------------------------------------------------------------------------------------------

    def status(self) -> tuple[str, int, str]:
        """Return file and offset of the end for now, and the GTIDs up to there."""
        end: ArchiveEnd = self._end.find()
        return end.log.name, end.offset, "" if end.gtids is None else str(end.gtids)

    def log_sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the names and sizes of all logs."""
        for log in self._logs.all():
            with log.open() as (file, _):
                yield log.name, file.size

    def gtid_position(self, file: str, offset: int) -> str | None:
        """Return MariaDB's GTID position of an offset; None if there is no such log."""
        log = self._logs.find(file)
        gtids = None if log is None else gtids_at(self._logs, log, offset)
        return str(gtids.position) if isinstance(gtids, MariadbState) else None

    def first_events(self, file: str, count: int) -> Iterator[tuple[Value, ...]]:
        """Yield the first events of a log: what readers look up is the GTIDs before it, which are described."""
        log = self._logs.find(file) if file else self._logs.all()[0]
        if log is None:
            raise no_such_log()
        with log.open() as (opened, head):
            frame = head.frame
            info = f"Server ver: {self.version}, Binlog ver: 4"
            yield log.name, FIRST_EVENT_OFFSET, "Format_desc", frame.header.server_id, frame.end_offset, info
            for number, event in enumerate(first_events(opened, head, log.name), 2):
                if number > min(count, _MAX_EVENTS):
                    return
                name = _EVENT_NAMES.get(event.type_code, event.type)
                yield log.name, event.offset, name, event.header.server_id, event.end_offset, _info(event)

    # --- Readers ------------------------------------------------------------------------------------------------------

    def add_reader(self, reader: Reader) -> None:
        """Register a dump. One that the same replica requested before, and has given up, is ended."""
        with self._lock:
            before = self._readers.get(reader.key)
            self._readers[reader.key] = reader
        if before is not None:
            before.end()

    def remove_reader(self, reader: Reader) -> None:
        """Remove a dump that has ended."""
        with self._lock:
            if self._readers.get(reader.key) is reader:
                del self._readers[reader.key]

    def replicas(self) -> Iterator[tuple[Value, ...]]:
        """Yield who reads now, as SHOW REPLICAS does."""
        with self._lock:
            readers = list(self._readers.values())
        for reader in readers:
            yield reader.server_id, reader.host, reader.port, self.server_id, reader.uuid


_SWITCHES = frozenset({"log_bin", "read_only", "gtid_strict_mode"})


def _info(event: Event) -> str:
    """Describe the GTIDs before a log as SHOW BINLOG EVENTS does; other events are not described."""
    if event.type_code == EventCode.PREVIOUS_GTIDS:
        return str(event.body.gtid_set)
    if event.type_code == EventCode.GTID_LIST:
        gtids: tuple[MariadbGtid, ...] = event.body.gtids
        return f"[{','.join(map(str, gtids))}]"
    return ""
