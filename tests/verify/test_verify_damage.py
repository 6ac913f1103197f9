"""Damaged bytes are found, reported and skipped, so that one report shows all damage."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from binspark.event import TransactionPayload, encode_body
from binspark.frames import ChecksumAlgorithm, Frame, HeaderFlag
from binspark.frames import EventCode as E
from binspark.testing.builder import MYSQL_9_7, BinlogBuilder, Overrides, insert
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.verify import verify_logs
from tests.support.verify.logs import (
    ITEMS,
    chain,
    codes,
    copy_case,
    cut,
    edit,
    errors,
    flip,
    frame_of,
    frames_of,
    infos,
    remove_bytes,
    rewrite,
    verify_built,
    warnings,
)

CASES = ["mysql/format-row", "mariadb/format-row"]
ROWS = {"mysql": E.WRITE_ROWS, "mariadb": E.WRITE_ROWS_V1}
SIZE_FIELD = 9
POSITION_FIELD = 13


@pytest.fixture(params=CASES)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A recorded log that may be damaged."""
    return copy_case(request.param, tmp_path) / "binlog.000001"


@pytest.fixture
def no_checksums(tmp_path: Path) -> Path:
    """A recorded log without checksums."""
    return copy_case("mysql/checksum-none", tmp_path) / "binlog.000001"


def rows_frame(log: Path) -> Frame:
    return next(frame for frame in frames_of(log) if frame.type_code in ROWS.values())


def test_a_flipped_byte_is_a_bad_checksum_and_the_rest_is_read(log: Path) -> None:
    events = len(frames_of(log))
    frame = rows_frame(log)
    flip(log, frame.offset + 30)
    report = verify_logs(log)
    assert errors(report) == ["checksum"]
    assert report.findings[0].position.offset == frame.offset
    assert report.files[0].events == events
    assert report.files[0].sound_bytes == frame.offset


def test_every_flipped_byte_of_a_log_is_found(log: Path) -> None:
    sound = log.read_bytes()
    unseen = []
    for offset in range(0, len(sound), 7):
        log.write_bytes(sound)
        flip(log, offset)
        unseen += [offset] * verify_logs(log).ok
    assert unseen == []


def test_damage_at_one_position_is_one_error(log: Path) -> None:
    """Whichever event is damaged: no findings about the consequences."""
    sound, frames = log.read_bytes(), frames_of(log)[1:]
    found = []
    for frame in frames:
        log.write_bytes(sound)
        flip(log, frame.end_offset - 2)
        found.append(errors(verify_logs(log)))
    assert found == [["checksum"]] * len(frames)


def test_a_transaction_whose_begin_is_damaged_is_one_transaction(log: Path) -> None:
    transactions = verify_logs(log).files[0].transactions
    frames = frames_of(log)
    table_map = next(at for at, frame in enumerate(frames) if frame.type_code == E.TABLE_MAP)
    gtid = max(at for at in range(table_map) if frames[at].type_code in IDENTIFYING_CODES)
    for frame in frames[gtid:table_map]:
        flip(log, frame.end_offset - 2)
    damaged = verify_logs(log)
    assert set(errors(damaged)) == {"checksum"}
    assert damaged.files[0].transactions == transactions


def test_a_wrong_size_is_a_hole_up_to_the_next_event(log: Path) -> None:
    frame = rows_frame(log)
    flip(log, frame.offset + SIZE_FIELD + 2)
    report = verify_logs(log)
    assert errors(report) == ["hole"]
    assert f"{len(frame.data)} bytes ({frame.offset} to {frame.end_offset})" in report.findings[0].message


def test_a_size_smaller_than_a_header_is_a_hole(log: Path) -> None:
    frame = rows_frame(log)

    def shrink(content: bytearray) -> None:
        content[frame.offset + SIZE_FIELD : frame.offset + SIZE_FIELD + 4] = (7).to_bytes(4, "little")

    edit(log, shrink)
    assert errors(verify_logs(log)) == ["hole"]


def test_a_size_that_includes_the_next_event_is_a_hole(log: Path) -> None:
    frame = rows_frame(log)
    larger = len(frame.data) + 11

    def grow(content: bytearray) -> None:
        content[frame.offset + SIZE_FIELD : frame.offset + SIZE_FIELD + 4] = larger.to_bytes(4, "little")

    edit(log, grow)
    assert errors(verify_logs(log)) == ["hole"]


def test_several_damages_are_all_in_one_report(log: Path) -> None:
    frames = frames_of(log)
    flip(log, frames[6].offset + 25)
    flip(log, frames[12].offset + SIZE_FIELD + 1)
    flip(log, frames[20].offset + 25)
    cut(log, frames[-1].offset + 5)
    assert errors(verify_logs(log)) == ["checksum", "hole", "checksum", "truncated"]


