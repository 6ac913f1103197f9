"""GTID sets as bytes: those of servers encode to the same bytes again, and any others decode or are refused."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import BinlogError, EncodeError, Malformed, Truncated, Unsupported
from binspark.gtid import GtidSet, decode_gtid_set, encode_gtid_set
from binspark.wire import Cursor, RecordingCursor, Writer
from tests.support.gtid.gtid_strategies import gtid_sets

UNTAGGED_TEXT = "b8ae2fd2-3005-11f0-8be8-0242ac150002:1-11"
UNTAGGED = bytes.fromhex(
    "0100000000000000 b8ae2fd2300511f08be80242ac150002 0100000000000000 0100000000000000 0c00000000000000"
)
TAGGED_TEXT = "55778904-0299-11f1-b1b8-4ef0c4956feb:1-13:mytag:1-2"
TAGGED = bytes.fromhex(
    "0102000000000001"
    "55778904029911f1b1b84ef0c4956feb 00 0100000000000000 0100000000000000 0e00000000000000"
    "55778904029911f1b1b84ef0c4956feb 0a 6d79746167 0100000000000000 0100000000000000 0300000000000000"
)
UUID = bytes.fromhex("b8ae2fd2300511f08be80242ac150002")


def encoded(gtid_set: GtidSet, *, tagged: bool | None = None) -> bytes:
    writer = Writer()
    encode_gtid_set(gtid_set, writer, tagged=tagged)
    return writer.take()


def untagged(*intervals: int, count: int | None = None) -> bytes:
    """One UUID with these starts and ends."""
    pairs = len(intervals) // 2 if count is None else count
    return struct.pack("<Q", 1) + UUID + struct.pack(f"<Q{len(intervals)}Q", pairs, *intervals)


def tagged(tag_field: bytes) -> bytes:
    """One UUID with this tag and the number 1."""
    return b"\x01\x01\0\0\0\0\0\x01" + UUID + tag_field + struct.pack("<QQQ", 1, 1, 2)


@pytest.mark.parametrize(("body", "text", "is_tagged"), [(UNTAGGED, UNTAGGED_TEXT, False), (TAGGED, TAGGED_TEXT, True)])
def test_a_servers_bytes_decode_and_encode_to_the_same(body: bytes, text: str, is_tagged: bool) -> None:
    cursor = Cursor(body)
    assert decode_gtid_set(cursor) == (GtidSet(text), is_tagged)
    cursor.expect_end()
    assert encoded(GtidSet(text)) == body


def test_an_empty_set_is_a_zero_count() -> None:
    assert encoded(GtidSet()) == bytes(8)
    assert decode_gtid_set(Cursor(bytes(8))) == (GtidSet(), False)


def test_a_set_without_tags_can_be_in_the_tagged_format() -> None:
    body = encoded(GtidSet(UNTAGGED_TEXT), tagged=True)
    assert len(body) == len(UNTAGGED) + 1
    assert decode_gtid_set(Cursor(body)) == (GtidSet(UNTAGGED_TEXT), True)


def test_tags_do_not_fit_the_untagged_format() -> None:
    with pytest.raises(EncodeError, match="tags"):
        encoded(GtidSet(TAGGED_TEXT), tagged=False)


def test_every_byte_is_explained() -> None:
    cursor = RecordingCursor(TAGGED)
    decode_gtid_set(cursor)
    assert [(span.offset, span.length, span.name) for span in cursor.spans[:8]] == [
        (0, 1, "format"),
        (1, 6, "source_count"),
        (7, 1, "format_again"),
        (8, 16, "source[0].uuid"),
        (24, 1, "source[0].tag_length"),
        (25, 8, "source[0].interval_count"),
        (33, 8, "source[0].interval[0].first"),
        (41, 8, "source[0].interval[0].end"),
    ]
    assert sum(span.length for span in cursor.spans) == len(TAGGED)
    assert cursor.spans[7].meaning == "exclusive: the last is 13"


def test_bytes_after_the_set_are_left_to_the_caller() -> None:
    cursor = Cursor(UNTAGGED + b"rest")
    decode_gtid_set(cursor)
    assert cursor.rest("rest") == b"rest"


def test_a_uuid_that_comes_twice_is_united() -> None:
    once = untagged(1, 3)[8:]
    twice = struct.pack("<Q", 2) + once + untagged(2, 9)[8:]
    assert str(decode_gtid_set(Cursor(twice))[0]) == "b8ae2fd2-3005-11f0-8be8-0242ac150002:1-8"


@pytest.mark.parametrize("count", [2, 1 << 16, 1 << 55, (1 << 56) - 1])
def test_a_count_of_uuids_beyond_the_bytes_is_truncated(count: int) -> None:
    with pytest.raises(Truncated):
        decode_gtid_set(Cursor(struct.pack("<Q", count) + UNTAGGED[8:]))


@pytest.mark.parametrize("count", [2, 1 << 32, 1 << 60, (1 << 64) - 1])
def test_a_count_of_intervals_beyond_the_bytes_is_truncated(count: int) -> None:
    with pytest.raises(Truncated, match="intervals need"):
        decode_gtid_set(Cursor(untagged(1, 2, count=count)))


@pytest.mark.parametrize(
    "intervals",
    [(0, 5), (5, 5), (5, 4), (1, 5, 5, 9), (1, 5, 3, 9), (5, 9, 1, 3), (1, 1 << 63), ((1 << 63) - 1, 1 << 63)],
)
def test_intervals_that_the_server_refuses_are_malformed(intervals: tuple[int, ...]) -> None:
    with pytest.raises(Malformed, match="interval"):
        decode_gtid_set(Cursor(untagged(*intervals)))


def test_the_highest_number_fits() -> None:
    highest = GtidSet(f"b8ae2fd2-3005-11f0-8be8-0242ac150002:1-{(1 << 63) - 2}")
    assert decode_gtid_set(Cursor(encoded(highest)))[0] == highest


@pytest.mark.parametrize("tag_field", [b"\x029", b"\x04a-", b"\x04\xc3\xa9", b"\x42" + b"a" * 33, b"\x04a\0"])
def test_an_invalid_tag_is_malformed(tag_field: bytes) -> None:
    with pytest.raises(Malformed, match="tag"):
        decode_gtid_set(Cursor(tagged(tag_field)))


def test_an_upper_case_tag_is_lowered() -> None:
    assert decode_gtid_set(Cursor(tagged(b"\x02T")))[0].sources == (("b8ae2fd2-3005-11f0-8be8-0242ac150002", "t"),)


@pytest.mark.parametrize("code", [2, 3, 255])
def test_a_later_format_is_unsupported(code: int) -> None:
    with pytest.raises(Unsupported, match=f"format {code}"):
        decode_gtid_set(Cursor(bytes((code, 0, 0, 0, 0, 0, 0, code))))


def test_a_format_that_contradicts_itself_is_malformed() -> None:
    with pytest.raises(Malformed, match="differs"):
        decode_gtid_set(Cursor(b"\x02\0\0\0\0\0\0\x01"))


@pytest.mark.parametrize("body", [UNTAGGED, TAGGED])
def test_a_set_that_is_cut_anywhere_is_truncated(body: bytes) -> None:
    for length in range(len(body)):
        with pytest.raises(Truncated):
            decode_gtid_set(Cursor(body[:length]))


@given(gtid_sets, st.booleans())
def test_encoding_reads_back(gtid_set: GtidSet, in_tagged_format: bool) -> None:
    is_tagged = in_tagged_format or gtid_set.tagged
    body = encoded(gtid_set, tagged=is_tagged)
    cursor = Cursor(body)
    assert decode_gtid_set(cursor) == (gtid_set, is_tagged)
    cursor.expect_end()


def outcome(cursor: Cursor) -> object:
    try:
        return decode_gtid_set(cursor)
    except BinlogError as error:
        return type(error), str(error)


@given(st.binary(max_size=80), st.sampled_from([b"", UNTAGGED[:8], TAGGED[:8], UNTAGGED[:32], TAGGED[:33]]))
def test_any_bytes_decode_or_are_refused_by_both_cursors_alike(tail: bytes, head: bytes) -> None:
    assert outcome(Cursor(head + tail)) == outcome(RecordingCursor(head + tail))
