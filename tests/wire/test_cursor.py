"""The cursor refuses, and never returns less; the writer is its mirror."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import EncodeError, Malformed, Truncated
from binspark.wire import Cursor, Layout, RecordingCursor, Writer

PAIR = Layout(("first", "H"), ("second", "I"))

READS: dict[str, tuple[Callable[[Cursor], Any], str, Any]] = {
    "u8": (lambda cursor: cursor.u8("x"), "ff", 255),
    "u16": (lambda cursor: cursor.u16("x"), "0102", 0x0201),
    "u32": (lambda cursor: cursor.u32("x"), "01020304", 0x04030201),
    "u64": (lambda cursor: cursor.u64("x"), "0102030405060708", 0x0807060504030201),
    "i64": (lambda cursor: cursor.i64("x"), "ffffffffffffffff", -1),
    "f64": (lambda cursor: cursor.f64("x"), "000000000000f83f", 1.5),
    "uint": (lambda cursor: cursor.uint("x", 3), "010203", 0x030201),
    "uint_be": (lambda cursor: cursor.uint_be("x", 3), "010203", 0x010203),
    "raw": (lambda cursor: cursor.raw("x", 2), "abcd", b"\xab\xcd"),
    "text": (lambda cursor: cursor.text("x", 2), "c3bc", "ü"),
    "until_zero": (lambda cursor: cursor.until_zero("x"), "616200", "ab"),
    "uuid": (
        lambda cursor: cursor.uuid("x"),
        "b8ae2fd2300511f08be80242ac150002",
        "b8ae2fd2-3005-11f0-8be8-0242ac150002",
    ),
    "fields": (lambda cursor: cursor.fields(PAIR), "010002000000", (1, 2)),
    "zero": (lambda cursor: cursor.zero("x"), "00", None),
}
each_read = pytest.mark.parametrize(("read", "encoded", "value"), READS.values(), ids=READS.keys())
each_cursor = pytest.mark.parametrize("cursor_type", [Cursor, RecordingCursor])


@each_cursor
@each_read
def test_a_field_is_read_and_stepped_over(
    read: Callable[[Cursor], Any], encoded: str, value: Any, cursor_type: type[Cursor]
) -> None:
    raw = bytes.fromhex(encoded)
    cursor = cursor_type(b"\xee" + raw + b"\xee", 1, 1 + len(raw))
    assert read(cursor) == value
    assert (cursor.offset, cursor.remaining) == (1 + len(raw), 0)
    cursor.expect_end()


@each_cursor
@each_read
def test_a_field_with_a_byte_too_few_is_truncated_even_if_more_bytes_follow_the_end(
    read: Callable[[Cursor], Any], encoded: str, value: Any, cursor_type: type[Cursor]
) -> None:
    raw = bytes.fromhex(encoded)
    cursor = cursor_type(raw + b"\0\0\0\0", 0, len(raw) - 1)
    with pytest.raises(Truncated) as caught:
        read(cursor)
    assert caught.value.position.offset == 0
    assert cursor.offset == 0


@each_cursor
def test_the_rest_may_be_nothing(cursor_type: type[Cursor]) -> None:
    cursor = cursor_type(b"abc", 3)
    assert (cursor.rest("x"), cursor.rest_text("y"), cursor.offset) == (b"", "", 3)


@each_cursor
def test_text_that_is_not_of_its_character_set_is_malformed(cursor_type: type[Cursor]) -> None:
    cursor = cursor_type(b"\xff\xfe")
    with pytest.raises(Malformed, match="name is not valid utf-8: 0xfffe"):
        cursor.text("name", 2)
    assert cursor_type(b"\xff\xfe", encoding="latin-1").text("name", 2) == "ÿþ"


@each_cursor
def test_bytes_that_no_field_has_claimed_are_malformed(cursor_type: type[Cursor]) -> None:
    cursor = cursor_type(b"abc")
    cursor.u8("a")
    with pytest.raises(Malformed, match="unexpected 2 bytes after the last field") as caught:
        cursor.expect_end()
    assert caught.value.position.offset == 1


@each_cursor
def test_a_zero_byte_must_be_zero(cursor_type: type[Cursor]) -> None:
    cursor = cursor_type(b"\1")
    with pytest.raises(Malformed, match="end is 0x01, expected a zero byte at the end of the text"):
        cursor.zero("end")


@each_cursor
def test_a_sub_cursor_ends_after_its_length_and_the_cursor_continues_after_it(cursor_type: type[Cursor]) -> None:
    cursor = cursor_type(b"abcdef")
    part = cursor.sub("part", 3)
    assert (part.rest("x"), cursor.rest("y")) == (b"abc", b"def")
    with pytest.raises(Truncated):
        part.u8("beyond")
    with pytest.raises(Truncated):
        cursor.sub("more", 1)


@each_cursor
@pytest.mark.parametrize("length", [1 << 31, 1 << 63, (1 << 64) - 1])
def test_a_length_beyond_all_bounds_is_truncated(cursor_type: type[Cursor], length: int) -> None:
    for read in (Cursor.raw, Cursor.text, Cursor.uint, Cursor.sub):
        with pytest.raises(Truncated, match=f"needs {length} bytes, only 3 remain"):
            read(cursor_type(b"abc"), "x", length)


def test_a_recording_cursor_remembers_every_byte_that_it_read() -> None:
    cursor = RecordingCursor(bytes.fromhex("05" + "0100" + "02000000" + "6162"))
    cursor.enter("outer")
    cursor.u8("count")
    cursor.leave()
    cursor.fields(PAIR)
    cursor.sub("part", 2).rest_text("name")
    assert [(span.offset, span.length, span.name, span.value) for span in cursor.spans] == [
        (0, 1, "outer.count", 5),
        (1, 2, "first", 1),
        (3, 4, "second", 2),
        (7, 2, "name", "ab"),
    ]


@pytest.mark.parametrize(
    ("write", "value"),
    [
        (Writer.u8, 256),
        (Writer.u8, -1),
        (Writer.u16, 1 << 16),
        (Writer.u32, 1 << 32),
        (Writer.u64, 1 << 64),
        (Writer.i64, 1 << 63),
        (Writer.packed, -1),
        (Writer.varlen, 1 << 64),
        (Writer.text, "\ud800"),
    ],
)
def test_a_value_that_does_not_fit_is_an_encode_error(write: Callable[[Writer, Any], None], value: Any) -> None:
    with pytest.raises(EncodeError):
        write(Writer(), value)


def test_fields_that_do_not_fit_are_named() -> None:
    with pytest.raises(EncodeError, match="first=65536, second=2"):
        Writer().fields(PAIR, 65536, 2)


@given(st.integers(0, (1 << 24) - 1), st.integers(-(1 << 63), (1 << 63) - 1), st.text(st.characters(codec="utf-8")))
def test_what_a_writer_writes_a_cursor_reads(small: int, signed: int, text: str) -> None:
    writer = Writer()
    writer.uint(small, 3)
    writer.uint_be(small, 3)
    writer.i64(signed)
    writer.packed(len(text.encode()))
    writer.text(text)
    writer.zero()
    assert len(writer) == len(writer.take())
    cursor = Cursor(writer.take())
    assert (cursor.uint("a", 3), cursor.uint_be("b", 3), cursor.i64("c")) == (small, small, signed)
    assert cursor.text("d", cursor.packed("length")) == text
    cursor.zero("end")
    cursor.expect_end()


def test_errors_of_a_cursor_travel() -> None:
    with pytest.raises(Truncated) as caught:
        Cursor(b"").u8("x")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.position) == ("offset 0: x needs 1 byte, only 0 remain", caught.value.position)
