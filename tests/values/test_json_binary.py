"""Binary JSON, byte by byte."""

from __future__ import annotations

import struct

import pytest

from binspark.errors import Malformed, Truncated
from binspark.values.json.binary import json_text
from tests.support.values.json_encoding import LARGE, SMALL, decimal_data, encode_document, encode_json, encode_opaque

BLOB, VARCHAR, NEWDECIMAL, DATE, TIME, DATETIME, TIMESTAMP, VAR_STRING = 252, 15, 246, 10, 11, 12, 7, 253


def nested(levels: int) -> list[object]:
    document: list[object] = []
    for _ in range(levels - 1):
        document = [document]
    return document


def datetime_data(
    year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0, micro: int = 0
) -> bytes:
    date = (year * 13 + month) << 5 | day
    return struct.pack("<q", (date << 17 | hour << 12 | minute << 6 | second) << 24 | micro)


def time_data(sign: int, hour: int, minute: int, second: int, micro: int = 0) -> bytes:
    return struct.pack("<q", sign * ((hour << 12 | minute << 6 | second) << 24 | micro))


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("0400", "null"),
        ("0401", "true"),
        ("0402", "false"),
        ("05ffff", "-1"),
        ("06ffff", "65535"),
        ("0700000080", "-2147483648"),
        ("08ffffffff", "4294967295"),
        ("090000000000000080", "-9223372036854775808"),
        ("0affffffffffffffff", "18446744073709551615"),
        ("0b000000000000f83f", "1.5"),
        ("0c03616263", '"abc"'),
        ("0c00", '""'),
        ("0000000400", "{}"),
        ("0200000400", "[]"),
        ("010000000008000000", "{}"),
        ("030000000008000000", "[]"),
        # two elements, 18 bytes: strings at offsets 10 and 14
        ("02 0200 1200 0c0a00 0c0e00 03616263 03646566", '["abc", "def"]'),
        # the same after "abc" became "XY" and "def" became "XYZW", in place
        ("02 0200 1200 0c0a00 0c0d00 025859 0458595a57", '["XY", "XYZW"]'),
        # one member: key of 1 byte at offset 11, the value 1 in its entry
        ("00 0100 0c00 0b00 0100 050100 61", '{"a": 1}'),
        # large array: an int32 in its entry
        ("03 01000000 0d000000 07 00000080", "[-2147483648]"),
        # small array: an int32 after the header, with a gap of two bytes before it
        ("02 0100 0d00 070900 ffff 00000080", "[-2147483648]"),
    ],
)
def test_bytes_print_as(document: str, text: str) -> None:
    assert json_text(bytes.fromhex(document)) == text


def test_a_document_without_bytes_is_null() -> None:
    assert json_text(b"") == "null"


def test_bytes_after_the_value_are_ignored_as_the_server_does() -> None:
    assert json_text(bytes.fromhex("050100 ffff")) == "1"


def test_a_long_string_has_its_length_in_seven_bits_per_byte() -> None:
    assert json_text(b"\x0c\xc8\x01" + b"x" * 200) == '"' + "x" * 200 + '"'


def test_the_length_may_take_five_bytes() -> None:
    assert json_text(b"\x0c\x83\x80\x80\x80\x00abc") == '"abc"'


def test_keys_are_printed_as_they_are_stored() -> None:
    b_before_a = bytes.fromhex("00 0200 1400 1200 0100 1300 0100 050200 050100 62 61")
    twice_a = bytes.fromhex("00 0200 1400 1200 0100 1300 0100 050200 050100 61 61")
    assert json_text(b_before_a) == '{"b": 2, "a": 1}'
    assert json_text(twice_a) == '{"a": 2, "a": 1}'


@pytest.mark.parametrize("width", [SMALL, LARGE])
def test_small_and_large_format_print_the_same(width: int) -> None:
    document = {"a": [1, -70000, 3.5, None, True, "é😀"], "bb": {"": []}, "c": 1 << 63}
    assert json_text(encode_document(document, width)) == (
        '{"a": [1, -70000, 3.5, null, true, "é😀"], "c": 9223372036854775808, "bb": {"": []}}'
    )


def test_a_large_document_is_read() -> None:
    text = json_text(encode_json(["x" * 70_000, {"k": list(range(40_000))}]))
    assert len(text) == 70_000 + len(str(list(range(40_000)))) + len('["", {"k": }]')


@pytest.mark.parametrize(
    ("type_code", "data", "text"),
    [
        (NEWDECIMAL, decimal_data("1.50"), "1.50"),
        (NEWDECIMAL, decimal_data("-0.001"), "-0.001"),
        (NEWDECIMAL, decimal_data("0.00"), "0.00"),
        (NEWDECIMAL, decimal_data("1" * 81), "1" * 81),
        (NEWDECIMAL, decimal_data("0." + "3" * 40), "0." + "3" * 40),
        (DATE, datetime_data(2024, 1, 31), '"2024-01-31"'),
        (DATE, datetime_data(0, 0, 0), '"0000-00-00"'),
        (DATETIME, datetime_data(2024, 12, 31, 23, 59, 59, 999_999), '"2024-12-31 23:59:59.999999"'),
        (TIMESTAMP, datetime_data(9999, 1, 2, 3, 4, 5, 6), '"9999-01-02 03:04:05.000006"'),
        (TIME, time_data(1, 12, 34, 56), '"12:34:56.000000"'),
        (TIME, time_data(-1, 838, 59, 59), '"-838:59:59.000000"'),
        (TIME, time_data(-1, 0, 0, 0, 1), '"-00:00:00.000001"'),
        (VAR_STRING, b'say "hi"', '"say \\"hi\\""'),
        (BLOB, b"\x00\x01\x02\x03", '"base64:type252:AAECAw=="'),
        (VARCHAR, b"", '"base64:type15:"'),
        (VARCHAR, b"a" * 57, '"base64:type15:' + "YWFh" * 19 + '"'),
        (VARCHAR, b"a" * 58, '"base64:type15:' + "YWFh" * 19 + '\\nYQ=="'),
    ],
)
def test_opaque_values_print_as_the_server_prints_them(type_code: int, data: bytes, text: str) -> None:
    assert json_text(encode_opaque(type_code, data)) == text


