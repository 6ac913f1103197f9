"""The meanings that decoders record for their fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.event.column_types import ColumnType, type_metadata
from binspark.frames import EventCode
from binspark.wire import Layout, RecordingCursor
from binspark.wire.meaning import as_padded_text, as_text, bits_high_first
from tests.support.render.explain_logs import event, explain_one, meanings


def user_var(value_type: int, raw: bytes, flags: int) -> bytes:
    head = (1).to_bytes(4, "little") + b"v\0" + bytes((value_type,)) + (63).to_bytes(4, "little")
    return event(EventCode.USER_VAR, head + len(raw).to_bytes(4, "little") + raw + bytes((flags,)))


@pytest.mark.parametrize(("flags", "words"), [(0, "-1"), (1, "18446744073709551615")], ids=["signed", "unsigned"])
def test_the_flags_after_an_integer_are_its_sign(tmp_path: Path, flags: int, words: str) -> None:
    assert meanings(explain_one(tmp_path, user_var(2, b"\xff" * 8, flags)))["value"] == words


@pytest.mark.parametrize(
    ("column_type", "value", "words"),
    [
        (ColumnType.VARCHAR, 480, "at most 480 bytes"),
        (ColumnType.NEWDECIMAL, 0x020A, "precision 10, scale 2"),
        (ColumnType.BIT, 0x0103, "11 bits"),
        (ColumnType.STRING, 0x01F7, "ENUM, a value takes 1 byte"),
        (ColumnType.STRING, 0x28FE, "STRING, at most 40 bytes"),
        (ColumnType.STRING, 0xFCCE, "STRING, at most 1020 bytes"),
        (ColumnType.BLOB, 2, "the length of a value takes 2 bytes"),
        (ColumnType.DATETIME2, 6, "fractional seconds of 6 digits"),
    ],
)
def test_what_type_metadata_says(column_type: ColumnType, value: int, words: str) -> None:
    meaning = type_metadata(column_type).meaning
    assert meaning is not None
    assert meaning(value) == words


def test_bytes_that_are_text_are_recorded_as_text() -> None:
    cursor = RecordingCursor(b"caf\xe9" + b"8.0\0\0")
    assert cursor.raw("query", 4, as_text) == b"caf\xe9"
    assert cursor.rest("version", as_padded_text) == b"8.0\0\0"
    assert [(span.kind, span.value) for span in cursor.spans] == [("text", "caf\\xe9"), ("zero-padded text", "8.0")]


def test_a_signed_field_of_a_layout_is_recorded_as_signed() -> None:
    cursor = RecordingCursor(b"\xff" * 5)
    cursor.fields(Layout(("format_id", "i"), ("count", "B")))
    assert [(span.kind, span.value) for span in cursor.spans] == [("int32", -1), ("uint8", 255)]


def test_bits_are_counted_from_the_highest_of_each_byte() -> None:
    assert bits_high_first(b"\x80\x01") == "bits that are set: 1, 16"
    assert bits_high_first(b"\x00") == "no bit is set"