def test_findings_of_a_code_are_limited_and_counted(log: Path) -> None:
    for frame in frames_of(log)[5:15]:
        flip(log, frame.end_offset - 1)
    report = verify_logs(log, findings_per_code=3)
    assert errors(report) == ["checksum"] * 3
    assert report.files[0].omitted == (("checksum", 7),)
    assert report.summary.errors == 10


def test_removed_bytes_are_found(log: Path) -> None:
    frames = frames_of(log)
    remove_bytes(log, frames[8].offset, frames[8].end_offset)
    assert set(errors(verify_logs(log))) >= {"position"}


def test_a_wrong_position_without_a_checksum_is_found(no_checksums: Path) -> None:
    frame = frame_of(no_checksums, E.TABLE_MAP)
    flip(no_checksums, frame.offset + POSITION_FIELD)
    report = verify_logs(no_checksums)
    assert errors(report) == ["position"]
    assert infos(report) == ["no-checksums"]


def test_a_wrong_size_without_a_checksum_is_a_hole(no_checksums: Path) -> None:
    frame = frame_of(no_checksums, E.WRITE_ROWS)
    flip(no_checksums, frame.offset + SIZE_FIELD)
    assert errors(verify_logs(no_checksums)) == ["hole"]


def test_an_event_that_contradicts_its_format_does_not_decode(no_checksums: Path) -> None:
    frame = frame_of(no_checksums, E.QUERY)
    flip(no_checksums, frame.offset + 19 + 11)
    assert errors(verify_logs(no_checksums)) == ["decode"]


@pytest.mark.parametrize("left", [1, 18, 19, 40])
def test_a_truncated_log_is_reported_with_its_sound_bytes(log: Path, left: int) -> None:
    frame = rows_frame(log)
    cut(log, frame.offset + left)
    report = verify_logs(log)
    assert "truncated" in errors(report)
    assert report.files[0].sound_bytes == frame.offset
    assert f"cut to {frame.offset} bytes" in next(f for f in report.findings if f.code == "truncated").message


def test_a_log_cut_as_advised_only_lacks_its_end(log: Path) -> None:
    cut(log, rows_frame(log).offset + 33)
    message = next(f for f in verify_logs(log).findings if f.code == "unfinished-transaction")
    assert message.position.offset is not None
    cut(log, message.position.offset)
    report = verify_logs(log)
    assert codes(report) == ["no-end"]
    assert report.ok


def test_zeros_after_the_last_event_are_an_unreadable_tail(log: Path) -> None:
    size = log.stat().st_size
    with log.open("r+b") as file:
        file.truncate(size + 50_000_000)
    report = verify_logs(log)
    assert errors(report) == ["unreadable-tail"]
    assert report.files[0].sound_bytes == size


def test_zeros_between_events_are_a_hole(log: Path) -> None:
    frame = rows_frame(log)

    def wipe(content: bytearray) -> None:
        content[frame.offset : frame.end_offset] = bytes(len(frame.data))

    edit(log, wipe)
    report = verify_logs(log)
    assert errors(report) == ["hole"]
    assert f"{frame.offset} to {frame.end_offset}" in report.findings[0].message


