"""Logs of servers before 5.5 follow rules of their own: what would be damage in a current log is none there."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.frames import EventCode as E
from binspark.testing.builder import (
    MYSQL_3_23,
    MYSQL_4_1,
    MYSQL_5_1_17,
    MYSQL_5_5,
    BinlogBuilder,
    Overrides,
    ServerKind,
)
from binspark.verify import verify_logs
from tests.support.files.old_logs import OLD_RELAY_SERVERS, OldRelayLog, log_with_cached_positions
from tests.support.verify.logs import codes, errors, infos, verify_built, warnings

QUIET = ["no-checksums"]


def saved(content: bytes, folder: Path) -> Path:
    path = folder / "binlog.000001"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("server", OLD_RELAY_SERVERS, ids=lambda kind: kind.server_version)
def test_a_relay_log_without_the_flag_has_the_positions_of_its_source(server: ServerKind, tmp_path: Path) -> None:
    report = verify_logs(saved(OldRelayLog(server).content, tmp_path))
    assert codes(report) == infos(report) == QUIET
    assert report.files[0].transactions == 5


def test_a_relay_log_of_4_1_begins_with_the_rotate_of_its_source(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_4_1)
    rotate = bytes.fromhex("0400000000000000") + b"source-bin.000007"
    first = log.offset
    log.raw(E.ROTATE, rotate, 0, Overrides(next_position=0))
    log.query("INSERT INTO t VALUES (1)")
    content = log.content[:4] + log.content[first:]
    assert errors(verify_logs(saved(content, tmp_path))) == []


def test_positions_in_the_cache_of_a_transaction_are_no_errors(tmp_path: Path) -> None:
    report = verify_built(log_with_cached_positions(), tmp_path)
    assert codes(report) == infos(report) == QUIET
    assert report.files[0].transactions == 2


def test_positions_in_the_cache_are_errors_in_later_logs(tmp_path: Path) -> None:
    report = verify_built(log_with_cached_positions(MYSQL_5_5), tmp_path)
    assert errors(report) == ["position"] * 3


def test_another_wrong_position_is_an_error_in_an_old_log_too(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_5_1_17)
    log.query("BEGIN")
    log.raw(E.XID, bytes(8), 0, Overrides(next_position=12345))
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["position"]


@pytest.mark.parametrize("server", [MYSQL_3_23, MYSQL_4_1], ids=lambda kind: kind.server_version)
def test_an_active_log_before_version_4_cannot_be_marked_as_in_use(server: ServerKind, tmp_path: Path) -> None:
    log = BinlogBuilder(server)
    log.query("INSERT INTO t VALUES (1)", "shop")
    report = verify_built(log, tmp_path)
    assert sorted(infos(report)) == ["no-checksums", "no-end"]
    assert (errors(report), warnings(report)) == ([], [])
