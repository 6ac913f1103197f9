"""Damaged logs in bulk: the rows before the damage, and the error that the object API raises."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

import pytest

from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.event import Rows
from binspark.event.rows import RowOperation
from binspark.frames import EventCode as E
from binspark.frames.format import ChecksumAlgorithm
from binspark.testing.builder import (
    MARIADB_12_3,
    MYSQL_3_23,
    MYSQL_4_1,
    MYSQL_5_0,
    MYSQL_5_1_PRE_RELEASE,
    MYSQL_5_5,
    MYSQL_9_7,
    BinlogBuilder,
    EventSpec,
    ServerKind,
    delete,
    insert,
    integer,
    table,
    update,
    varchar,
)
from tests.support.columns.bulk import bulk_outcome, read_outcome
from tests.support.columns.outcome import Outcome
from tests.support.columns.reference import ReferenceReader

FILE = "binlog.000001"
ORDERS = table("shop.orders", integer("id"), varchar("note", 40))
ITEMS = table("shop.items", integer("id"))


def small_log(server: ServerKind, checksum: ChecksumAlgorithm, *, compress: bool = False) -> bytes:
    log = BinlogBuilder(server, checksum=checksum)
    log.ddl("CREATE TABLE orders (id INT, note VARCHAR(10))", schema="shop")
    changes = (insert(ORDERS, (1, "one"), (2, None)), insert(ITEMS, (7,)), update(ORDERS, ((1, "one"), (1, "new"))))
    log.transaction(*changes, compress=compress or None)
    log.transaction(delete(ORDERS, (1, "new")))
    log.stop()
    return log.content


def both(log: bytes) -> tuple[Outcome, Outcome]:
    selection = Selection(before=True)
    return bulk_outcome(log, selection, file=FILE), ReferenceReader(selection).read(log, FILE)


def all_damaged(logs: Iterable[bytes]) -> Iterator[tuple[Outcome, Outcome]]:
    """Read one damaged log after the other with the same two readers: what was wrong before must not matter."""
    selection = Selection(before=True)
    bulk, reference = BatchReader(selection), ReferenceReader(selection)
    for log in logs:
        yield read_outcome(bulk, io.BytesIO(log).readinto, FILE), reference.read(log, FILE)
    assert bulk.disagreements == 0


def overwritten(log: bytes, offset: int, value: int) -> bytes:
    return log[:offset] + bytes([value]) + log[offset + 1 :]


LOGS = {
    "mysql": small_log(MYSQL_9_7, ChecksumAlgorithm.CRC32),
    "mysql without checksums": small_log(MYSQL_9_7, ChecksumAlgorithm.NONE),
    "mysql compressed": small_log(MYSQL_9_7, ChecksumAlgorithm.CRC32, compress=True),
    "mariadb": small_log(MARIADB_12_3, ChecksumAlgorithm.CRC32),
    "mariadb compressed": small_log(MARIADB_12_3, ChecksumAlgorithm.CRC32, compress=True),
}


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS.keys())
def test_a_log_that_ends_anywhere_is_refused_alike(log: bytes) -> None:
    for found, expected in all_damaged(log[:length] for length in range(len(log))):
        assert found == expected


@pytest.mark.parametrize("name", ["mysql", "mysql compressed", "mariadb", "mariadb compressed"])
@pytest.mark.parametrize("bits", [(0, 7), pytest.param((7, 0), marks=pytest.mark.slow)], ids=str)
def test_a_flipped_bit_is_refused_alike(name: str, bits: tuple[int, int]) -> None:
    """One bit of each byte: the first at even offsets, the second at odd ones."""
    log = LOGS[name]
    for found, expected in all_damaged(overwritten(log, at, log[at] ^ 1 << bits[at % 2]) for at in range(len(log))):
        assert found == expected


@pytest.mark.parametrize("value", [0xFF, *(pytest.param(value, marks=pytest.mark.slow) for value in (0x00, 0x7F))])
def test_without_checksums_any_byte_is_read_or_refused(value: int) -> None:
    log = LOGS["mysql without checksums"]
    rows = both(log)[1].tables["shop.orders"]
    last_event = rows[-1].pos
    damaged = (overwritten(log, at, value) for at in range(last_event, len(log)))
    for found, _ in all_damaged(damaged):
        assert list(found.tables["shop.orders"])[: len(rows) - 1] == rows[:-1]
    assert [found for found, _ in all_damaged(overwritten(log, at, value) for at in range(4, last_event))]


@pytest.mark.parametrize("size", [0, 1, 18, 19, 22])
@pytest.mark.parametrize("name", ["mysql", "mysql without checksums"])
def test_an_event_smaller_than_its_header_is_refused_alike(name: str, size: int) -> None:
    log = LOGS[name]
    last = log.rindex(b"\x03\x01\x00\x00\x00") - 4
    found, expected = both(log[: last + 9] + size.to_bytes(4, "little") + log[last + 13 :])
    assert found == expected


@pytest.mark.parametrize("server", [MYSQL_3_23, MYSQL_4_1, MYSQL_5_0, MYSQL_5_1_PRE_RELEASE, MYSQL_5_5], ids=str)
def test_logs_of_old_servers_are_read_or_refused_alike(server: ServerKind) -> None:
    log = BinlogBuilder(server)
    log.ddl("CREATE TABLE orders (id INT, note VARCHAR(10))", schema="shop")
    log.transaction("INSERT INTO orders VALUES (1, 'x')")
    log.stop()
    found, expected = both(log.content)
    assert found == expected


@pytest.mark.parametrize("server", [MYSQL_5_1_PRE_RELEASE, MYSQL_5_5], ids=str)
def test_rows_of_old_servers_are_read_or_refused_alike(server: ServerKind) -> None:
    log = BinlogBuilder(server)
    log.transaction(insert(ORDERS, (1, "one"), (2, None)), insert(ITEMS, (7,)))
    log.stop()
    found, expected = both(log.content)
    assert found == expected


def test_a_payload_inside_a_payload_is_refused() -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ITEMS, (7,)))
    inner = log.payload_spec([EventSpec(E.TABLE_MAP, ITEMS.table_map(9))])
    log.transaction_payload([inner])
    found, expected = both(log.content)
    assert found == expected
    assert found.refusal is not None


def test_rows_without_a_table_map_are_refused_alike() -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ITEMS, (7,)))
    log.event(E.WRITE_ROWS, Rows(RowOperation.INSERT, 999, 1, (), 1, b"\x01", None, b"\x00\x01\x00\x00\x00"))
    found, expected = both(log.content)
    assert found == expected
    assert found.refusal is not None
