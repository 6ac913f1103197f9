"""GTIDs: each once, none of those in earlier files, and none missing between two files."""

from __future__ import annotations

from pathlib import Path

from binspark.gtid import Gtid, GtidSet, GtidSetBuilder, MariadbGtid
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, insert
from binspark.verify import verify_logs
from binspark.verify.gtids import gaps
from tests.support.verify.logs import ITEMS, chain, codes, errors, infos, mariadb_chain, message, verify_built, warnings

UUID = "11111111-2222-3333-4444-555555555555"


def test_a_duplicate_transaction_in_a_file_is_found(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, (1,)), gtid=f"{UUID}:1")
    log.transaction(insert(ITEMS, (1,)), gtid=f"{UUID}:1")
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["gtid-duplicate"]


def test_a_transaction_that_is_in_an_earlier_file_is_found(tmp_path: Path) -> None:
    log = chain(files=2)
    path = log.save(tmp_path)[1]
    later = BinlogBuilder()
    later.executed = log.executed
    later.rotate("binlog.000002")
    later.transaction(insert(ITEMS, (1,)), gtid=f"{log.server_uuid}:1")
    later.stop()
    path.write_bytes(later.content)
    assert errors(verify_logs(path)) == ["gtid-already-logged"]


def test_transactions_that_no_file_has_are_named(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, (1,)))
    log.executed |= GtidSet(f"{UUID}:7-9")
    log.rotate()
    log.stop()
    report = verify_built(log, tmp_path)
    assert errors(report) == ["gtid-lost"]
    assert f"{UUID}:7-9" in report.findings[0].message


def test_transactions_that_the_next_file_lacks_are_named(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, (1,)), gtid=f"{UUID}:7")
    log.executed -= GtidSet(f"{UUID}:7")
    log.rotate()
    log.stop()
    report = verify_built(log, tmp_path)
    assert errors(report) == ["gtid-unexpected"]
    assert f"{UUID}:7" in message(report, "gtid-unexpected")


def test_skipped_gtids_are_info(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, (1,)), gtid=f"{UUID}:1")
    log.transaction(insert(ITEMS, (1,)), gtid=f"{UUID}:nightly:4")
    log.transaction(insert(ITEMS, (1,)), gtid=f"{UUID}:4")
    log.stop()
    report = verify_built(log, tmp_path)
    assert codes(report) == infos(report) == ["gtid-gap"]
    assert f"{UUID}:2-3:nightly:1-3" in report.findings[0].message


def test_a_gap_of_an_earlier_file_is_not_reported_again() -> None:
    previous, collected = GtidSet(f"{UUID}:1-2:5"), GtidSet(f"{UUID}:6:8")
    assert gaps(previous, collected) == GtidSet(f"{UUID}:7")


def test_a_gap_that_is_filled_later_is_not_reported() -> None:
    assert gaps(GtidSet(f"{UUID}:1-2:5"), GtidSet(f"{UUID}:3-4")) == GtidSet()


def test_anonymous_transactions_among_others_are_info(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, (1,)))
    log.transaction(insert(ITEMS, (2,)), gtid="anonymous")
    log.stop()
    report = verify_built(log, tmp_path)
    assert codes(report) == infos(report) == ["gtid-mixed"]


def mariadb_log(*gtids: str) -> BinlogBuilder:
    log = BinlogBuilder(MARIADB_10_11)
    for gtid in gtids:
        log.transaction(insert(ITEMS, (1,)), gtid=gtid)
    log.stop()
    return log


def test_a_duplicate_transaction_in_a_mariadb_log_is_found(tmp_path: Path) -> None:
    assert errors(verify_built(mariadb_log("0-1-1", "0-1-1"), tmp_path)) == ["gtid-duplicate"]


def test_numbers_of_a_domain_that_do_not_rise_are_a_warning(tmp_path: Path) -> None:
    assert warnings(verify_built(mariadb_log("0-1-5", "0-2-5", "0-2-3"), tmp_path)) == ["gtid-order"] * 2


def test_skipped_numbers_of_a_domain_are_info(tmp_path: Path) -> None:
    assert codes(verify_built(mariadb_log("0-1-5", "0-2-8", "1-1-1"), tmp_path)) == ["gtid-gap"]


def test_domains_have_separate_numbers(tmp_path: Path) -> None:
    assert codes(verify_built(mariadb_log("0-1-5", "7-1-1", "0-1-6", "7-1-2"), tmp_path)) == []


def test_a_mariadb_transaction_that_is_in_an_earlier_file_is_found(tmp_path: Path) -> None:
    log = mariadb_chain(files=1)
    log.mariadb_state[0, 1] = MariadbGtid(0, 1, 2)
    log.start_file()
    log.transaction(insert(ITEMS, (1,)), gtid="0-1-2")
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["gtid-already-logged"]


def mariadb_pair(listed: dict[tuple[int, int], MariadbGtid]) -> BinlogBuilder:
    """Build two files: one with 0-1-1 and 5-1-1, and one with this GTID_LIST."""
    log = BinlogBuilder(MARIADB_10_11)
    log.transaction(insert(ITEMS, (1,)), gtid="0-1-1")
    log.transaction(insert(ITEMS, (1,)), gtid="5-1-1")
    log.mariadb_state = listed
    log.rotate()
    log.stop()
    return log


def test_a_gtid_list_with_more_transactions_means_that_they_are_lost(tmp_path: Path) -> None:
    listed = {(0, 1): MariadbGtid(0, 1, 4), (5, 1): MariadbGtid(5, 1, 1)}
    report = verify_built(mariadb_pair(listed), tmp_path)
    assert errors(report) == ["gtid-lost"]
    assert "0-1-4" in report.findings[0].message


def test_a_gtid_list_with_fewer_transactions_is_of_another_chain(tmp_path: Path) -> None:
    listed = {(0, 1): MariadbGtid(0, 1, 0), (5, 1): MariadbGtid(5, 1, 1)}
    assert errors(verify_built(mariadb_pair(listed), tmp_path)) == ["gtid-unexpected"]


def test_a_domain_may_be_deleted_from_the_list(tmp_path: Path) -> None:
    log = mariadb_pair({(0, 1): MariadbGtid(0, 1, 1), (5, 1): MariadbGtid(5, 1, 1)})
    del log.mariadb_state[5, 1]
    log.start_file()
    log.stop()
    report = verify_logs(log.save(tmp_path)[1:])
    assert codes(report) == infos(report) == ["chain-begins-late", "gtid-domain-deleted"]


def test_a_domain_with_transactions_in_the_log_cannot_be_deleted(tmp_path: Path) -> None:
    report = verify_built(mariadb_pair({(0, 1): MariadbGtid(0, 1, 1)}), tmp_path)
    assert errors(report) == ["gtid-unexpected"]


def test_a_set_builder_knows_its_members() -> None:
    builder = GtidSetBuilder(GtidSet(f"{UUID}:3-5"))
    builder.add(Gtid(UUID, 9))
    assert [number for number in range(1, 12) if Gtid(UUID, number) in builder] == [3, 4, 5, 9]
    assert Gtid(UUID, 3, "nightly") not in builder