@pytest.mark.parametrize(
    ("type_code", "data"),
    [
        (NEWDECIMAL, b"\x00\x00"),
        (NEWDECIMAL, b"\x52\x00" + b"\x80" * 36),
        (NEWDECIMAL, b"\x01\x02\x80"),
        (NEWDECIMAL, decimal_data("1.5") + b"\0"),
        (NEWDECIMAL, b"\x01\x00\x8a"),
        (DATE, datetime_data(2024, 1, 31) + b"\0"),
        (DATETIME, datetime_data(10_000, 1, 1)),
        (DATETIME, datetime_data(2024, 1, 1, 24)),
        (DATETIME, datetime_data(2024, 1, 1, 0, 60)),
        (DATETIME, datetime_data(2024, 1, 1, 0, 0, 60)),
        (DATETIME, datetime_data(2024, 1, 1, micro=1_000_000)),
        (DATETIME, struct.pack("<q", -1)),
        (TIME, time_data(1, 839, 0, 0)),
        (TIME, time_data(-1, 1, 60, 0)),
        (TIME, struct.pack("<q", -(1 << 63))),
        (VAR_STRING, b"\xff"),
    ],
)
def test_opaque_values_that_no_server_writes_are_malformed(type_code: int, data: bytes) -> None:
    with pytest.raises(Malformed):
        json_text(encode_opaque(type_code, data))


@pytest.mark.parametrize(
    ("type_code", "data"),
    [(NEWDECIMAL, b""), (NEWDECIMAL, b"\x05\x02"), (DATE, b"\0" * 7), (TIME, b""), (DATETIME, b"\0")],
)
def test_opaque_values_that_are_too_short_are_truncated(type_code: int, data: bytes) -> None:
    with pytest.raises(Truncated):
        json_text(encode_opaque(type_code, data))


@pytest.mark.parametrize(
    "document",
    [
        "0403",  # no such literal
        "0d00",  # no such types
        "0e",
        "10",
        "0b000000000000f07f",  # infinity
        "0b000000000000f87f",  # not a number
        "0c01ff",  # not UTF-8
        "0c03eda080",  # a surrogate
        "0cffffffffff00",  # a length of six bytes
        "0cffffffff7f",  # a length of 35 bits
        "02 0100 0400",  # no room for the entry of the one element
        "02 0100 0700 0c0600",  # an offset into the header
        "02 0100 0700 0c0800",  # an offset after the end
        "00 0100 0c00 0a00 0100 050100 61",  # a key in the header
        "00 0100 0c00 0d00 0100 050100 61",  # a key after the end
        "00 0100 0c00 0b00 0100 050100 ff",  # a key that is not UTF-8
        "03 ffffffff 08000000",
    ],
)
def test_bytes_that_contradict_themselves_are_malformed(document: str) -> None:
    with pytest.raises(Malformed):
        json_text(bytes.fromhex(document))


@pytest.mark.parametrize(
    "document",
    [
        "02 0000 0500",  # larger than the document
        "02 0100 0700 0c0700",  # a value that begins at the end
        "02 0100 0800 0c0700 05",  # a string that is longer than the array, though not longer than the document
        "00 0100 0c00 0b00 0200 050100 61",  # a key that is longer than its object
        "0c",
        "0c8080",
        "0f",
        "0ffc0400",
    ],
)
def test_bytes_that_end_too_early_are_truncated(document: str) -> None:
    with pytest.raises(Truncated):
        json_text(bytes.fromhex(document))


def test_every_shortened_document_is_refused() -> None:
    document = encode_json({"a": [1, -70000, 3.5, None, True, "é😀"], "bb": {"": [1 << 40]}, "c": [[], {}]})
    for length in range(1, len(document)):
        with pytest.raises(Truncated):
            json_text(document[:length])


def test_a_hundred_levels_are_read_and_no_more() -> None:
    assert json_text(encode_json(nested(100))) == "[" * 100 + "]" * 100
    with pytest.raises(Malformed, match="more than 100 levels"):
        json_text(encode_json(nested(101)))


def test_a_string_that_many_elements_share_is_refused() -> None:
    count, string = 1000, b"\xe8\x07" + b"x" * 1000
    header = 4 + 3 * count
    entries = (b"\x0c" + struct.pack("<H", header)) * count
    document = b"\x02" + struct.pack("<HH", count, header + len(string)) + entries + string
    with pytest.raises(Malformed, match="values of a JSON document overlap"):
        json_text(document)


def test_arrays_that_double_on_every_level_are_refused() -> None:
    document = b"\x00\x00\x04\x00"
    for _ in range(60):
        document = struct.pack("<HH", 2, 10 + len(document)) + b"\x02\x0a\x00" * 2 + document
    with pytest.raises(Malformed, match="values of a JSON document overlap"):
        json_text(b"\x02" + document)
