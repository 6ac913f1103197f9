"""A builder's events that are neither statements nor rows nor identifiers."""

from __future__ import annotations

import zstandard

from binspark.event.group import TransactionContext, ViewChange
from binspark.event.heartbeat import Heartbeat, HeartbeatV2
from binspark.event.incident import Ignorable, Incident, IncidentKind
from binspark.event.mariadb import PartialRowData, PartialRowFlag, StartEncryption
from binspark.event.payload import LargeTransactionHeader, TransactionPayload
from binspark.event.rotate import Slave
from binspark.event.start import StartV3
from binspark.event.unknown import UnknownEvent
from binspark.event.xa import XaPrepare, Xid
from binspark.frames import EventCode as E
from binspark.frames.payload import PayloadCompression
from binspark.gtid import GtidSet
from binspark.testing.builder.core import BuilderCore, Part


class OtherEvents(BuilderCore):
    """Ends of transactions, payloads, signs of life, trouble, group replication, encryption."""

    def start_v3(self) -> None:
        """Write START_V3, which a log before version 4 begins with."""
        body = StartV3(self.format.version, self.server.server_version, self.timestamp)
        self.event(E.START_V3, body)

    def xid(self, number: int) -> None:
        """Write XID: the transaction committed."""
        self.event(E.XID, Xid(number))

    def xa_prepare(self, gtrid: bytes, bqual: bytes = b"", format_id: int = 1, *, one_phase: bool = False) -> None:
        """Write XA_PREPARE."""
        self.event(E.XA_PREPARE, XaPrepare(one_phase, format_id, gtrid, bqual))

    def transaction_payload(self, parts: list[Part], compression: PayloadCompression = PayloadCompression.ZSTD) -> None:
        """Write TRANSACTION_PAYLOAD with events inside."""
        self.event(*self.payload_part(parts, compression))

    def payload_part(self, parts: list[Part], compression: PayloadCompression = PayloadCompression.ZSTD) -> Part:
        """Return a TRANSACTION_PAYLOAD that is not yet placed."""
        inner = self.inner_bytes(parts)
        if compression is PayloadCompression.NONE:
            return Part(E.TRANSACTION_PAYLOAD, TransactionPayload(compression, None, inner))
        packed = zstandard.ZstdCompressor().compress(inner)
        return Part(E.TRANSACTION_PAYLOAD, TransactionPayload(compression, len(inner), packed))

    def large_transaction_header(self, end_offset: int, end_type: int = E.XID, padding: int = 0) -> None:
        """Write LARGE_TRANSACTION_HEADER."""
        self.event(E.LARGE_TRANSACTION_HEADER, LargeTransactionHeader(1, end_offset, end_type, bytes(padding)))

    def heartbeat(self, log_file: str) -> None:
        """Write HEARTBEAT, which servers only send."""
        self.event(E.HEARTBEAT, Heartbeat(log_file))

    def heartbeat_v2(self, log_file: str, position: int) -> None:
        """Write HEARTBEAT_V2, which servers only send."""
        self.event(E.HEARTBEAT_V2, HeartbeatV2(log_file, position))

    def incident(self, message: str, kind: int = IncidentKind.LOST_EVENTS) -> None:
        """Write INCIDENT: events may be missing."""
        self.event(E.INCIDENT, Incident(kind, message))

    def ignorable(self, data: bytes = b"") -> None:
        """Write IGNORABLE."""
        self.event(E.IGNORABLE, Ignorable(data))

    def slave(self, host: str, log_file: str, position: int = 4, port: int = 3306) -> None:
        """Write SLAVE, as MySQL 3.23 did."""
        self.event(E.SLAVE, Slave(position, port, host, log_file))

    def transaction_context(self, snapshot: str, write_set: tuple[bytes, ...], read_set: tuple[bytes, ...]) -> None:
        """Write Group Replication's TRANSACTION_CONTEXT."""
        executed = GtidSet(snapshot)
        sets = (executed, executed.tagged, write_set, read_set)
        self.event(E.TRANSACTION_CONTEXT, TransactionContext(self.server_uuid, 8, False, *sets))

    def view_change(self, view_id: str, sequence_number: int, info: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        """Write Group Replication's VIEW_CHANGE."""
        self.event(E.VIEW_CHANGE, ViewChange(view_id, sequence_number, info))

    def start_encryption(self, nonce: bytes, key_version: int = 1) -> None:
        """Write MariaDB's START_ENCRYPTION; a reader expects nothing that it can read behind it."""
        self.event(E.START_ENCRYPTION, StartEncryption(1, key_version, nonce))

    def partial_row_data(self, rows_event: bytes, fragment_size: int) -> None:
        """Write MariaDB's PARTIAL_ROW_DATA, as many as it takes for a rows event."""
        starts = range(0, len(rows_event), fragment_size)
        for number, start in enumerate(starts, 1):
            first = number == 1
            flags = PartialRowFlag.ORIGINAL_EVENT_SIZE if first else 0
            fragment = rows_event[start : start + fragment_size]
            size = len(rows_event) if first else None
            self.event(E.PARTIAL_ROW_DATA, PartialRowData(len(starts), number, flags, size, fragment))

    def unknown(self, body: bytes, type_code: int = E.UNKNOWN) -> None:
        """Write an event of a type that nobody documented."""
        self.event(type_code, UnknownEvent(type_code, body))
