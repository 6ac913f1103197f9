"""Logs for tests of the transaction grammar: events in any order, and transactions as servers write them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

from hypothesis import strategies as st

from binspark.event.mariadb import MariadbGtidFlag
from binspark.event.rotate import Rotate
from binspark.frames import ChecksumAlgorithm, Family
from binspark.frames import EventCode as E
from binspark.testing.builder import (
    MARIADB_10_5,
    MARIADB_12_3,
    MYSQL_5_5,
    MYSQL_5_7,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
    integer,
    table,
)

Step = Callable[[BinlogBuilder], None]

UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
ITEMS = table("shop.items", integer("id"))
OTHERS = table("shop.others", integer("id"))
SERVERS: tuple[ServerKind, ...] = (MYSQL_9_7, MYSQL_5_7, MYSQL_5_5, MARIADB_12_3, MARIADB_10_5)
STATEMENTS = (
    *("BEGIN", "BEGIN", "BEGIN", "begin", " BEGIN;", "BEGIN WORK", "START TRANSACTION", "BEGINNING"),
    *("COMMIT", "COMMIT", "COMMIT", "commit", "COMMIT ;", "COMMIT /* x */", "COMMITTED", "ROLLBACK", "rollback"),
    *("ROLLBACK TO a", "ROLLBACK TO SAVEPOINT a", "SAVEPOINT a", "RELEASE SAVEPOINT a", "RELEASE ALL"),
    *("XA START 'a'", "xa begin 'a'", "XA END 'a'", "XA PREPARE 'a'", "XA COMMIT 'a'", "XA COMMIT 'a' ONE PHASE"),
    *("XA ROLLBACK 'a'", "XA RECOVER", "INSERT INTO t VALUES (1)", "CREATE TABLE t (id INT)", "x", ""),
)


def _rows(log: BinlogBuilder, *, last: bool) -> None:
    [table_map, rows] = log.change_specs((insert(ITEMS, (1,)),), log.default_rows_codes())
    log.write([table_map, rows._replace(body=replace(rows.body, flags=int(last)))])


def _payload(log: BinlogBuilder) -> None:
    parts = [log.query_spec("BEGIN"), *log.change_specs((insert(ITEMS, (1,)),), log.default_rows_codes())]
    log.transaction_payload([*parts, log.query_spec("COMMIT")])


_ANY_LOG: tuple[Step, ...] = (
    *(partial(BinlogBuilder.query, sql=sql) for sql in STATEMENTS),
    *(partial(BinlogBuilder.xid, number=7), partial(BinlogBuilder.xid, number=8)),
    *(partial(_rows, last=True), partial(_rows, last=True), partial(_rows, last=False)),
    partial(BinlogBuilder.insert_id, value=3),
    partial(BinlogBuilder.user_var, name="a", value=1),
    partial(BinlogBuilder.rand, seed1=1, seed2=2),
    partial(BinlogBuilder.begin_load_query, file_id=1, block=b"1"),
    partial(BinlogBuilder.append_block, file_id=1, block=b"2"),
    partial(BinlogBuilder.delete_file, file_id=1),
    partial(BinlogBuilder.execute_load_query, file_id=1, sql="LOAD DATA INFILE 'f' INTO TABLE t", file_name="f"),
    partial(BinlogBuilder.incident, message="lost"),
    partial(BinlogBuilder.event, type_code=E.ROTATE, body=Rotate(4, "binlog.000002")),
    BinlogBuilder.stop,
)
_UNKNOWN: Step = partial(BinlogBuilder.unknown, body=b"?", type_code=200)
_MYSQL: tuple[Step, ...] = (
    *(partial(BinlogBuilder.gtid, gtid=f"{UUID}:{number}") for number in (1, 2, 3)),
    partial(BinlogBuilder.gtid, gtid=None),
    partial(BinlogBuilder.rows_query, sql="INSERT"),
    partial(BinlogBuilder.xa_prepare, gtrid=b"a"),
    partial(BinlogBuilder.xa_prepare, gtrid=b"a", one_phase=True),
)
_MYSQL_8: tuple[Step, ...] = (
    *_MYSQL,
    partial(BinlogBuilder.gtid, gtid=f"{UUID}:tag:1"),
    partial(BinlogBuilder.large_transaction_header, end_offset=1000),
    partial(BinlogBuilder.transaction_context, snapshot="", write_set=(), read_set=()),
    partial(BinlogBuilder.view_change, view_id="1:1", sequence_number=1),
    partial(BinlogBuilder.previous_gtids, gtid_set=""),
    _payload,
)
_MARIADB: tuple[Step, ...] = (
    *(partial(BinlogBuilder.mariadb_gtid, gtid=f"0-1-{number}") for number in (1, 2, 3)),
    *(partial(BinlogBuilder.mariadb_gtid, gtid="0-1-4", gtid_flags=int(MariadbGtidFlag.STANDALONE)),) * 2,
    *(partial(BinlogBuilder.query_compressed, sql=sql) for sql in STATEMENTS[::4] if sql),
    partial(BinlogBuilder.annotate_rows, sql="INSERT"),
    partial(BinlogBuilder.binlog_checkpoint, log_file="binlog.000001"),
)
_STEPS: dict[ServerKind, tuple[Step, ...]] = {
    MYSQL_9_7: (*_ANY_LOG, BinlogBuilder.ignorable, *_MYSQL_8),
    # Where a BEGIN may be the first event of a transaction, only the event before it is looked at.
    MYSQL_5_7: (*_ANY_LOG, *_MYSQL),
    MYSQL_5_5: _ANY_LOG,
    MARIADB_12_3: (*_ANY_LOG, BinlogBuilder.ignorable, *_MARIADB),
    MARIADB_10_5: (*_ANY_LOG, BinlogBuilder.ignorable, *_MARIADB),
}

_checksums = st.sampled_from((ChecksumAlgorithm.NONE, ChecksumAlgorithm.CRC32))


@st.composite
def event_soups(draw: st.DrawFn) -> bytes:
    """Return a log of one server whose events come in any order."""
    server = draw(st.sampled_from(SERVERS))
    log = BinlogBuilder(server, checksum=draw(_checksums) if server.has_checksums else None)
    # Without checksums, an event before one of an unknown type looks like bytes of a value.
    known_types = server is MYSQL_5_7 or log.format.checksum is ChecksumAlgorithm.NONE
    steps = _STEPS[server] if known_types else (*_STEPS[server], _UNKNOWN)
    for step in draw(st.lists(st.sampled_from(steps), max_size=25)):
        step(log)
    return log.content


def _compressed(log: BinlogBuilder) -> None:
    log.transaction(insert(ITEMS, (1,), (2,)), insert(OTHERS, (3,)), compress=True)


def _announced(log: BinlogBuilder) -> None:
    """Write a transaction after the header that announces a large one."""
    log.large_transaction_header(end_offset=1 << 40)
    log.transaction(insert(ITEMS, (1,)))


def _ended_by(log: BinlogBuilder, *ends: str) -> None:
    """Write a transaction whose end is a statement."""
    if log.server.has_gtids and log.server.family is Family.MYSQL:
        log.gtid(f"{UUID}:{log.offset}")
    elif log.server.has_gtids:
        log.mariadb_gtid(f"0-1-{log.offset}", 0)
    changes = log.change_specs((insert(OTHERS, (1,), (2,), (3,)),), log.default_rows_codes())
    log.write([log.query_spec("BEGIN"), *changes, *(log.query_spec(end) for end in ends)])


_ANY_SERVER: tuple[Step, ...] = (
    lambda log: log.transaction(insert(ITEMS, (1,), (2,)), insert(OTHERS, (3,))),
    lambda log: log.transaction(insert(OTHERS, (1,)), "INSERT INTO t VALUES (1)", text="INSERT INTO others"),
    lambda log: log.ddl("CREATE TABLE t (id INT)"),
    partial(_ended_by),
    lambda log: _ended_by(log, "COMMIT"),
    lambda log: _ended_by(log, "SAVEPOINT a", "ROLLBACK TO a", "ROLLBACK"),
)
_XA: tuple[Step, ...] = (
    lambda log: log.transaction(insert(ITEMS, (1,), (2,)), xa=b"one"),
    lambda log: log.ddl("XA COMMIT X'6f6e65',X'',1"),
)
_STORIES: dict[ServerKind, tuple[Step, ...]] = {
    MYSQL_9_7: (
        *_ANY_SERVER,
        *_XA,
        _compressed,
        _announced,
        lambda log: log.transaction(insert(ITEMS, (1,)), gtid="anonymous"),
        lambda log: log.transaction(insert(ITEMS, (1,)), gtid=f"{UUID}:tag:{log.offset}"),
    ),
    MYSQL_5_7: (*_ANY_SERVER, *_XA),
    MYSQL_5_5: (*_ANY_SERVER, *_XA),
    MARIADB_12_3: (*_ANY_SERVER, *_XA, _compressed),
    MARIADB_10_5: (*_ANY_SERVER, *_XA, _compressed),
}


def every_pair_of_stories(server: ServerKind) -> bytes:
    """Return a log in which every kind of transaction comes after every other."""
    log = BinlogBuilder(server)
    for first, second in product(_STORIES[server], repeat=2):
        first(log)
        second(log)
    log.stop()
    return log.content


@st.composite
def stories(draw: st.DrawFn) -> bytes:
    """Return a log of transactions, each with the events that its server writes around it."""
    server = draw(st.sampled_from(SERVERS))
    log = BinlogBuilder(server, checksum=draw(_checksums) if server.has_checksums else None)
    for step in draw(st.lists(st.sampled_from(_STORIES[server]), max_size=8)):
        step(log)
    draw(st.sampled_from((BinlogBuilder.stop, BinlogBuilder.mark_in_use)))(log)
    return log.content