@pytest.mark.parametrize("content", [b"", b"\xfe", b"\xfebi"])
def test_a_file_that_ends_inside_its_magic_is_truncated(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(content)
    assert errors(verify_logs(path)) == ["truncated"]


def test_a_file_with_only_the_magic_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(b"\xfebin")
    assert errors(verify_logs(path)) == ["truncated"]


def test_another_kind_of_file_is_not_a_log(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_text("-- MySQL dump 10.13\nCREATE TABLE t (id INT);\n")
    assert errors(verify_logs(path)) == ["not-a-log"]


def test_a_log_with_a_damaged_magic_is_read(log: Path) -> None:
    events = len(frames_of(log))
    flip(log, 2)
    report = verify_logs(log)
    assert errors(report) == ["bad-magic"]
    assert report.files[0].events == events


@pytest.mark.parametrize("field", [4, SIZE_FIELD + 3], ids=["type", "size"])
def test_a_log_with_an_unreadable_format_description_is_read_with_a_guessed_format(log: Path, field: int) -> None:
    events = len(frames_of(log))
    flip(log, 4 + field)
    report = verify_logs(log)
    assert errors(report) == ["bad-format"]
    assert report.files[0].events == events - 1


def test_a_log_with_a_wrong_checksum_algorithm_in_its_format_description_is_read(log: Path) -> None:
    end = frames_of(log)[0].end_offset
    flip(log, end - 5)
    cleared = verify_logs(log)
    assert set(errors(cleared)) <= {"checksum", "bad-format"}
    edit(log, lambda content: content.__setitem__(end - 5, 0))
    assert codes(verify_logs(log)) == ["checksum"]


def test_a_payload_that_cannot_be_decompressed_is_found(tmp_path: Path) -> None:
    path = copy_case("mysql/compressed", tmp_path) / "binlog.000001"
    frame = frame_of(path, E.TRANSACTION_PAYLOAD)
    middle = len(frame.data) // 2
    rewrite(path, frame, frame.data[:middle] + b"\0\0\0\0" + frame.data[middle + 4 :])
    assert errors(verify_logs(path)) == ["payload"]


def test_a_payload_of_an_unknown_compression_is_not_supported(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.raw(E.TRANSACTION_PAYLOAD, encode_body(E.TRANSACTION_PAYLOAD, TransactionPayload(7, 3, b"abc"), log.format))
    log.stop()
    report = verify_built(log, tmp_path)
    assert warnings(report) == ["unsupported"]
    assert report.ok


def test_an_unknown_event_with_a_correct_checksum_is_a_warning(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.unknown(b"?", 99)
    log.stop()
    assert warnings(verify_built(log, tmp_path)) == ["unknown-event"]


def test_an_unknown_event_without_a_checksum_may_be_damage(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7, checksum=ChecksumAlgorithm.NONE)
    log.unknown(b"?", 99)
    log.stop()
    assert errors(verify_built(log, tmp_path)) == ["unknown-event"]


def test_an_unknown_event_that_may_be_ignored_is_info(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.raw(99, b"?", HeaderFlag.IGNORABLE)
    log.stop()
    report = verify_built(log, tmp_path)
    assert codes(report) == infos(report) == ["unknown-ignorable-event"]


def test_bytes_after_the_last_field_are_info(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.raw(E.STOP, b"new")
    report = verify_built(log, tmp_path)
    assert codes(report) == infos(report) == ["extra-bytes"]


def test_bytes_after_the_last_field_without_a_checksum_are_a_warning(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7, checksum=ChecksumAlgorithm.NONE)
    log.raw(E.STOP, b"new")
    assert warnings(verify_built(log, tmp_path)) == ["extra-bytes"]


def test_a_wrong_position_is_found(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.raw(E.STOP, b"", overrides=Overrides(next_position=4711))
    assert errors(verify_built(log, tmp_path)) == ["position"]


def test_a_position_of_zero_is_not_legal_in_a_log_of_mysql(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.raw(E.STOP, b"", overrides=Overrides(next_position=0))
    assert errors(verify_built(log, tmp_path)) == ["position"]


def test_a_relay_log_is_read_past_damage(tmp_path: Path) -> None:
    path = copy_case("mysql/replica", tmp_path) / "relay.000002"
    frame = frame_of(path, E.WRITE_ROWS)
    events = len(frames_of(path))
    flip(path, frame.offset + SIZE_FIELD + 3)
    report = verify_logs(path)
    assert errors(report) == ["hole"]
    assert report.files[0].events == events - 1


def test_a_file_that_cannot_be_opened_is_reported_and_the_others_are_verified(tmp_path: Path) -> None:
    paths = chain().save(tmp_path)
    paths[1].unlink()
    paths[1].mkdir()
    index = tmp_path / "binlog.index"
    index.write_text("".join(f"./{path.name}\n" for path in paths))
    report = verify_logs(index)
    assert errors(report)[0] == "unreadable"
    assert len(report.files) == 3


def test_damage_inside_a_transaction_does_not_hide_the_next(tmp_path: Path) -> None:
    log = BinlogBuilder()
    for number in range(3):
        log.transaction(insert(ITEMS, (number,)))
    log.stop()
    path = log.save(tmp_path)[0]
    xid = frame_of(path, E.XID)
    flip(path, xid.offset + 20)
    report = verify_logs(path)
    assert errors(report) == ["checksum"]
    assert report.files[0].gtids.endswith(":1-3")


def test_a_wrong_size_takes_no_memory(tmp_path: Path) -> None:
    """The size in a header is believed only when something confirms it."""
    log = chain(files=1)
    path = tmp_path / "binlog.000001"
    [sound] = log.save(tmp_path)
    frame = frame_of(sound, E.WRITE_ROWS)
    large = 48 << 20

    def grow(content: bytearray) -> None:
        content[frame.offset + SIZE_FIELD : frame.offset + SIZE_FIELD + 4] = large.to_bytes(4, "little")

    edit(path, grow)
    os.truncate(path, large + (1 << 20))
    tracemalloc.start()
    report = verify_logs(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert errors(report)[0] == "hole"
    assert peak < large / 2
