"""BinlogBuilder: describe transactions, get the bytes that a server would have written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from binspark.event.mariadb import MariadbGtidFlag
from binspark.event.rotate import Rotate
from binspark.event.start import Stop
from binspark.event.xa import XaPrepare, Xid
from binspark.frames import ChecksumAlgorithm, Family, HeaderFlag
from binspark.frames import EventCode as E
from binspark.frames.payload import PayloadCompression
from binspark.gtid import Gtid, GtidSet, MariadbGtid
from binspark.testing.builder.events import ANONYMOUS, IdentityEvents, OtherEvents, RowEvents, StatementEvents
from binspark.testing.builder.server_kinds import MYSQL_9_7, ServerKind
from binspark.testing.builder.tables import COMPRESSED_V1, Change
from binspark.testing.builder.writer import EventSpec, LogFile

_FIRST_POSITION = 4
_XA_FORMAT = 1


class BinlogBuilder(StatementEvents, RowEvents, IdentityEvents, OtherEvents):
    """Builds the log of a server, file by file.

    >>> orders = table("shop.orders", integer("id"), varchar("note", 40))
    >>> log = BinlogBuilder(MYSQL_9_7)
    >>> log.ddl("CREATE TABLE orders (id INT, note VARCHAR(10))", schema="shop")
    >>> log.transaction(insert(orders, (1, "first"), (2, None)), update(orders, ((1, "first"), (1, "new"))))
    >>> log.rotate()
    >>> log.stop()
    >>> [file.name for file in log.files]
    ['binlog.000001', 'binlog.000002']

    Methods for what a server does: `transaction`, `ddl`, `rotate`, `stop`, `mark_in_use`. Methods for single events:
    `query`, `table_map`, `rows`, `xid`, … one for each type. `raw` writes an event from bytes, with wrong values if a
    test needs them:

    >>> log = BinlogBuilder(MARIADB_11_8)
    >>> log.raw(type_code=16, body=bytes(8), overrides=Overrides(next_position=0))  # a XID without its position

    A relay log is a builder with `relay=True`, to which `artificial_rotate` and `copy` add the events of the source.

    server      the version whose format is written, such as `MYSQL_8_0`; `ALL_SERVERS` has all of them
    checksum    CRC32 where the server version supports it, unless given
    base_name   the name of the files without their number
    relay       whether it is a relay log
    """

    def __init__(
        self,
        server: ServerKind = MYSQL_9_7,
        *,
        checksum: ChecksumAlgorithm | None = None,
        base_name: str = "binlog",
        relay: bool = False,
    ) -> None:
        super().__init__(server, checksum=checksum, base_name=base_name, relay=relay)
        self.executed = GtidSet()
        self.mariadb_state: dict[tuple[int, int], MariadbGtid] = {}
        self._last_xid = 10
        self._last_number = 0
        self.start_file()

    def transaction(
        self,
        *changes: Change | str,
        gtid: str | None = None,
        compress: PayloadCompression | Literal[True] | None = None,
        xa: bytes | None = None,
        text: str | None = None,
    ) -> None:
        """Write a transaction: rows that changed, or statements.

        gtid      its GTID; None for the next one of the server, "anonymous" for a transaction without
        compress  MySQL: write a TRANSACTION_PAYLOAD, with zstd if True. MariaDB: compress the rows
        xa        prepare the XA transaction of this name instead of committing
        text      the original statement, written as ROWS_QUERY or ANNOTATE_ROWS
        """
        specs = [
            *self._opening(xa),
            *self._text(text),
            *self._inside(changes, compressed=compress is not None),
            *self._end(xa),
        ]
        if compress is not None and self.server.family is Family.MYSQL:
            compression = PayloadCompression.ZSTD if compress is True else compress
            specs = [self.payload_spec(specs, compression)]
        statements = any(isinstance(change, str) for change in changes)
        self._write_group(specs, gtid, MariadbGtidFlag.TRANSACTIONAL, may_have_sbr=statements)

    def ddl(self, sql: str, schema: str = "", *, gtid: str | None = None) -> None:
        """Write a statement that is a transaction of its own."""
        flags = MariadbGtidFlag.STANDALONE | MariadbGtidFlag.DDL
        self._write_group([self.query_spec(sql, schema)], gtid, flags, may_have_sbr=True)

    def rotate(self, next_file: str | None = None) -> None:
        """Write ROTATE, and continue in the next file."""
        name = next_file or self._file_name(len(self.files) + 1)
        self.event(E.ROTATE, Rotate(_FIRST_POSITION, name))
        self.start_file(name, create_timestamp=0)

    def artificial_rotate(self, file: str, position: int = _FIRST_POSITION) -> None:
        """Write the artificial ROTATE with which a source begins a stream: it has no timestamp, and a flag."""
        now, self.timestamp = self.timestamp, 0
        self.event(E.ROTATE, Rotate(position, file), HeaderFlag.ARTIFICIAL)
        self.timestamp = now

    def stop(self) -> None:
        """Write STOP, as a server that shuts down."""
        self.event(E.STOP, Stop())

    def mark_in_use(self) -> None:
        """Mark the file as in use, like the active log of a server, or its last one after a crash."""
        self.file.mark_in_use()

    def start_file(self, name: str | None = None, *, create_timestamp: int | None = None) -> None:
        """Begin a file as a server does: with a format description, and the GTIDs of the files before it."""
        self.files.append(LogFile(name or self._file_name(len(self.files) + 1), self.format))
        self.sequence_number = 0
        if not self.format.is_v4:
            self.start_v3()
            return
        self.format_description(self.timestamp if create_timestamp is None else create_timestamp)
        if self.server.has_gtids:
            self._write_earlier_gtids()

    def format_description(self, create_timestamp: int = 0) -> None:
        """Write FORMAT_DESCRIPTION."""
        body = self.server.format_description(self.format.checksum, create_timestamp)
        self.event(E.FORMAT_DESCRIPTION, body, HeaderFlag.RELAY_LOG if self.relay else 0)

    def _write_earlier_gtids(self) -> None:
        if self.server.family is Family.MYSQL:
            self.previous_gtids(self.executed)
            return
        self.gtid_list(tuple(self.mariadb_state.values()))
        self.binlog_checkpoint(self.file.name)

    def _opening(self, xa: bytes | None) -> list[EventSpec]:
        if self.server.family is Family.MARIADB and xa is None:
            return []  # the GTID event is the BEGIN
        return [self.query_spec("BEGIN" if xa is None else f"XA START {_xa_name(xa)}")]

    def _text(self, text: str | None) -> list[EventSpec]:
        if text is None:
            return []
        return [self.rows_query_spec(text) if self.server.family is Family.MYSQL else self.annotate_rows_spec(text)]

    def _inside(self, changes: Iterable[Change | str], *, compressed: bool) -> list[EventSpec]:
        codes = COMPRESSED_V1 if compressed and self.server.family is Family.MARIADB else self.default_rows_codes()
        tables = tuple(change for change in changes if isinstance(change, Change))
        rows = iter(self.change_specs(tables, codes))
        specs: list[EventSpec] = []
        for change in changes:
            specs += [self.query_spec(change)] if isinstance(change, str) else [next(rows), next(rows)]
        return specs

    def _end(self, xa: bytes | None) -> list[EventSpec]:
        if xa is not None:
            end = self.query_spec(f"XA END {_xa_name(xa)}")
            return [end, EventSpec(E.XA_PREPARE, XaPrepare(False, _XA_FORMAT, xa, b""))]
        if not self.format.is_v4:
            return [self.query_spec("COMMIT")]
        self._last_xid += 1
        return [EventSpec(E.XID, Xid(self._last_xid))]

    def _write_group(self, specs: list[EventSpec], gtid: str | None, mariadb_flags: int, *, may_have_sbr: bool) -> None:
        """Write events after the GTID event that their server writes."""
        if self.server.has_gtids and self.server.family is Family.MYSQL:
            self._write_with_mysql_gtid(specs, gtid, may_have_sbr=may_have_sbr)
            return
        if self.server.has_gtids:
            identifier = self._next_mariadb_gtid(gtid)
            self.server_id = identifier.server
            self.event(*self.mariadb_gtid_spec(identifier, mariadb_flags))
        self.write(specs)

    def _write_with_mysql_gtid(self, specs: list[EventSpec], gtid: str | None, *, may_have_sbr: bool) -> None:
        """Write a transaction after its GTID event, whose own size is part of the transaction length in it."""
        identifier = self._next_gtid(gtid)
        self.sequence_number += 1
        rest, length = sum(map(self.size_of, specs)), -1
        opening = self.gtid_spec(identifier, rest, may_have_sbr=may_have_sbr)
        while length != rest + self.size_of(opening):
            length = rest + self.size_of(opening)
            opening = self.gtid_spec(identifier, length, may_have_sbr=may_have_sbr)
        self.write([opening, *specs])

    def _next_gtid(self, gtid: str | None) -> Gtid | None:
        if gtid == ANONYMOUS:
            return None
        chosen = Gtid.parse(gtid) if gtid else Gtid(self.server_uuid, self._last_number + 1)
        if chosen.source == (self.server_uuid, ""):
            self._last_number = max(self._last_number, chosen.number)
        self.executed |= GtidSet.of([chosen])
        return chosen

    def _next_mariadb_gtid(self, gtid: str | None) -> MariadbGtid:
        last = self.mariadb_state.get((0, self.server_id))
        following = MariadbGtid(0, self.server_id, last.sequence + 1 if last else 1)
        chosen = MariadbGtid(*map(int, gtid.split("-"))) if gtid else following
        self.mariadb_state[chosen.domain, chosen.server] = chosen
        return chosen

    def _file_name(self, number: int) -> str:
        return f"{self.base_name}.{number:06}"


def _xa_name(gtrid: bytes) -> str:
    return XaPrepare(False, _XA_FORMAT, gtrid, b"").name
