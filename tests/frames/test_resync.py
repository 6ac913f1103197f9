"""From any offset of a log, the next event is found: neither a false one, nor a later one."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

import pytest

from binspark.event import Xid, encode_body
from binspark.frames import ChecksumAlgorithm, EventCode, Framer, HeaderFlag, LogFormat
from binspark.frames.payload import PayloadCompression
from binspark.frames.resync import ReadAt, find_event
from binspark.testing.builder import (
    MARIADB_11_8,
    MYSQL_9_7,
    BinlogBuilder,
    EventSpec,
    HeaderFields,
    Overrides,
    ServerKind,
    blob,
    event_bytes,
    insert,
    integer,
    table,
)
from tests.corpus.cases import corpus_logs, log_id

E = EventCode
BLOBS = table("shop.t", integer("id"), blob("b", 4))
SMALL = [log for log in corpus_logs() if log.stat().st_size < 3500]
MEDIUM = [log for log in corpus_logs() if 3500 <= log.stat().st_size < 14_000]
LARGE = [log for log in corpus_logs() if log.stat().st_size >= 3500]
checksums = pytest.mark.parametrize("checksum", [ChecksumAlgorithm.CRC32, ChecksumAlgorithm.NONE])


def read_at(content: bytes) -> ReadAt:
    return lambda offset, length: content[offset : offset + length]


def wrong_answers(content: bytes, step: int = 1) -> list[tuple[int, int | None, int | None]]:
    """Search from every `step`th offset, and return the results that are not the next event."""
    frames = list(Framer().feed(content))
    starts = [frame.offset for frame in frames]
    relay = bool(frames[0].header.flags & HeaderFlag.RELAY_LOG)
    wrong = []
    for offset in range(0, len(content) + 1, step):
        index = bisect_left(starts, offset)
        expected = starts[index] if index < len(starts) else None
        found = find_event(read_at(content), offset, len(content), frames[0].format, relay=relay)
        wrong.extend([(offset, found, expected)] * (found != expected))
    return wrong


@pytest.mark.parametrize("log", SMALL, ids=log_id)
def test_every_offset_of_a_small_log_leads_to_the_next_event(log: Path) -> None:
    assert wrong_answers(log.read_bytes()) == []


@pytest.mark.slow
@pytest.mark.parametrize("log", MEDIUM, ids=log_id)
def test_every_offset_of_a_medium_log_leads_to_the_next_event(log: Path) -> None:
    assert wrong_answers(log.read_bytes()) == []


@pytest.mark.parametrize("log", LARGE, ids=log_id)
def test_offsets_of_a_larger_log_lead_to_the_next_event(log: Path) -> None:
    assert wrong_answers(log.read_bytes(), step=211) == []


@checksums
def test_events_with_next_position_0_are_found_in_mariadbs_logs(checksum: ChecksumAlgorithm) -> None:
    log = BinlogBuilder(MARIADB_11_8, checksum=checksum)
    for number in range(3):
        log.mariadb_gtid(f"0-1-{number + 1}")
        table_map = encode_body(E.TABLE_MAP, BLOBS.table_map(106), log.format)
        rows = encode_body(E.WRITE_ROWS_V1, insert(BLOBS, (number, bytes(200))).rows(106), log.format)
        log.raw(E.TABLE_MAP, table_map, overrides=Overrides(next_position=0))
        log.raw(E.WRITE_ROWS_V1, rows, overrides=Overrides(next_position=0))
        log.xid(number)
    assert wrong_answers(log.content) == []


@checksums
def test_the_events_of_a_relay_log_are_found_by_the_positions_of_their_source(checksum: ChecksumAlgorithm) -> None:
    source = BinlogBuilder(checksum=checksum)
    source.skip_to(700_000)
    source.transaction(insert(BLOBS, (1, b"x" * 300)))
    source.transaction(insert(BLOBS, (2, b"y" * 300)))
    relay = BinlogBuilder(checksum=checksum, relay=True)
    relay.artificial_rotate("binlog.000007", 700_000)
    relay.copy(source.file.tail)
    assert wrong_answers(relay.content) == []


@checksums
def test_events_inside_a_payload_that_is_not_compressed_are_not_events_of_the_log(checksum: ChecksumAlgorithm) -> None:
    log = BinlogBuilder(checksum=checksum)
    log.transaction(insert(BLOBS, (1, b"x" * 50)), compress=PayloadCompression.NONE)
    log.transaction(insert(BLOBS, (2, b"y" * 50)), compress=PayloadCompression.NONE)
    assert wrong_answers(log.content) == []


@checksums
@pytest.mark.parametrize("kind", [MYSQL_9_7, MARIADB_11_8], ids=lambda kind: kind.server_version)
def test_another_log_inside_a_blob_is_not_taken_for_the_log(kind: ServerKind, checksum: ChecksumAlgorithm) -> None:
    inside = BinlogBuilder(kind, checksum=checksum)
    inside.transaction(insert(BLOBS, (1, b"inside")))
    inside.stop()
    log = BinlogBuilder(kind, checksum=checksum)
    log.transaction(insert(BLOBS, (2, inside.content)))
    log.stop()
    assert wrong_answers(log.content) == []


def test_a_blob_with_one_header_that_matches_its_offset_is_refused_by_the_chain() -> None:
    log = BinlogBuilder(checksum=ChecksumAlgorithm.NONE)
    start_of_blob = log.offset + 4
    fake = event_bytes(E.XID, bytes(8), HeaderFields(1, 1), log.format, start_of_blob + 19)
    log.append_block(1, fake + b"and then something that is no header")
    log.stop()
    assert wrong_answers(log.content) == []


def test_positions_that_wrap_are_followed(tmp_path: Path) -> None:
    start = (1 << 32) - 100
    log = BinlogBuilder()
    log.skip_to(start)
    for number in range(6):
        log.event(*EventSpec(E.XID, Xid(number)))
    tail = log.file.tail

    def read(offset: int, length: int) -> bytes:
        return tail[offset - start : offset - start + length]

    found = [find_event(read, start + offset, start + len(tail), log.format) for offset in range(0, 155, 31)]
    assert found == [start + offset for offset in range(0, 155, 31)]
    assert find_event(read, start + 1, start + len(tail), log.format) == start + 31
    assert find_event(read, start + 101, start + len(tail), log.format) == start + 124


def test_an_event_that_is_cut_is_not_found_but_the_one_before_it_is() -> None:
    log = BinlogBuilder()
    before = log.offset
    log.xid(1)
    log.xid(2)
    content = log.content[:-5]
    assert find_event(read_at(content), before, len(content), log.format) == before
    assert find_event(read_at(content), before + 1, len(content), log.format) is None


def test_an_event_whose_checksum_does_not_match_is_skipped() -> None:
    log = BinlogBuilder()
    before = log.offset
    log.xid(1)
    log.xid(2)
    content = bytearray(log.content)
    content[before + 20] ^= 1
    assert find_event(read_at(bytes(content)), before, len(content), log.format) == before + 31


def test_the_format_description_of_a_log_in_use_is_found() -> None:
    log = BinlogBuilder()
    log.mark_in_use()
    assert find_event(read_at(log.content), 0, len(log.content), log.format) == 4


def test_there_is_no_event_in_zeros_or_after_the_end() -> None:
    log_format: LogFormat = replace(MYSQL_9_7.log_format(ChecksumAlgorithm.NONE))
    assert find_event(read_at(bytes(70_000)), 0, 70_000, log_format) is None
    assert find_event(read_at(b""), 0, 0, log_format) is None
