"""mysqlbinlog and mariadb-binlog read the logs of a builder."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from binspark.frames import ChecksumAlgorithm, EventCode
from binspark.frames.payload import PayloadCompression
from binspark.testing.builder import (
    MARIADB_10_1,
    MARIADB_10_5,
    MARIADB_10_11,
    MARIADB_11_8,
    MARIADB_12_3,
    MYSQL_3_23,
    MYSQL_4_1,
    MYSQL_5_0,
    MYSQL_5_5,
    MYSQL_5_6,
    MYSQL_5_7,
    MYSQL_8_0,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    decimal,
    delete,
    insert,
    integer,
    table,
    update,
    varchar,
)
from binspark.testing.builder.tables import COMPRESSED_V2
from binspark.testing.servers import MariaDB, MySQL
from binspark.testing.servers.programs import Programs
from tests.support.event.log_readers import printed, reader_of, refusal

ORDERS = table("shop.orders", integer("id"), varchar("note", 40), decimal("price", 14, 4))
UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"


@pytest.fixture(scope="module")
def mysqlbinlog() -> Programs:
    return reader_of(MySQL)


@pytest.fixture(scope="module")
def mariadb_binlog() -> Programs:
    return reader_of(MariaDB)


def saved(log: BinlogBuilder, folder: Path) -> Path:
    (path,) = log.save(folder)
    return path


@pytest.mark.mysql
def test_mysqlbinlog_prints_the_rows_of_a_transaction(mysqlbinlog: Programs, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(
        insert(ORDERS, (1, "first", Decimal("1234567890.1234")), (2, None, None)),
        update(ORDERS, ((1, "first", None), (1, "neu: ß", None))),
        delete(ORDERS, (2, None, Decimal("-0.5"))),
    )
    log.stop()
    text = printed(mysqlbinlog, saved(log, tmp_path))
    assert "### INSERT INTO `shop`.`orders`\n### SET\n###   @1=1\n###   @2='first'\n###   @3=1234567890.1234\n" in text
    assert "### WHERE\n###   @1=1\n###   @2='first'\n###   @3=NULL\n### SET\n###   @1=1\n###   @2='neu: ß'\n" in text
    assert "### DELETE FROM `shop`.`orders`\n### WHERE\n###   @1=2\n###   @2=NULL\n###   @3=-0.5000\n" in text
    assert "COMMIT/*!*/;" in text


@pytest.mark.mysql
def test_mysqlbinlog_prints_gtids_untagged_tagged_and_anonymous(mysqlbinlog: Programs, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.ddl("CREATE DATABASE shop", gtid=f"{UUID}:12")
    log.transaction(insert(ORDERS, (1, "a", None)), gtid=f"{UUID}:nightly:3")
    log.transaction("INSERT INTO shop.t VALUES (RAND())", gtid="anonymous")
    text = printed(mysqlbinlog, saved(log, tmp_path))
    assert f"SET @@SESSION.GTID_NEXT= '{UUID}:12'" in text
    assert f"SET @@SESSION.GTID_NEXT= '{UUID}:nightly:3'" in text
    assert "SET @@SESSION.GTID_NEXT= 'ANONYMOUS'" in text
    assert text.count("transaction_length=") == 3


@pytest.mark.mysql
def test_mysqlbinlog_follows_a_rotation_and_prints_previous_gtids(mysqlbinlog: Programs, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a", None)))
    log.transaction(insert(ORDERS, (2, "b", None)), gtid=f"{UUID}:nightly:3")
    log.rotate()
    log.stop()
    first, second = log.save(tmp_path)
    assert "Rotate to binlog.000002  pos: 4" in printed(mysqlbinlog, first)
    assert f"Previous-GTIDs\n# {UUID}:1:nightly:3\n" in printed(mysqlbinlog, second)


@pytest.mark.mysql
@pytest.mark.parametrize("compression", PayloadCompression)
def test_mysqlbinlog_prints_the_rows_inside_a_payload(
    mysqlbinlog: Programs, tmp_path: Path, compression: PayloadCompression
) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (7, "inside", None)), text="INSERT INTO orders …", compress=compression)
    text = printed(mysqlbinlog, saved(log, tmp_path))
    assert "Transaction_Payload" in text
    assert "###   @1=7\n###   @2='inside'" in text


@pytest.mark.mysql
def test_mysqlbinlog_prints_an_xa_transaction(mysqlbinlog: Programs, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a", None)), xa=b"tx1")
    log.ddl("XA COMMIT X'747831',X'',1")
    text = printed(mysqlbinlog, saved(log, tmp_path))
    assert "XA PREPARE X'747831',X'',1" in text
    assert "XA COMMIT X'747831',X'',1" in text


@pytest.mark.mysql
def test_mysqlbinlog_prints_what_statements_depend_on(mysqlbinlog: Programs, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.gtid(f"{UUID}:1")
    for name, value in {"n": None, "i": -5, "u": (1 << 64) - 1, "r": 1.5, "d": Decimal("-12.340"), "s": "ü"}.items():
        log.user_var(name, value)
    log.last_insert_id(7)
    log.insert_id(8)
    log.rand(11, 12)
    log.query("INSERT INTO t VALUES (@n)", "shop")
    text = printed(mysqlbinlog, saved(log, tmp_path))
    assert "SET @`n`:=NULL" in text
    assert "SET @`i`:=-5" in text
    assert "SET @`u`:=18446744073709551615" in text
    assert "SET @`r`:=1.5" in text
    assert "SET @`d`:=-12.340" in text
    assert "SET @`s`:=_utf8mb3 0xC3BC" in text
    assert "SET LAST_INSERT_ID=7" in text
    assert "SET INSERT_ID=8" in text
    assert "SET @@RAND_SEED1=11, @@RAND_SEED2=12" in text


@pytest.mark.mysql
def test_mysqlbinlog_reads_a_log_without_checksums_and_one_in_use(mysqlbinlog: Programs, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7, checksum=ChecksumAlgorithm.NONE)
    log.transaction(insert(ORDERS, (1, "a", None)))
    log.mark_in_use()
    text = printed(mysqlbinlog, saved(log, tmp_path))
    assert "Warning: this binlog is either in use or was not closed properly" in text
    assert "###   @2='a'" in text


@pytest.mark.mysql
@pytest.mark.parametrize("kind", [MYSQL_5_6, MYSQL_5_7, MYSQL_8_0], ids=lambda kind: kind.server_version)
def test_mysqlbinlog_reads_logs_of_older_servers(mysqlbinlog: Programs, tmp_path: Path, kind: ServerKind) -> None:
    log = BinlogBuilder(kind)
    log.transaction(insert(ORDERS, (1, "a", None)))
    log.stop()
    text = printed(mysqlbinlog, saved(log, tmp_path))
    assert f"server v {kind.server_version}" in text
    assert "###   @2='a'" in text


@pytest.mark.mysql
def test_mysqlbinlog_refuses_versions_it_no_longer_supports(mysqlbinlog: Programs, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_5_5)
    log.transaction(insert(ORDERS, (1, "a", None)))
    assert "Found invalid event in binary log" in refusal(mysqlbinlog, saved(log, tmp_path))


@pytest.mark.mariadb
@pytest.mark.parametrize("kind", [MARIADB_10_1, MARIADB_10_5, MARIADB_10_11, MARIADB_11_8, MARIADB_12_3])
def test_mariadb_binlog_reads_logs_of_its_own_family(
    mariadb_binlog: Programs, tmp_path: Path, kind: ServerKind
) -> None:
    log = BinlogBuilder(kind)
    log.ddl("CREATE TABLE t (a INT)", "shop")
    log.transaction(insert(ORDERS, (1, "a", None)), text="INSERT INTO orders VALUES (1, 'a', NULL)", gtid="3-7-99")
    log.rotate()
    log.stop()
    first, second = log.save(tmp_path)
    text = printed(mariadb_binlog, first)
    assert "GTID 3-7-99 trans" in text
    assert "#Q> INSERT INTO orders VALUES (1, 'a', NULL)" in text
    assert "###   @2='a'" in text
    after = printed(mariadb_binlog, second)
    assert "Gtid list [0-1-1,\n# 3-7-99]" in after
    assert "Binlog checkpoint binlog.000002" in after


@pytest.mark.mariadb
def test_mariadb_binlog_reads_compressed_rows_and_statements(mariadb_binlog: Programs, tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_10_11)
    log.transaction(insert(ORDERS, (1, "squeezed", None)), compress=True)
    log.mariadb_gtid("0-1-50")
    log.query_compressed("INSERT INTO t VALUES (" + "1 + " * 100 + "1)", "shop")
    log.table_map(ORDERS)
    log.rows(delete(ORDERS, (1, "version 2", None)), codes=COMPRESSED_V2)
    log.xid(9)
    text = printed(mariadb_binlog, saved(log, tmp_path))
    assert "###   @2='squeezed'" in text
    assert "1 + 1 + 1)" in text
    assert "###   @2='version 2'" in text


@pytest.mark.mariadb
@pytest.mark.parametrize("kind", [MYSQL_5_0, MYSQL_5_5], ids=lambda kind: kind.server_version)
def test_mariadb_binlog_reads_old_logs(mariadb_binlog: Programs, tmp_path: Path, kind: ServerKind) -> None:
    log = BinlogBuilder(kind)
    log.transaction("INSERT INTO t VALUES (1)")
    log.begin_load_query(1, b"a\tb\n")
    log.append_block(1, b"c\td\n")
    log.execute_load_query(1, "LOAD DATA INFILE 'x.txt' INTO TABLE t", "x.txt", "shop")
    assert "INSERT INTO t VALUES (1)" in printed(mariadb_binlog, saved(log, tmp_path))


@pytest.mark.mariadb
def test_mariadb_binlog_reads_version_3_but_no_longer_version_1(mariadb_binlog: Programs, tmp_path: Path) -> None:
    version_3, version_1 = BinlogBuilder(MYSQL_4_1, base_name="three"), BinlogBuilder(MYSQL_3_23, base_name="one")
    version_3.query("CREATE TABLE t (a INT)", "shop")
    version_1.query("CREATE TABLE t (a INT)", "shop")
    text = printed(mariadb_binlog, saved(version_3, tmp_path))
    assert "Start: binlog v 3, server v 4.1.22-log" in text
    assert "CREATE TABLE t (a INT)" in text
    assert f"event_type: {EventCode.START_V3:d}" in refusal(mariadb_binlog, saved(version_1, tmp_path))
