"""A builder writes the events that were described, byte for byte in the layout of a server."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.errors import EncodeError
from binspark.event import Event, PreviousGtids, Rotate, decode_event
from binspark.frames import MAGIC, ChecksumAlgorithm, ChecksumState, EventCode, Framer, type_name
from binspark.frames.payload import PayloadCompression
from binspark.testing import builder
from binspark.testing.builder import (
    ALL_SERVERS,
    MARIADB_10_11,
    MYSQL_3_23,
    MYSQL_4_1,
    MYSQL_5_1_PRE_RELEASE,
    MYSQL_5_5,
    MYSQL_9_7,
    BinlogBuilder,
    EventSpec,
    Overrides,
    ServerKind,
    blob,
    delete,
    double,
    insert,
    integer,
    table,
    update,
    varchar,
)
from binspark.testing.builder.tables import COMPRESSED_V1, COMPRESSED_V2, PARTIAL, PRE_GA, V1, V2, RowsCodes
from tests.support.event.decoding import read_log
from tests.support.event.event_strategies import EVENTS

E = EventCode
TABLE = table("shop.t", integer("id"), varchar("note", 300), double("ratio"), blob("picture"))
ROW = (1, "x", 0.5, b"\0\1")
UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"


def _all_rows(codes: RowsCodes) -> dict[int, Callable[[BinlogBuilder], None]]:
    return {
        codes.insert: lambda log: log.rows(insert(TABLE, ROW), codes=codes),
        codes.update: lambda log: log.rows(update(TABLE, (ROW, ROW)), codes=codes),
        codes.delete: lambda log: log.rows(delete(TABLE, ROW), codes=codes),
    }


WRITES: dict[int, Callable[[BinlogBuilder], None]] = {
    E.UNKNOWN: lambda log: log.unknown(b"?"),
    E.START_V3: lambda log: log.start_v3(),
    E.QUERY: lambda log: log.query("CREATE TABLE t (a INT)", "shop"),
    E.STOP: lambda log: log.stop(),
    E.ROTATE: lambda log: log.artificial_rotate("binlog.000007"),
    E.INTVAR: lambda log: log.insert_id(5),
    E.LOAD: lambda log: log.load("shop", "t", "x.txt", ("a", "b")),
    E.SLAVE: lambda log: log.slave("source", "binlog.000001"),
    E.CREATE_FILE: lambda log: log.create_file(1, b"block", "shop", "t", "x.txt", ("a",)),
    E.APPEND_BLOCK: lambda log: log.append_block(1, b"block"),
    E.EXEC_LOAD: lambda log: log.exec_load(1),
    E.DELETE_FILE: lambda log: log.delete_file(1),
    E.NEW_LOAD: lambda log: log.new_load("shop", "t", "x.txt", ("a", "b")),
    E.RAND: lambda log: log.rand(1, 2),
    E.USER_VAR: lambda log: log.user_var("v", Decimal("1.50")),
    E.FORMAT_DESCRIPTION: lambda log: log.format_description(),
    E.XID: lambda log: log.xid(7),
    E.BEGIN_LOAD_QUERY: lambda log: log.begin_load_query(1, b"block"),
    E.EXECUTE_LOAD_QUERY: lambda log: log.execute_load_query(1, "LOAD DATA INFILE 'x' INTO TABLE t", "x"),
    E.TABLE_MAP: lambda log: log.table_map(TABLE),
    E.INCIDENT: lambda log: log.incident("lost"),
    E.HEARTBEAT: lambda log: log.heartbeat("binlog.000001"),
    E.IGNORABLE: lambda log: log.ignorable(b"?"),
    E.ROWS_QUERY: lambda log: log.rows_query("INSERT …"),
    E.GTID: lambda log: log.gtid(f"{UUID}:1"),
    E.ANONYMOUS_GTID: lambda log: log.gtid(None),
    E.PREVIOUS_GTIDS: lambda log: log.previous_gtids(f"{UUID}:1-5"),
    E.TRANSACTION_CONTEXT: lambda log: log.transaction_context(f"{UUID}:1-5", (b"w",), (b"r",)),
    E.VIEW_CHANGE: lambda log: log.view_change("1:2", 3, ((b"k", b"v"),)),
    E.XA_PREPARE: lambda log: log.xa_prepare(b"tx1"),
    E.TRANSACTION_PAYLOAD: lambda log: log.transaction_payload([], PayloadCompression.NONE),
    E.HEARTBEAT_V2: lambda log: log.heartbeat_v2("binlog.000001", 1 << 33),
    E.GTID_TAGGED: lambda log: log.gtid(f"{UUID}:tag:1"),
    E.LARGE_TRANSACTION_HEADER: lambda log: log.large_transaction_header(500, padding=3),
    E.ANNOTATE_ROWS: lambda log: log.annotate_rows("INSERT …"),
    E.BINLOG_CHECKPOINT: lambda log: log.binlog_checkpoint("binlog.000001"),
    E.MARIADB_GTID: lambda log: log.mariadb_gtid("0-1-7"),
    E.GTID_LIST: lambda log: log.gtid_list(()),
    E.START_ENCRYPTION: lambda log: log.start_encryption(bytes(12)),
    E.QUERY_COMPRESSED: lambda log: log.query_compressed("SELECT 1"),
    E.PARTIAL_ROW_DATA: lambda log: log.partial_row_data(b"rows", 10),
    **_all_rows(PRE_GA),
    **_all_rows(V1),
    **_all_rows(V2),
    **_all_rows(PARTIAL),
    **_all_rows(COMPRESSED_V1),
    **_all_rows(COMPRESSED_V2),
}


def types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


@pytest.mark.parametrize("type_code", sorted(EVENTS), ids=type_name)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_builder_writes_any_body_of_every_type(type_code: int, data: st.DataObject) -> None:
    body = data.draw(EVENTS[type_code])
    log = BinlogBuilder(MYSQL_9_7)
    log.event(type_code, body)
    *_, frame = Framer().feed(log.content)
    assert (frame.type_code, decode_event(frame).body) == (type_code, body)


@pytest.mark.parametrize("type_code", sorted(WRITES), ids=lambda code: EventCode(code).name)
@pytest.mark.parametrize("kind", [MYSQL_5_5, MYSQL_9_7, MARIADB_10_11], ids=lambda kind: kind.server_version)
def test_each_method_writes_one_event_of_its_type(type_code: int, kind: ServerKind) -> None:
    log = BinlogBuilder(kind)
    before = len(read_log(log.content))
    WRITES[type_code](log)
    events = read_log(log.content)
    assert (len(events), events[-1].type_code, events[-1].extra) == (before + 1, type_code, b"")


@pytest.mark.parametrize("kind", ALL_SERVERS, ids=lambda kind: kind.server_version)
def test_a_log_of_every_server_chains_from_the_magic_to_the_end(kind: ServerKind) -> None:
    log = BinlogBuilder(kind)
    log.ddl("CREATE TABLE t (a INT)", "shop")
    log.transaction("INSERT INTO t VALUES (1)")
    log.rotate()
    log.stop()
    for file in log.files:
        events = read_log(file.content)
        assert file.content.startswith(MAGIC)
        assert events[0].offset == len(MAGIC)
        assert events[-1].end_offset == len(file.content)
        assert all(event.end_offset == after.offset for event, after in pairwise(events))
        assert events[0].body.server_version == kind.server_version


def test_the_next_position_is_the_end_of_the_event() -> None:
    log = BinlogBuilder()
    log.transaction(insert(TABLE, ROW))
    assert all(event.header.next_position == event.end_offset for event in read_log(log.content))


def test_version_1_has_headers_of_13_bytes_and_version_3_of_19() -> None:
    assert len(BinlogBuilder(MYSQL_3_23).content) == 4 + 13 + 56
    assert len(BinlogBuilder(MYSQL_4_1).content) == 4 + 19 + 56


def test_a_pre_release_of_5_1_has_its_own_type_codes() -> None:
    log = BinlogBuilder(MYSQL_5_1_PRE_RELEASE)
    log.transaction(update(TABLE, (ROW, ROW)))
    events = read_log(log.content)
    assert types(events) == ["FORMAT_DESCRIPTION", "QUERY", "TABLE_MAP", "PRE_GA_UPDATE_ROWS", "XID"]
    assert [event.header.type_code for event in events] == [15, 2, 16, 18, 20]


def test_checksums_match_the_algorithm_of_the_log() -> None:
    with_checksums, without = BinlogBuilder(), BinlogBuilder(checksum=ChecksumAlgorithm.NONE)
    with_checksums.stop()
    without.stop()
    assert [event.checksum for event in read_log(with_checksums.content)] == [ChecksumState.OK] * 3
    none = ChecksumState.NONE
    assert [event.checksum for event in read_log(without.content)] == [ChecksumState.OK, none, none]


def test_a_log_in_use_differs_by_one_bit_and_its_checksum_still_matches() -> None:
    log = BinlogBuilder()
    closed = log.content
    log.mark_in_use()
    assert [at for at, (a, b) in enumerate(zip(closed, log.content, strict=True)) if a != b] == [4 + 17]
    assert read_log(log.content)[0].header.flags == 1


def test_rotation_names_the_next_file_which_begins_with_previous_gtids() -> None:
    log = BinlogBuilder()
    log.transaction(insert(TABLE, ROW))
    log.transaction(insert(TABLE, ROW), gtid=f"{UUID}:night:5")
    log.rotate()
    log.transaction(insert(TABLE, ROW))
    assert [file.name for file in log.files] == ["binlog.000001", "binlog.000002"]
    assert read_log(log.files[0].content)[-1].body == Rotate(4, "binlog.000002")
    second = read_log(log.files[1].content)
    assert isinstance(second[1].body, PreviousGtids)
    assert str(second[1].body.gtid_set) == f"{UUID}:1:night:5"
    assert (second[2].body.gno, second[2].body.last_committed, second[2].body.sequence_number) == (2, 0, 1)


@pytest.mark.parametrize("rows", [1, 9, 10_000])
def test_a_gtid_event_has_the_length_of_its_transaction(rows: int) -> None:
    log = BinlogBuilder()
    start = log.offset
    log.transaction(insert(TABLE, *[ROW] * rows))
    gtid = read_log(log.content)[2]
    assert gtid.body.transaction_length == log.offset - start


def test_a_payload_contains_the_complete_transaction() -> None:
    log = BinlogBuilder()
    log.transaction(insert(TABLE, ROW), compress=True)
    events = read_log(log.content)
    assert types(events)[3:] == ["TRANSACTION_PAYLOAD", "QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"]
    assert [event.header.next_position for event in events[4:]] == [0, 0, 0, 0]
    assert [event.inner for event in events[4:]] == [0, 1, 2, 3]


def test_mariadb_writes_no_begin_and_a_gtid_event_of_42_bytes() -> None:
    log = BinlogBuilder(MARIADB_10_11)
    log.transaction(insert(TABLE, ROW), gtid="1-7-3")
    events = read_log(log.content)[3:]
    assert types(events) == ["MARIADB_GTID", "TABLE_MAP", "WRITE_ROWS_V1", "XID"]
    assert (events[0].header.event_size, {event.header.server_id for event in events}) == (42, {7})


def test_positions_wrap_past_4_gib(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.skip_to((1 << 32) - 20)
    log.xid(1)
    log.xid(2)
    framer = Framer(log.format, (1 << 32) - 20)
    first, second = (decode_event(frame) for frame in framer.feed(log.file.tail))
    assert (first.end_offset, first.header.next_position) == ((1 << 32) + 11, 11)
    assert (second.end_offset, second.header.next_position) == ((1 << 32) + 42, 42)
    with pytest.raises(EncodeError, match="hole before offset 4294967276"):
        _ = log.content
    (path,) = log.save(tmp_path)
    assert path.stat().st_size == second.end_offset


def test_an_event_can_be_written_with_wrong_values() -> None:
    log = BinlogBuilder()
    log.raw(E.XID, bytes(8), overrides=Overrides(event_size=18, next_position=5, checksum=b"none"))
    assert log.content[-31:].hex() == "80e14e681001000000120000000500000000000000000000000000" + b"none".hex()


def test_a_payload_may_contain_any_events() -> None:
    log = BinlogBuilder()
    log.transaction_payload([log.query_spec("BEGIN"), EventSpec(E.TABLE_MAP, TABLE.table_map(5))])
    assert types(read_log(log.content))[2:] == ["TRANSACTION_PAYLOAD", "QUERY", "TABLE_MAP"]


@pytest.mark.parametrize("module", [builder, builder.builder, builder.tables], ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_are_correct(module: ModuleType) -> None:
    names = {name: getattr(builder, name) for name in builder.__all__}
    result = doctest.testmod(module, extraglobs=names)
    assert (result.failed, result.attempted > 1) == (0, True)
