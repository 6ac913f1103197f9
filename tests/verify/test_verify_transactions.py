"""Transactions: each has an end, its announced length, and its sequence number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from binspark.event import GtidEvent, PartialRowData, decode_event, encode_body
from binspark.frames import EventCode as E
from binspark.testing.builder import MARIADB_12_3, MYSQL_5_5, MYSQL_9_7, BinlogBuilder, insert
from binspark.verify import verify_logs
from tests.support.verify.logs import (
    ITEMS,
    codes,
    copy_case,
    cut,
    errors,
    frame_of,
    infos,
    mark_in_use,
    message,
    rewrite,
    verify_built,
    warnings,
)

RECORDED = ["mysql/format-row", "mariadb/format-row"]


def with_gtid(folder: Path, **changes: Any) -> Path:
    """Copy a recorded log, and change the GTID event of its third transaction."""
    path = copy_case("mysql/format-row", folder) / "binlog.000001"
    frame = frame_of(path, E.GTID, 2)
    body: GtidEvent = decode_event(frame).body
    changed = encode_body(E.GTID, replace(body, **changes), frame.format)
    rewrite(path, frame, frame.data[: frame.body_start] + changed + bytes(4))
    return path


def test_a_transaction_with_a_wrong_length_is_found(tmp_path: Path) -> None:
    length = decode_event(frame_of(with_gtid(tmp_path / "a"), E.GTID, 2)).body.transaction_length
    report = verify_logs(with_gtid(tmp_path / "b", transaction_length=length + 1))
    assert errors(report) == ["transaction-length"]
    assert f"is {length + 1}, but the transaction has {length} bytes" in report.findings[0].message


def test_a_transaction_that_depends_on_a_later_one_is_found(tmp_path: Path) -> None:
    assert errors(verify_logs(with_gtid(tmp_path, last_committed=3))) == ["clock-order"]


def test_a_sequence_number_that_goes_back_is_found(tmp_path: Path) -> None:
    assert errors(verify_logs(with_gtid(tmp_path, sequence_number=2, last_committed=1))) == ["clock-order"]


def test_a_skipped_sequence_number_is_a_warning(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, (1,)))
    log.sequence_number += 1
    log.transaction(insert(ITEMS, (2,)))
    log.stop()
    report = verify_built(log, tmp_path)
    assert codes(report) == warnings(report) == ["clock-gap"]


def test_a_server_may_give_no_sequence_number(tmp_path: Path) -> None:
    assert codes(verify_logs(with_gtid(tmp_path, sequence_number=0, last_committed=0))) == ["clock-gap"]


@pytest.mark.parametrize("case", RECORDED)
def test_a_transaction_without_its_end_is_found(case: str, tmp_path: Path) -> None:
    path = copy_case(case, tmp_path) / "binlog.000001"
    cut(path, frame_of(path, E.XID).offset)
    report = verify_logs(path)
    assert errors(report) == ["unfinished-transaction"]
    assert warnings(report) == ["no-end"]


@pytest.mark.parametrize("case", RECORDED)
def test_a_transaction_in_progress_in_the_active_log_is_a_warning(case: str, tmp_path: Path) -> None:
    path = copy_case(case, tmp_path) / "binlog.000001"
    cut(path, frame_of(path, E.XID).offset)
    mark_in_use(path)
    report = verify_logs(path)
    assert sorted(warnings(report)) == ["in-use", "unfinished-transaction"]
    assert report.ok


def test_a_transaction_that_the_next_one_interrupts_is_found(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.gtid(f"{log.server_uuid}:1")
    log.query("BEGIN")
    log.transaction(insert(ITEMS, (1,)), gtid=f"{log.server_uuid}:2")
    log.stop()
    report = verify_built(log, tmp_path)
    assert errors(report) == ["unfinished-transaction"]
    assert "GTID at" in message(report, "unfinished-transaction")


def test_a_transaction_without_gtid_needs_an_end_too(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_5_5)
    log.query("BEGIN")
    log.query("INSERT INTO t VALUES (1)")
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["unfinished-transaction"]


@pytest.mark.parametrize("end", ["COMMIT ;", "commit", "COMMIT /* by hand */", "ROLLBACK WORK", "XA PREPARE 'a'"])
@pytest.mark.parametrize("begin", ["BEGIN", "begin", "START TRANSACTION", "XA START 'a'", "xa begin 'a'"])
def test_a_transaction_may_begin_and_end_in_any_words(begin: str, end: str, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_5_5)
    for statement in (begin, "SAVEPOINT a", "ROLLBACK TO a", "INSERT INTO t VALUES (1)", end):
        log.query(statement)
    log.stop()
    report = verify_built(log, tmp_path)
    assert errors(report) == []
    assert report.files[0].transactions == 1


def test_rows_and_load_data_without_a_begin_are_transactions(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_5_5)
    log.write(log.change_specs((insert(ITEMS, (1,)),), log.default_rows_codes()))
    log.begin_load_query(1, b"a")
    log.execute_load_query(1, "LOAD DATA INFILE 'f' INTO TABLE t", "f")
    log.stop()
    report = verify_built(log, tmp_path)
    assert errors(report) == []
    assert report.files[0].transactions == 2


def test_a_begin_that_another_begin_follows_has_no_end(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_5_5)
    for statement in ("BEGIN", "INSERT INTO t VALUES (1)", "BEGIN", "COMMIT"):
        log.query(statement)
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["unfinished-transaction"]


def test_a_relay_log_may_end_inside_a_transaction(tmp_path: Path) -> None:
    path = copy_case("mysql/replica", tmp_path) / "relay.000004"
    cut(path, frame_of(path, E.XID).offset)
    report = verify_logs(path)
    assert codes(report) == infos(report) == ["chain-begins-late", "unfinished-transaction"]


def test_an_incident_means_that_events_are_lost(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.incident("the cache was full")
    log.stop()
    report = verify_built(log, tmp_path)
    assert errors(report) == ["incident"]
    assert "the cache was full" in report.findings[0].message


def large_transaction(end_offset: int, *, header_first: bool = False) -> BinlogBuilder:
    """Build a transaction with a LARGE_TRANSACTION_HEADER, before its GTID or after it."""
    log = BinlogBuilder()
    parts: list[Callable[[], object]] = [
        lambda: log.large_transaction_header(end_offset),
        lambda: log.gtid(f"{log.server_uuid}:1"),
    ]
    for part in parts if header_first else reversed(parts):
        part()
    log.query("BEGIN")
    log.xid(1)
    log.stop()
    return log


HEADER_FIRST = pytest.mark.parametrize("header_first", [False, True], ids=["after the GTID", "before the GTID"])
END = large_transaction(0).offset - 23 - 31  # STOP and XID are the last events


@HEADER_FIRST
def test_a_large_transaction_with_the_announced_end_is_intact(header_first: bool, tmp_path: Path) -> None:
    assert codes(verify_built(large_transaction(END, header_first=header_first), tmp_path)) == []


@HEADER_FIRST
def test_a_large_transaction_with_another_end_is_found(header_first: bool, tmp_path: Path) -> None:
    log = large_transaction(END + 1, header_first=header_first)
    assert errors(verify_built(log, tmp_path)) == ["large-transaction"]


def fragmented(*numbers: int) -> BinlogBuilder:
    """Build a rows event of three fragments, some of which may be missing."""
    log = BinlogBuilder(MARIADB_12_3)
    log.mariadb_gtid("0-1-1")
    for number in numbers:
        log.event(E.PARTIAL_ROW_DATA, PartialRowData(3, number, 0, None, b"part"))
    log.xid(1)
    log.stop()
    return log


def test_all_fragments_of_a_rows_event_are_intact(tmp_path: Path) -> None:
    assert codes(verify_built(fragmented(1, 2, 3), tmp_path)) == []


@pytest.mark.parametrize("numbers", [(1, 2), (1, 3), (2, 3), (1, 1, 2, 3)], ids=str)
def test_missing_fragments_are_found(numbers: tuple[int, ...], tmp_path: Path) -> None:
    assert set(errors(verify_built(fragmented(*numbers), tmp_path))) == {"fragments"}


def test_a_loaded_file_with_all_its_blocks_is_intact(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.begin_load_query(1, b"a")
    log.append_block(1, b"b")
    log.delete_file(1)
    log.stop()
    assert codes(verify_built(log, tmp_path)) == []


def test_a_loaded_file_without_an_end_is_a_warning(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.begin_load_query(1, b"a")
    log.stop()
    assert codes(verify_built(log, tmp_path)) == ["load-file"]


def test_a_block_of_a_file_without_a_first_block_is_a_warning(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.append_block(1, b"b")
    log.delete_file(1)
    log.stop()
    assert codes(verify_built(log, tmp_path)) == ["load-file"] * 2
