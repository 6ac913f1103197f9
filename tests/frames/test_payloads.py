"""Transactions inside one event: what they expand to, and what keeps a small log from filling a machine."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest
import zstandard

import binspark
from binspark.errors import DecodeError, Malformed, Unsupported
from binspark.event import Event, QueryCompressed, TransactionPayload, Xid, encode_body, inner_events
from binspark.event.payload import PayloadField
from binspark.frames import ChecksumAlgorithm, EventCode
from binspark.frames.payload import Limits, PayloadCompression, deflate_block, is_complete, max_payload_bytes
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_9_7,
    BinlogBuilder,
    EventSpec,
    HeaderFields,
    blob,
    event_bytes,
    insert,
    integer,
    table,
)
from tests.support.event.decoding import decode, read_log
from tests.support.frames.reading import read

E = EventCode
ZSTD, NONE = PayloadCompression.ZSTD, PayloadCompression.NONE
MEGABYTE = 1 << 20
PLAIN = MYSQL_9_7.log_format(ChecksumAlgorithm.NONE)
TABLE = table("shop.t", integer("id"), blob("b", 4))


def payload_error(payload: TransactionPayload, limits: Limits | None = None) -> DecodeError:
    log = BinlogBuilder()
    start = log.offset
    log.event(E.TRANSACTION_PAYLOAD, payload)
    reading = read(log.content, limits) if limits else read(log.content)
    assert reading.error is not None
    assert reading.error.position.offset == start
    return reading.error


def zeros(size: int) -> bytes:
    """Compress very many zeros without ever holding them."""
    compressor = zstandard.ZstdCompressor().compressobj()
    return b"".join(compressor.compress(bytes(MEGABYTE)) for _ in range(size // MEGABYTE)) + compressor.flush()


def one_huge_event(size: int) -> bytes:
    """Compress an event that is as large as it says."""
    head = event_bytes(E.IGNORABLE, b"", HeaderFields(0, 1), PLAIN, None)
    head = head[:9] + size.to_bytes(4, "little") + head[13:]
    compressor = zstandard.ZstdCompressor().compressobj()
    blocks = [compressor.compress(head), *(compressor.compress(bytes(MEGABYTE)) for _ in range(size // MEGABYTE))]
    return b"".join(blocks) + compressor.flush()


def peak_bytes(run: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("compression", PayloadCompression)
def test_a_payload_expands_to_the_events_that_were_put_in(compression: PayloadCompression) -> None:
    plain, packed = BinlogBuilder(), BinlogBuilder()
    plain.transaction(insert(TABLE, (1, b"x" * 1000)))
    packed.transaction(insert(TABLE, (1, b"x" * 1000)), compress=compression)
    bodies = [event.frame.body for event in read_log(plain.content)[3:]]
    assert [event.frame.body for event in read_log(packed.content)[4:]] == bodies


def test_a_payload_of_several_zstd_frames_is_one_payload() -> None:
    log = BinlogBuilder()
    halves = [log.inner_bytes([log.query_spec("BEGIN")]), log.inner_bytes([log.query_spec("COMMIT")])]
    packed = b"".join(zstandard.compress(half) for half in halves)
    log.event(E.TRANSACTION_PAYLOAD, TransactionPayload(ZSTD, sum(map(len, halves)), packed))
    assert [event.body.query for event in read_log(log.content)[3:]] == [b"BEGIN", b"COMMIT"]


@pytest.mark.parametrize("announced", [True, False])
def test_every_cut_of_a_zstd_stream_is_refused_even_between_two_blocks(announced: bool) -> None:
    log = BinlogBuilder()
    compressor = zstandard.ZstdCompressor().compressobj()
    first, second = (log.inner_bytes([log.query_spec(text)]) for text in ("BEGIN", "COMMIT"))
    packed = compressor.compress(first) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    packed += compressor.compress(second) + compressor.flush()
    size = len(first) + len(second) if announced else None
    for length in range(1, len(packed)):
        assert isinstance(payload_error(TransactionPayload(ZSTD, size, packed[:length])), DecodeError)


@pytest.mark.parametrize("size", [0, 1, 1000, 300_000])
@pytest.mark.parametrize("checksum", [True, False])
def test_the_end_of_a_zstd_stream_follows_from_its_blocks(size: int, checksum: bool) -> None:
    packed = zstandard.ZstdCompressor(write_checksum=checksum).compress(bytes(size))
    skippable = (0x184D2A53).to_bytes(4, "little") + (3).to_bytes(4, "little") + b"abc"
    assert is_complete(packed)
    assert is_complete(packed + skippable + packed)
    assert not is_complete(packed[:-1])
    assert not is_complete(skippable[:-1])


def test_what_is_not_zstd_is_malformed() -> None:
    error = payload_error(TransactionPayload(ZSTD, 100, b"something else"))
    assert isinstance(error, Malformed)
    assert "is not valid zstd" in error.message


@pytest.mark.parametrize("difference", [-1, 1, 1 << 28])
def test_a_payload_with_a_wrong_size_is_malformed(difference: int) -> None:
    log = BinlogBuilder()
    inner = log.inner_bytes([log.query_spec("BEGIN")])
    error = payload_error(TransactionPayload(ZSTD, len(inner) + difference, zstandard.compress(inner)))
    assert isinstance(error, Malformed)
    assert "transaction payload decompresses to" in error.message


def test_a_payload_inside_a_payload_is_malformed() -> None:
    log = BinlogBuilder()
    innermost = log.payload_spec([log.query_spec("BEGIN")])
    start = log.offset
    log.transaction_payload([innermost])
    error = read(log.content).error
    assert isinstance(error, Malformed)
    assert error.message == "a transaction payload inside a transaction payload"
    assert (error.position.file, error.position.offset) == ("binlog.000001", start)


def test_an_unknown_compression_is_unsupported_and_its_bytes_are_kept() -> None:
    payload = TransactionPayload(7, None, b"bytes")
    assert isinstance(payload_error(payload), Unsupported)
    log = BinlogBuilder()
    body = encode_body(E.TRANSACTION_PAYLOAD, payload, log.format)
    assert decode(E.TRANSACTION_PAYLOAD, body).body == payload


def test_an_error_inside_a_payload_says_in_which_event() -> None:
    log = BinlogBuilder()
    inner = log.inner_bytes([log.query_spec("BEGIN"), EventSpec(E.XID, Xid(5))])
    error = payload_error(TransactionPayload(NONE, None, inner[:-3]))
    assert error.message == "event 1 inside TRANSACTION_PAYLOAD: the log ends 24 bytes into a 27-byte event"
    broken = log.inner_bytes([log.query_spec("BEGIN")]) + event_bytes(E.XID, b"", HeaderFields(0, 1), PLAIN, None)
    error = payload_error(TransactionPayload(NONE, None, broken))
    assert error.message.startswith("event 1 inside TRANSACTION_PAYLOAD: xid needs 8 bytes, only 0 remain")
    assert error.position.event == "XID"


def test_two_gigabytes_of_zeros_are_refused_at_the_first_event() -> None:
    log = BinlogBuilder()
    log.event(E.TRANSACTION_PAYLOAD, TransactionPayload(ZSTD, None, zeros(2048 * MEGABYTE)))
    content = log.content
    assert len(content) < MEGABYTE
    assert "event size is 0" in str(read(content).error)
    assert peak_bytes(lambda: read(content)) < 8 * MEGABYTE


def test_a_payload_beyond_the_limit_is_refused_before_it_is_in_memory() -> None:
    payload = TransactionPayload(ZSTD, None, one_huge_event(256 * MEGABYTE))
    limits = Limits(payload_bytes=4 * MEGABYTE, event_bytes=1 << 40)
    assert "more than the limit of 4194304;" in payload_error(payload, limits).message
    assert peak_bytes(lambda: payload_error(payload, limits)) < 16 * MEGABYTE


def test_an_event_beyond_the_limit_is_refused_before_it_is_in_memory() -> None:
    payload = TransactionPayload(ZSTD, None, one_huge_event(256 * MEGABYTE))
    limits = Limits(payload_bytes=1 << 40, event_bytes=4 * MEGABYTE)
    assert "268435456 bytes, more than the limit of 4194304;" in payload_error(payload, limits).message
    assert peak_bytes(lambda: payload_error(payload, limits)) < 16 * MEGABYTE


def test_a_payload_that_announces_more_than_the_limit_is_not_decompressed() -> None:
    error = payload_error(TransactionPayload(ZSTD, (512 << 20) + 1, b"not zstd"))
    assert isinstance(error, Unsupported)
    assert "decompresses to 536870913 bytes, more than the limit of 536870912;" in error.message
    assert "--max-payload-bytes SIZE, in Python binspark.set_max_payload_bytes, in Spark" in error.message
    assert error.position.event == "TRANSACTION_PAYLOAD"


def test_the_limit_of_a_process_can_be_changed() -> None:
    payload = TransactionPayload(ZSTD, 10_000, b"not zstd")
    before = max_payload_bytes()
    try:
        binspark.set_max_payload_bytes(9_999)
        assert "more than the limit of 9999;" in payload_error(payload).message
        binspark.set_max_payload_bytes(10_000)
        assert "not valid zstd" in payload_error(payload).message
    finally:
        binspark.set_max_payload_bytes(before)
    with pytest.raises(binspark.OptionError, match="max_payload_bytes must be a positive number of bytes, got 0"):
        binspark.set_max_payload_bytes(0)


def test_the_events_of_a_large_payload_are_expanded_one_at_a_time() -> None:
    log = BinlogBuilder()
    log.transaction(*[insert(TABLE, (number, bytes(MEGABYTE))) for number in range(40)], compress=True)
    payload: Event = next(event for event in read(log.content).events if event.type_code == E.TRANSACTION_PAYLOAD)
    assert peak_bytes(lambda: sum(len(event.frame.data) for event in inner_events(payload))) < 8 * MEGABYTE


# MariaDB's compressed statements and rows ----------------------------------------------------------------------------


def compressed_query(block: bytes, limits: Limits | None = None) -> Event:
    log = BinlogBuilder(MARIADB_10_11)
    body = encode_body(E.QUERY_COMPRESSED, QueryCompressed(1, 0, 0, "shop", (), b"", block), log.format)
    return decode(E.QUERY_COMPRESSED, body, MARIADB_10_11, limits or Limits())


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65535, 65536, 1 << 24])
def test_the_size_of_a_block_takes_as_few_bytes_as_it_needs(size: int) -> None:
    block = deflate_block(b"x" * size)
    assert block[0] == 0x80 | max(1, (size.bit_length() + 7) // 8)
    assert compressed_query(block).body.query == b"x" * size


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("90051234", "unsupported compression algorithm 1 of query, expected 0 \\(zlib\\)"),
        ("80", "takes 0 bytes, expected 1 to 4"),
        ("87000000000000ff", "takes 7 bytes, expected 1 to 4"),
        ("8105ffff", "is not valid zlib"),
        ("8205", "needs 2 bytes, only 1 remain"),
    ],
)
def test_an_invalid_block_is_refused(block: str, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        compressed_query(bytes.fromhex(block))


@pytest.mark.parametrize("size", [0, 4, 6, 1 << 28])
def test_a_block_with_a_wrong_size_is_malformed(size: int) -> None:
    block = b"\x84" + size.to_bytes(4, "big") + deflate_block(b"12345")[2:]
    with pytest.raises(Malformed, match="does not decompress to"):
        compressed_query(block)


def test_a_block_beyond_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(Unsupported, match="decompresses to 2000000 bytes, more than the limit of 1000"):
        compressed_query(deflate_block(bytes(2_000_000)), Limits(event_bytes=1000))


@pytest.mark.parametrize("claimed", [b"\x1f\xff\xff\xff", b"\xff\xff\xff\xff"])
def test_a_block_that_claims_to_be_large_takes_no_memory(claimed: bytes) -> None:
    block = b"\x84" + claimed + deflate_block(b"12345")[2:]

    def refuse() -> None:
        with pytest.raises((Malformed, Unsupported)):
            compressed_query(block)

    assert peak_bytes(refuse) < MEGABYTE


def test_fields_of_a_payload_that_a_later_server_adds_are_kept() -> None:
    body = "0203fcff00" + "010103" + "0902abcd" + "00" + "616263"
    event = decode(E.TRANSACTION_PAYLOAD, body)
    assert event.body == TransactionPayload(NONE, None, b"abc", ((9, b"\xab\xcd"),))


@pytest.mark.parametrize("missing", [PayloadField.PAYLOAD_SIZE, PayloadField.COMPRESSION_TYPE])
def test_a_payload_needs_its_size_and_its_compression(missing: PayloadField) -> None:
    fields = {PayloadField.PAYLOAD_SIZE: "010100", PayloadField.COMPRESSION_TYPE: "020100"}
    body = "".join(text for field, text in fields.items() if field is not missing) + "00"
    with pytest.raises(Malformed, match="transaction payload without PAYLOAD_SIZE or COMPRESSION_TYPE"):
        decode(E.TRANSACTION_PAYLOAD, body)
