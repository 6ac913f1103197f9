"""Where transactions begin, found from anywhere in a log."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from binspark.columns import starts
from binspark.columns.starts import LogBytes
from binspark.frames import ChecksumAlgorithm, Framer
from binspark.frames import EventCode as E
from binspark.testing.builder import MYSQL_5_6, MYSQL_9_7, BinlogBuilder, HeaderFields, blob, event_bytes, insert, table
from tests.support.files.split_logs import ITEMS, KINDS, BuiltLog, built_log, flipped, overwritten, writer_of

kinds = pytest.mark.parametrize("kind", KINDS)
CHECKED = [kind for kind in KINDS if kind.endswith("crc32")]
FOUR_GIB = 1 << 32
BLOBS = table("shop.blobs", blob("b", 3))


def log_bytes(content: bytes) -> LogBytes:
    first = next(Framer().feed(content))
    return LogBytes(lambda offset, length: content[offset : offset + length], len(content), first.format)


def expected(log: BuiltLog, offset: int, end: int | None = None) -> int | None:
    return next((start for start in log.starts if offset <= start and (end is None or start < end)), None)


@kinds
def test_every_offset_leads_to_the_next_transaction(kind: str) -> None:
    log = built_log(kind)
    found = log_bytes(log.content)
    wrong = [offset for offset in range(len(log.content) + 1) if found.find_start(offset) != expected(log, offset)]
    assert wrong == []


@kinds
def test_only_transactions_begin_that_begin_before_the_end(kind: str) -> None:
    log = built_log(kind)
    found = log_bytes(log.content)
    pairs = [(start, start + length) for start in range(0, len(log.content), 37) for length in (1, 60, 700)]
    assert [found.find_start(*pair) for pair in pairs] == [expected(log, *pair) for pair in pairs]


@kinds
def test_the_window_of_the_search_does_not_matter(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "_WINDOW", 61)
    log = built_log(kind)
    found = log_bytes(log.content)
    offsets = range(0, len(log.content), 29)
    assert [found.find_start(offset) for offset in offsets] == [expected(log, offset) for offset in offsets]


@kinds
def test_no_event_but_the_first_begins_a_transaction(kind: str) -> None:
    log = built_log(kind)
    found = log_bytes(log.content)
    offsets = [frame.offset for frame in Framer().feed(log.content)]
    assert [offset for offset in offsets if found.is_start(offset)] == list(log.starts)


@pytest.mark.parametrize("kind", ["named-crc32", "mariadb-none", "5.5-plain"])
def test_positions_that_wrap_are_followed(kind: str) -> None:
    """A log of more than 4 GiB: only its first event and its last bytes are there."""
    writer = writer_of(kind)
    head, start = writer.log.content, FOUR_GIB - 300
    writer.log.skip_to(start)
    for number in range(4):
        writer.transaction(insert(ITEMS, (number,)))
    tail = writer.log.file.tail

    def read_at(offset: int, length: int) -> bytes:
        hole = min(length, max(0, start - offset))
        return bytes(hole) + tail[max(0, offset - start) : max(0, offset + length - start)]

    log = LogBytes(read_at, start + len(tail), log_bytes(head).format)
    assert writer.starts[0] < FOUR_GIB < writer.starts[2]
    found = [log.find_start(offset) for offset in range(start - 50, start + len(tail), 13)]
    made = BuiltLog(b"", tuple(writer.starts), tuple(writer.ends))
    assert found == [expected(made, offset) for offset in range(start - 50, start + len(tail), 13)]


@kinds
def test_a_transaction_whose_first_event_is_cut_does_not_begin(kind: str) -> None:
    log = built_log(kind)
    last = log.starts[-1]
    size = int.from_bytes(log.content[last + 9 : last + 13], "little")
    cut = [log_bytes(log.content[:length]).find_start(last) for length in range(last, last + size)]
    assert cut == [None] * size
    assert log_bytes(log.content[: last + size]).find_start(last) == last


@pytest.mark.parametrize("kind", [kind for kind in CHECKED if kind != "5.6-named-crc32"])
def test_one_wrong_byte_in_its_first_event_and_a_transaction_does_not_begin(kind: str) -> None:
    log = built_log(kind)
    start, following = log.starts[3:5]
    size = int.from_bytes(log.content[start + 9 : start + 13], "little")
    for offset in range(start, start + size):
        assert log_bytes(flipped(log.content, offset)).find_start(start) == following


@pytest.mark.parametrize("kind", CHECKED)
def test_damage_after_a_valid_first_event_is_no_reason_to_miss_it(kind: str) -> None:
    log = built_log(kind)
    for start in log.starts:
        size = int.from_bytes(log.content[start + 9 : start + 13], "little")
        damaged = overwritten(log.content, start + size, b"\xff" * (len(log.content) - start - size))
        assert log_bytes(damaged).find_start(start) == start


@pytest.mark.parametrize("checksum", [ChecksumAlgorithm.CRC32, ChecksumAlgorithm.NONE], ids=lambda c: c.name)
def test_a_begin_after_a_gtid_begins_nothing_even_if_the_position_of_the_gtid_is_wrong(
    checksum: ChecksumAlgorithm,
) -> None:
    log = BinlogBuilder(MYSQL_5_6, checksum=checksum)
    start = log.offset
    log.transaction(insert(ITEMS, (1,)))
    log.stop()
    damaged = flipped(log.content, start + 13)
    assert log_bytes(damaged).find_start(start) is None


def test_a_begin_is_one_word_and_all_of_the_statement() -> None:
    log = BinlogBuilder(MYSQL_5_6)
    for statement in ("BEGIN WORK", "begin", "BEGI", "BEGINS", ""):
        log.query(statement)
    begin = log.offset
    log.query("BEGIN", "shop")
    log.stop()
    assert log_bytes(log.content).find_start(0) == begin


def test_servers_that_name_every_transaction_never_begin_one_with_a_begin() -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.query("BEGIN")
    log.stop()
    assert log_bytes(log.content).find_start(0) is None


@pytest.mark.parametrize("code", [E.GTID, E.QUERY], ids=lambda code: code.name)
def test_without_checksums_a_header_with_a_true_position_needs_events_after_it(code: E) -> None:
    log = BinlogBuilder(MYSQL_9_7, checksum=ChecksumAlgorithm.NONE)
    fake: Callable[[int], bytes] = lambda offset: event_bytes(code, bytes(42), HeaderFields(1, 1), log.format, offset)  # noqa: E731
    log.table_map(BLOBS)
    position = log.offset + 19 + 10 + 1 + 1 + 1 + 3
    log.rows(insert(BLOBS, (fake(position) + b"and no header",)))
    log.stop()
    assert log.content[position : position + 61] == fake(position)
    assert log_bytes(log.content).find_start(0) is None


def test_there_is_no_transaction_in_zeros_or_after_the_end() -> None:
    log = built_log("named-crc32")
    padded = log.content + bytes(5000)
    assert log_bytes(padded).find_start(log.starts[-1] + 1) is None
    assert log_bytes(padded).find_start(len(padded) + 7) is None


def test_what_a_log_has_grown_by_since_it_was_looked_at_is_not_looked_at() -> None:
    log = built_log("named-none")
    first = next(Framer().feed(log.content))
    looked_at = LogBytes(lambda offset, length: log.content[offset : offset + length], log.starts[3], first.format)
    assert looked_at.find_start(log.starts[2]) == log.starts[2]
    assert looked_at.find_start(log.starts[2] + 1) is None
    assert not looked_at.is_start(log.starts[3])


def test_statements_inside_a_transaction_cost_no_read_of_their_own() -> None:
    """In a store every read is a request."""
    log = BinlogBuilder(MYSQL_5_6)
    log.query("BEGIN")
    inside = log.offset
    for number in range(200):
        log.query(f"INSERT INTO t VALUES ({number})")
    log.xid(1)
    begin = log.offset
    log.query("BEGIN")
    log.stop()
    offsets: list[int] = []

    def read_at(offset: int, length: int) -> bytes:
        offsets.append(offset)
        return log.content[offset : offset + length]

    found = LogBytes(read_at, len(log.content), log.format).find_start(inside)
    assert found == begin
    assert len(offsets) < 6
