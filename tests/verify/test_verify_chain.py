"""Chains of files: none missing, none twice, each ending where the next begins."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

import binspark
from binspark.errors import OptionError, SourceError
from binspark.event import Rotate
from binspark.frames import EventCode as E
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_5_5,
    MYSQL_8_0,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
)
from binspark.verify import Extent, verify_logs
from tests.support.verify.logs import (
    ITEMS,
    chain,
    codes,
    copy_case,
    cut,
    errors,
    flip,
    frame_of,
    infos,
    mark_in_use,
    message,
    verify_built,
    warnings,
)

FAMILIES = pytest.mark.parametrize("family", ["mysql", "mariadb"])
SERVERS = pytest.mark.parametrize("server", [MYSQL_9_7, MARIADB_10_11], ids=["mysql", "mariadb"])


@FAMILIES
def test_a_file_that_was_deleted_from_the_middle_is_missing(family: str, tmp_path: Path) -> None:
    folder = copy_case(f"{family}/rotation", tmp_path)
    (folder / "binlog.000002").unlink()
    report = verify_logs(folder)
    assert errors(report) == ["missing-file", "gtid-lost"]
    assert "binlog.000002 is missing" in report.findings[0].message


def test_several_missing_files_are_named_as_a_range(tmp_path: Path) -> None:
    paths = chain(files=5).save(tmp_path)
    report = verify_logs([paths[0], paths[4]])
    assert "binlog.000002 to binlog.000004 are missing" in report.findings[0].message


@FAMILIES
def test_a_file_that_only_the_index_lists_is_missing(family: str, tmp_path: Path) -> None:
    folder = copy_case(f"{family}/rotation", tmp_path)
    (folder / "binlog.000004").unlink()
    report = verify_logs(folder / "binlog.index")
    assert errors(report) == ["missing-file"]
    assert report.files[3].file.endswith("binlog.000004")


@FAMILIES
def test_swapped_files_are_found(family: str, tmp_path: Path) -> None:
    folder = copy_case(f"{family}/rotation", tmp_path)
    first, second = folder / "binlog.000001", folder / "binlog.000002"
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    found = errors(verify_logs(folder))
    assert "rotate-target" in found
    assert "gtid-lost" in found


@FAMILIES
def test_files_in_the_wrong_order_are_found(family: str, tmp_path: Path) -> None:
    folder = copy_case(f"{family}/rotation", tmp_path)
    assert errors(verify_logs([folder / "binlog.000002", folder / "binlog.000001"])) == ["file-order"]


@FAMILIES
def test_two_files_of_one_number_are_found(family: str, tmp_path: Path) -> None:
    folder = copy_case(f"{family}/rotation", tmp_path)
    shutil.copy(folder / "binlog.000001", folder / "binlog.1")
    assert errors(verify_logs([folder / "binlog.000001", folder / "binlog.1"])) == ["duplicate-file"]


@FAMILIES
def test_a_file_given_twice_is_verified_once(family: str, tmp_path: Path) -> None:
    folder = copy_case(f"{family}/rotation", tmp_path)
    with pytest.warns(binspark.RepeatedLogWarning):
        assert len(verify_logs([folder / "binlog.000001", folder, folder / "binlog.index"]).files) == len(
            verify_logs(folder).files
        )


@FAMILIES
def test_a_copy_under_the_next_number_is_found(family: str, tmp_path: Path) -> None:
    folder = copy_case(f"{family}/rotation", tmp_path)
    shutil.copy(folder / "binlog.000001", folder / "binlog.000002")
    assert "gtid-unexpected" in errors(verify_logs(folder))


def test_a_rotation_to_another_file_is_found(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.event(E.ROTATE, Rotate(4, "binlog.000007"))
    log.start_file(create_timestamp=0)
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["rotate-target"]


def test_a_rotation_to_another_position_is_found(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.event(E.ROTATE, Rotate(120, "binlog.000002"))
    log.start_file(create_timestamp=0)
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["rotate-position"]


def test_a_chain_whose_files_were_all_renamed_is_intact(tmp_path: Path) -> None:
    for path in chain().save(tmp_path):
        path.rename(tmp_path / f"db1-{path.name}")
    assert codes(verify_logs(tmp_path)) == []


def test_chains_in_one_directory_are_verified_separately(tmp_path: Path) -> None:
    chain().save(tmp_path)
    other = BinlogBuilder(MARIADB_10_11, base_name="other")
    other.stop()
    other.save(tmp_path)
    report = verify_logs(tmp_path)
    assert codes(report) == []
    assert report.summary.files == 4


@SERVERS
def test_an_active_log_at_the_end_of_the_chain_is_a_warning(server: ServerKind, tmp_path: Path) -> None:
    log = chain(server)
    log.mark_in_use()
    report = verify_built(log, tmp_path)
    assert codes(report) == warnings(report) == ["in-use"]


@SERVERS
def test_an_active_log_before_another_without_a_restart_is_an_error(server: ServerKind, tmp_path: Path) -> None:
    paths = chain(server).save(tmp_path)
    mark_in_use(paths[1])
    assert errors(verify_logs(paths)) == ["in-use"]


def crashed(server: ServerKind) -> BinlogBuilder:
    """Build the log of a server that crashed and restarted."""
    log = BinlogBuilder(server)
    log.transaction(insert(ITEMS, (1,)))
    log.mark_in_use()
    log.start_file()
    log.stop()
    return log


def test_mariadb_leaves_the_log_of_a_crash_marked_as_in_use(tmp_path: Path) -> None:
    report = verify_built(crashed(MARIADB_10_11), tmp_path)
    assert sorted(warnings(report)) == ["in-use", "no-end"]
    assert report.ok


def test_mysql_clears_the_flag_so_a_log_marked_as_in_use_is_an_old_copy(tmp_path: Path) -> None:
    assert errors(verify_built(crashed(MYSQL_9_7), tmp_path)) == ["in-use"]


@SERVERS
def test_a_file_without_an_end_before_a_rotation_is_an_error(server: ServerKind, tmp_path: Path) -> None:
    paths = chain(server).save(tmp_path)
    cut(paths[1], frame_of(paths[1], E.ROTATE).offset)
    report = verify_logs(paths)
    assert errors(report) == ["no-end"]
    assert "did not restart" in report.findings[0].message


@SERVERS
def test_a_transaction_that_a_crash_interrupted_is_a_warning(server: ServerKind, tmp_path: Path) -> None:
    log = crashed(server)
    path = log.save(tmp_path)[0]
    cut(path, frame_of(path, E.XID).offset)
    assert "unfinished-transaction" in warnings(verify_logs(path.parent))


@SERVERS
def test_an_event_after_the_end_of_a_log_is_found(server: ServerKind, tmp_path: Path) -> None:
    log = chain(server, files=1)
    log.query("BEGIN")
    log.query("COMMIT")
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["after-end"]


def test_logs_that_were_joined_are_found(tmp_path: Path) -> None:
    first, second = chain(files=2).save(tmp_path)
    first.write_bytes(first.read_bytes() + second.read_bytes())
    report = verify_logs(first)
    assert errors(report) == ["after-end"]
    assert "files were joined" in message(report, "after-end")


def test_another_server_version_is_info(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_8_0)
    log.stop()
    newer = BinlogBuilder(MYSQL_9_7)
    newer.stop()
    paths = log.save(tmp_path)
    (tmp_path / "binlog.000002").write_bytes(newer.content)
    report = verify_logs([*paths, tmp_path / "binlog.000002"])
    assert codes(report) == infos(report) == ["server-version"]


def test_another_server_id_is_info(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.stop()
    log.server_id = 2
    log.start_file()
    log.stop()
    report = verify_built(log, tmp_path)
    assert codes(report) == infos(report) == ["server-id"]


def test_a_file_of_a_directory_that_lost_its_magic_is_not_overlooked(tmp_path: Path) -> None:
    paths = chain().save(tmp_path)
    flip(paths[2], 0)
    report = verify_logs(tmp_path)
    assert errors(report) == ["bad-magic"]
    assert report.summary.files == 3


@FAMILIES
def test_an_encrypted_file_cannot_be_verified_but_the_others_are(family: str, tmp_path: Path) -> None:
    folder = copy_case(f"{family}/rotation", tmp_path)
    encrypted = copy_case(f"{family}/encrypted", tmp_path)
    shutil.copy(encrypted / "binlog.000001", folder / "binlog.000002")
    report = verify_logs(folder)
    assert errors(report) == ["encrypted"]
    assert [file.transactions for file in report.files] == [3, 0, 0, 1]


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        verify_logs(tmp_path / "binlog.000001")


def test_no_path_is_refused() -> None:
    with pytest.raises(OptionError):
        verify_logs([])


@SERVERS
def test_a_chain_that_begins_late_says_which_transactions_it_lacks(server: ServerKind, tmp_path: Path) -> None:
    paths = chain(server).save(tmp_path)
    report = verify_logs(paths[1:])
    assert codes(report) == infos(report) == ["chain-begins-late"]
    before = report.files[0].gtids_before
    assert before in message(report, "chain-begins-late")
    [extent] = report.summary.extents
    assert extent == Extent(str(paths[1]), str(paths[2]), paths[2].stat().st_size, before)
    assert before.endswith("1-2" if server is MYSQL_9_7 else "0-1-2")


def test_a_chain_that_begins_late_is_known_by_the_number_of_its_first_file(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_5_5)
    log.rotate()
    log.stop()
    report = verify_logs(log.save(tmp_path)[1:])
    assert "chain-begins-late" in infos(report)
    assert "binlog.000001" in message(report, "chain-begins-late")


@SERVERS
def test_a_complete_chain_covers_all_its_files(server: ServerKind, tmp_path: Path) -> None:
    paths = chain(server).save(tmp_path)
    report = verify_logs(paths)
    assert codes(report) == []
    assert report.summary.extents == (Extent(str(paths[0]), str(paths[2]), paths[2].stat().st_size, ""),)


@SERVERS
def test_compressed_files_of_a_chain_are_read_too(server: ServerKind, tmp_path: Path) -> None:
    paths = chain(server).save(tmp_path)
    for path in paths[:2]:
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    report = verify_logs(tmp_path)
    assert codes(report) == []
    [extent] = report.summary.extents
    assert (extent.first, extent.last) == (f"{paths[0]}.gz", str(paths[2]))
