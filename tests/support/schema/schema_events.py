"""Events made by hand and fed to a history: for tests that need no server."""

from __future__ import annotations

from binspark.event import Event, Query, TableMap
from binspark.event.column_types import ColumnType
from binspark.event.status_vars import StatusVariable
from binspark.event.table_metadata import MetadataField
from binspark.frames import EventCode, Frame, Header, LogFormat
from binspark.frames.checksum import ChecksumState
from binspark.schema import SchemaHistory, TableSchema
from binspark.schema.notices import DoubtfulTable, SchemaNotice

MYSQL = LogFormat(4, "9.7.4", 19, b"")
MARIADB = LogFormat(4, "10.11.18-MariaDB-log", 19, b"")
INT = ColumnType.LONG, 0
BIGINT = ColumnType.LONGLONG, 0


def text(max_bytes: int) -> tuple[int, int]:
    return ColumnType.VARCHAR, max_bytes


def table_map(name: str, *columns: tuple[int, int], metadata: tuple[MetadataField, ...] = ()) -> TableMap:
    """Make a TABLE_MAP of `schema.table` with columns of type code and type metadata."""
    schema, _, table = name.partition(".")
    types = tuple(int(code) for code, _ in columns)
    nulls = bytes([0xFF] * ((len(columns) + 7) // 8))
    return TableMap(7, 1, schema, table, types, tuple(number for _, number in columns), nulls, metadata)


class Story:
    """A log, and the history that its events are fed to."""

    def __init__(self, history: SchemaHistory | None = None, log_format: LogFormat = MYSQL) -> None:
        self.notices: list[SchemaNotice] = []
        self.history = history or SchemaHistory(on_notice=self.notices.append)
        self.format = log_format
        self.file = "binlog.000001"
        self.offset = 4

    def put(self, code: int, body: object) -> Event:
        header = Header(1_700_000_000, code, 1, 100, 0, 0)
        frame = Frame(self.offset, self.offset + 100, header, code, b"", 0, 0, ChecksumState.NONE, self.format)
        self.offset += 100
        event = Event(frame, body, self.file)
        self.history.feed(event)
        return event

    def run(self, *statements: str, status: tuple[StatusVariable, ...] = (), error: int = 0, thread: int = 1) -> None:
        """Feed statements in the schema `shop`."""
        for statement in statements:
            self.put(EventCode.QUERY, Query(thread, 0, error, "shop", status, statement.encode()))

    def next_file(self, name: str) -> None:
        self.file, self.offset = name, 4

    def map(self, name: str, *columns: tuple[int, int], metadata: tuple[MetadataField, ...] = ()) -> TableSchema:
        """Map a table and return its schema."""
        mapped = table_map(name, *columns, metadata=metadata)
        self.put(EventCode.TABLE_MAP, mapped)
        return self.history.table_schema(mapped)

    @property
    def reasons(self) -> list[str]:
        """Why statements were not understood."""
        return [unreadable.reason for unreadable in self.history.unreadable]

    @property
    def doubts(self) -> list[str]:
        """What was reported of tables whose rows are read as the log alone describes them."""
        return [f"{notice.position}: {notice}" for notice in self.notices if isinstance(notice, DoubtfulTable)]
