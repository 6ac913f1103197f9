"""Events made by hand, for tests: `Tape` lays them down one after the other like a log."""

from __future__ import annotations

from typing import Any

from binspark.event import (
    Event,
    FormatDescription,
    GtidEvent,
    Incident,
    Intvar,
    MariadbGtidEvent,
    Query,
    Rotate,
    RowOperation,
    Rows,
    Stop,
    TableMap,
    TransactionPayload,
    XaPrepare,
    Xid,
    encode_body,
)
from binspark.event.status_vars import StatusVariable
from binspark.frames import EventCode, Frame, Header, LogFormat
from binspark.frames.checksum import ChecksumState
from binspark.frames.header import encode_header
from binspark.transactions import Assembler, Transaction
from binspark.wire import Writer

FORMAT = LogFormat(4, "8.0.40", 19, b"")
UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
RELAY_LOG = 0x40
ARTIFICIAL = 0x20


class Tape:
    """A log that is built event by event. Every method returns the event that it lays down."""

    def __init__(self, file: str = "binlog.000001", offset: int = 4) -> None:
        self.file = file
        self.offset = offset
        self._payload: Event | None = None
        self._inside = 0

    def put(self, code: int, body: Any, flags: int = 0, server_id: int = 1) -> Event:
        encoded = encode_body(code, body, FORMAT)
        header = Header(1_700_000_000, code, server_id, 19 + len(encoded), 0, flags)
        writer = Writer()
        encode_header(header, 4, writer)
        data = writer.take() + encoded
        frame = Frame(
            offset=self.offset,
            end_offset=self.offset + len(data),
            header=header,
            type_code=code,
            data=data,
            body_start=19,
            body_end=len(data),
            checksum=ChecksumState.NONE,
            format=FORMAT,
        )
        return Event(self._placed(frame), body, self.file)

    def _placed(self, frame: Frame) -> Frame:
        if self._payload is None:
            self.offset = frame.end_offset
            return frame
        inner, self._inside = self._inside, self._inside + 1
        return frame._replace(offset=self._payload.offset, end_offset=self._payload.end_offset, inner=inner)

    def description(self, created: int = 1, flags: int = 0, server_id: int = 1) -> Event:
        body = FormatDescription(4, "8.0.40", created, 19, bytes(42), 0)
        return self.put(EventCode.FORMAT_DESCRIPTION, body, flags, server_id)

    def rotate(self, next_file: str = "binlog.000002", flags: int = 0) -> Event:
        return self.put(EventCode.ROTATE, Rotate(4, next_file), flags)

    def stop(self) -> Event:
        return self.put(EventCode.STOP, Stop())

    def gtid(self, number: int, last_committed: int = 0, length: int = 0) -> Event:
        times = (1_700_000_000_000_002, 1_700_000_000_000_001)
        body = GtidEvent(0, UUID, number, 2, last_committed, number, *times, length, 80040, 80040)
        return self.put(EventCode.GTID, body)

    def anonymous(self) -> Event:
        return self.put(EventCode.ANONYMOUS_GTID, GtidEvent(0, "00000000-0000-0000-0000-000000000000", 0))

    def mariadb_gtid(self, number: int, flags: int = 0, **more: Any) -> Event:
        return self.put(EventCode.MARIADB_GTID, MariadbGtidEvent(number, 0, flags, **more))

    def query(
        self, text: bytes, *status_vars: StatusVariable, thread_id: int = 7, code: int = EventCode.QUERY
    ) -> Event:
        return self.put(code, Query(thread_id, 0, 0, "shop", status_vars, text))

    def begin(self) -> Event:
        return self.query(b"BEGIN")

    def commit(self) -> Event:
        return self.query(b"COMMIT")

    def xid(self, number: int = 1) -> Event:
        return self.put(EventCode.XID, Xid(number))

    def xa_prepare(self, *, one_phase: bool = False) -> Event:
        return self.put(EventCode.XA_PREPARE, XaPrepare(one_phase, 1, b"one", b""))

    def table(self, name: str = "t", table_id: int = 1) -> Event:
        return self.put(EventCode.TABLE_MAP, TableMap(table_id, 0, "shop", name, (3,), (0,), b"\0", ()))

    def rows(self, *, last: bool = True, table_id: int = 1, rows: bytes = b"\0\1\0\0\0") -> Event:
        body = Rows(RowOperation.INSERT, table_id, int(last), (), 1, b"\1", None, rows)
        return self.put(EventCode.WRITE_ROWS, body)

    def intvar(self) -> Event:
        return self.put(EventCode.INTVAR, Intvar(2, 1))

    def incident(self) -> Event:
        return self.put(EventCode.INCIDENT, Incident(1, "lost"))

    def payload(self) -> Event:
        """Lay down a payload; what is laid down from now on lies inside, until `unwrap`."""
        self.unwrap()
        self._payload = self.put(EventCode.TRANSACTION_PAYLOAD, TransactionPayload(0, 100, b"zstd"))
        return self._payload

    def unwrap(self) -> None:
        self._payload, self._inside = None, 0


def assembled(*events: Event) -> list[Transaction]:
    """Return the transactions of these events and of nothing else."""
    assembler = Assembler()
    ended = [transaction for event in events for transaction in assembler.feed(event)]
    return ended + assembler.finish()


def endings(*events: Event) -> list[str]:
    """Return why the transactions of these events ended."""
    return [transaction.ending.value for transaction in assembled(*events)]
