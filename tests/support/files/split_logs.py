"""Logs for tests of splits: every way in which a transaction begins, and bytes that look like one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

from binspark.event import encode_body
from binspark.event.mariadb import MariadbGtidFlag
from binspark.frames import ChecksumAlgorithm
from binspark.testing.builder import (
    MARIADB_10_11,
    MARIADB_11_8,
    MYSQL_5_5,
    MYSQL_5_6,
    MYSQL_9_7,
    BinlogBuilder,
    Change,
    EventSpec,
    Overrides,
    blob,
    delete,
    insert,
    integer,
    table,
    update,
    varchar,
)

ORDERS = table("shop.orders", integer("id"), varchar("note", 40))
DOCUMENTS = table("shop.documents", integer("id"), replace(blob("doc", 3), is_text=False))
ITEMS = table("shop.items", integer("id"))
CHECKSUMS = (ChecksumAlgorithm.CRC32, ChecksumAlgorithm.NONE)


@dataclass(frozen=True)
class BuiltLog:
    """A log.

    starts   the offsets of transactions at which a split can start
    ends     the offsets at which transactions end, and statements outside of transactions
    """

    content: bytes
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def parts(self) -> list[range]:
        """Return the range of bytes of each transaction: up to the next one."""
        ends = (*self.starts[1:], len(self.content))
        return [range(start, end) for start, end in zip(self.starts, ends, strict=True)]


class Writer:
    """Writes transactions in one of the ways in which servers do, and records where they begin."""

    def __init__(self, log: BinlogBuilder) -> None:
        self.log = log
        self.starts: list[int] = []
        self.ends: list[int] = []

    def transaction(self, *changes: Change) -> None:
        self.starts.append(self.log.offset)
        self.write(*changes)
        self.ends.append(self.log.offset)

    def ddl(self, sql: str) -> None:
        self.starts.append(self.log.offset)
        self.log.ddl(sql, "shop")
        self.ends.append(self.log.offset)

    def made(self) -> BuiltLog:
        return BuiltLog(self.log.content, tuple(self.starts), tuple(self.ends))

    def write(self, *changes: Change) -> None:
        self.log.transaction(*changes)


class Anonymous(Writer):
    def write(self, *changes: Change) -> None:
        self.log.transaction(*changes, gtid="anonymous")


class Tagged(Writer):
    def write(self, *changes: Change) -> None:
        self.log.transaction(*changes, gtid=f"{self.log.server_uuid}:blue:{len(self.starts)}")


class Compressed(Writer):
    def write(self, *changes: Change) -> None:
        self.log.transaction(*changes, compress=True)


class Unnamed(Writer):
    """A server that writes BEGIN without a GTID; statements belong to the split of the transaction before them."""

    def ddl(self, sql: str) -> None:
        self.log.query(sql, "shop")
        self.ends.append(self.log.offset)

    def write(self, *changes: Change) -> None:
        log = self.log
        log.write([log.query_spec("BEGIN"), *log.change_specs(changes, log.default_rows_codes())])
        log.xid(7)


class Large(Writer):
    """A server that writes a LARGE_TRANSACTION_HEADER after the GTID."""

    def write(self, *changes: Change) -> None:
        log = self.log
        log.gtid(f"{log.server_uuid}:{len(self.starts)}")
        log.large_transaction_header(0)
        log.write([log.query_spec("BEGIN"), *log.change_specs(changes, log.default_rows_codes())])
        log.xid(7)


class ZeroPositions(Writer):
    """MariaDB since 11.4: events inside transactions have next position 0."""

    def write(self, *changes: Change) -> None:
        log = self.log
        log.mariadb_gtid(f"0-1-{len(self.starts)}", MariadbGtidFlag.TRANSACTIONAL)
        for part in log.change_specs(changes, log.default_rows_codes()):
            self._raw(part)
        log.xid(7)

    def _raw(self, part: EventSpec) -> None:
        body = encode_body(part.type_code, part.body, self.log.format)
        self.log.raw(part.type_code, body, part.flags, Overrides(next_position=0))


_WRITERS = {
    "named": (MYSQL_9_7, Writer),
    "anonymous": (MYSQL_9_7, Anonymous),
    "tagged": (MYSQL_9_7, Tagged),
    "compressed": (MYSQL_9_7, Compressed),
    "large": (MYSQL_9_7, Large),
    "5.6-named": (MYSQL_5_6, Writer),
    "5.6-unnamed": (MYSQL_5_6, Unnamed),
    "mariadb": (MARIADB_10_11, Writer),
    "mariadb-compressed": (MARIADB_10_11, Compressed),
    "mariadb-zero": (MARIADB_11_8, ZeroPositions),
}
KINDS = (
    "5.5-plain",
    *(f"{name}-{checksum.name.lower()}" for name in _WRITERS for checksum in CHECKSUMS),
)
"""Every way to write a log, with checksums and without."""


def writer_of(kind: str) -> Writer:
    """Begin a log of a kind."""
    if kind == "5.5-plain":
        return Unnamed(BinlogBuilder(MYSQL_5_5))
    name, _, checksum = kind.rpartition("-")
    server, writer = _WRITERS[name]
    return writer(BinlogBuilder(server, checksum=ChecksumAlgorithm[checksum.upper()]))


def write_transactions(writer: Writer, *, blob_bytes: int = 900) -> None:
    """Write transactions small and large, DDL between them, and one with a log of the same kind in a value."""
    writer.transaction(insert(ORDERS, (1, "one"), (2, None)))
    writer.ddl("CREATE TABLE elsewhere (id INT)")
    writer.transaction(update(ORDERS, ((1, "one"), (1, "uno"))), insert(ITEMS, (7,), (8,)))
    writer.transaction(*(insert(DOCUMENTS, (number, bytes([number]) * blob_bytes)) for number in range(3)))
    writer.ddl("DROP TABLE elsewhere")
    writer.transaction(insert(DOCUMENTS, (9, _small_log(writer))))
    writer.transaction(delete(ITEMS, (7,)))
    writer.transaction(delete(ORDERS, (1, "uno")))


def _small_log(writer: Writer) -> bytes:
    inside = BinlogBuilder(writer.log.server, checksum=writer.log.format.checksum)
    inside.transaction(insert(ITEMS, (1,)))
    inside.transaction(insert(ITEMS, (2,)))
    return inside.content


@cache
def built_log(kind: str, blob_bytes: int = 900) -> BuiltLog:
    """Return a log of a kind."""
    writer = writer_of(kind)
    write_transactions(writer, blob_bytes=blob_bytes)
    writer.log.stop()
    return writer.made()


def flipped(content: bytes, offset: int, mask: int = 0x01) -> bytes:
    """Return a log with one wrong byte."""
    return content[:offset] + bytes((content[offset] ^ mask,)) + content[offset + 1 :]


def overwritten(content: bytes, offset: int, new: bytes) -> bytes:
    return content[:offset] + new + content[offset + len(new) :]
