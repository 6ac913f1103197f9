"""Text in every character set, without a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import Unsupported
from binspark.values.charsets import CODECS, Codec, Layout, charset_of, codec_of, decode_text, encode_text
from binspark.values.charsets import single_byte_table as table_of
from binspark.values.charsets.collations import COLLATIONS, MAX_BYTES

Argument = TypeVar("Argument")
Returned = TypeVar("Returned")

CHARSETS = sorted(CODECS)
SINGLE_BYTE = sorted(name for name, codec in CODECS.items() if codec.layout is Layout.SINGLE_BYTE)


@pytest.mark.parametrize(
    ("collation", "charset"),
    [
        (8, "latin1"),
        (33, "utf8mb3"),
        (45, "utf8mb4"),
        (63, "binary"),
        (255, "utf8mb4"),
        (254, "utf8mb3"),
        (577, "utf8mb3"),
        (1069, "utf8mb4"),
        (2048, "utf8mb3"),
        (2308, "utf8mb4"),
        (2559, "utf8mb4"),
        (3327, "utf32"),
    ],
)
def test_a_collation_of_either_family_names_its_character_set(collation: int, charset: str) -> None:
    assert charset_of(collation) == charset
    assert codec_of(collation) is CODECS[charset]


def test_no_collation_belongs_to_two_character_sets() -> None:
    ids = [each for ranges in COLLATIONS.values() for first, last in ranges for each in range(first, last + 1)]
    assert len(ids) == len(set(ids))


def test_every_character_set_with_collations_has_a_codec() -> None:
    assert set(CODECS) == set(COLLATIONS) == set(MAX_BYTES)
    assert {name: codec.max_bytes for name, codec in CODECS.items()} == MAX_BYTES


@pytest.mark.parametrize("collation", [0, 17, 100, 400, 4000, 65535])
def test_an_unknown_collation_is_refused_by_name(collation: int) -> None:
    with pytest.raises(Unsupported, match=f"unknown collation {collation}"):
        decode_text(b"a", collation)


@pytest.mark.parametrize(
    ("charset", "raw", "text"),
    [
        ("latin1", b"\x80\x81\x8d\x8f\x90\x9d\xff", "€\x81\x8d\x8f\x90\x9dÿ"),
        ("swe7", b"[\\]", "ÄÖÅ"),
        ("koi8u", b"\x95", "•"),
        ("cp866", b"\xfc\xfd", "ⁿ²"),
        ("greek", b"\xa1\xa2", "ʽʼ"),
        ("hebrew", b"\xaf\xf9", "‾ש"),
        ("dec8", b"\xa8\xd7\xdd\xfd", "¤ŒŸÿ"),
        ("keybcs2", b"\x80\x9e\xa8", "ČŘš"),
        ("geostd8", b"\x80\xc0\xe5\xfd", "€აჵ№"),
        ("armscii8", b"\xb2\xb3\xa1", "Աա❁"),
        ("sjis", b"\x5c\x81\x5f\x81\x60\xb1", "\\\\〜ｱ"),
        ("cp932", b"\x5c\x81\x5f\x81\x60\xb1\x87\x40\xf0\x40", "\\＼～ｱ①\ue000"),
        ("ujis", b"\xa1\xc0\xa1\xc1\x8e\xb1\xf5\xa1\x8f\xfe\xfe", "\\〜ｱ\ue000\ue757"),
        ("eucjpms", b"\xa1\xc0\xa1\xc1\x8e\xb1\xad\xa1\x8f\xf4\xfe", "＼～ｱ①黑"),
        ("big5", b"\xa4\xa4\xf9\xd6", "中碁"),
        ("euckr", b"\xb0\xa1\x81\x41", "가갂"),
        ("gbk", b"\xd6\xd0\x81\x40", "中丂"),
        ("gb2312", b"\xd6\xd0", "中"),
        ("gb18030", b"\xa8\xbc\x81\x35\xf4\x37\x94\x39\xda\x33", "\u1e3f\ue7c7\U0001f4a9"),
        ("utf8mb4", "😀é".encode(), "😀é"),
        ("utf8mb3", "é€".encode(), "é€"),
        ("ucs2", b"\x20\xac", "€"),
        ("utf16", b"\xd8\x3d\xde\x00", "😀"),
        ("utf16le", b"\x3d\xd8\x00\xde", "😀"),
        ("utf32", b"\x00\x01\xf6\x00", "😀"),
        ("binary", "é".encode(), "é"),
    ],
)
def test_bytes_mean_what_they_mean_to_the_servers(charset: str, raw: bytes, text: str) -> None:
    assert CODECS[charset].decode(raw) == text


@pytest.mark.parametrize(
    ("charset", "raw", "start", "end"),
    [
        ("ascii", b"ab\x80", 2, 3),
        ("utf8mb4", b"a\xed\xa0\x80", 1, 2),
        ("utf8mb4", b"a\xc0\x80", 1, 2),
        ("utf8mb3", b"\xc3\xa9\xf0\x9f\x98\x80", 2, 6),
        ("ucs2", b"\x00A\xd8\x3d\xde\x00", 2, 6),
        ("ucs2", b"\x00A\x00", 2, 3),
        ("utf16", b"\x00A\xdc\x00", 2, 4),
        ("utf32", b"\x00\x00\xd8\x00", 0, 4),
        ("utf32", b"\x00\x11\x00\x00", 0, 4),
        ("cp1251", b"a\x98", 1, 2),
        ("tis620", b"a\xdb", 1, 2),
        ("cp932", b"a\x80", 1, 2),
        ("cp932", b"a\x81", 1, 2),
        ("sjis", b"\xb1\x81\x20", 1, 3),
        ("sjis", b"\x87\x40", 0, 2),
        ("big5", b"\xa4\xa4\xa2\x40", 2, 4),
        ("ujis", b"a\x8f\xa1", 1, 3),
        ("eucjpms", b"a\x8e\x41", 1, 3),
    ],
)
def test_invalid_bytes_are_refused_with_their_offset(charset: str, raw: bytes, start: int, end: int) -> None:
    with pytest.raises(UnicodeDecodeError) as refusal:
        CODECS[charset].decode(raw)
    assert (refusal.value.start, refusal.value.end) == (start, end)


@pytest.mark.parametrize(
    ("charset", "text", "start"),
    [("latin1", "aи", 1), ("sjis", "a＼", 1), ("cp932", "aé", 1), ("utf8mb3", "a😀", 1), ("ucs2", "😀", 0)],
)
def test_text_that_a_character_set_lacks_is_refused_with_its_offset(charset: str, text: str, start: int) -> None:
    with pytest.raises(UnicodeEncodeError) as refusal:
        CODECS[charset].encode(text)
    assert (refusal.value.start, refusal.value.end) == (start, start + 1)


@pytest.mark.parametrize(
    ("charset", "text", "raw"),
    [
        ("sjis", "\\", b"\x81\x5f"),
        ("cp932", "纊∵Ⅰ", b"\xfa\x5c\x81\xe6\x87\x54"),
        ("eucjpms", "Ⅰ№～", b"\xad\xb5\xad\xe2\xa1\xc1"),
        ("ujis", "\\~", b"\\~"),
        ("armscii8", "(,", b"(,"),
    ],
)
def test_of_two_ways_to_write_a_character_the_servers_way_is_taken(charset: str, text: str, raw: bytes) -> None:
    assert CODECS[charset].encode(text) == raw


@pytest.mark.parametrize("charset", SINGLE_BYTE)
def test_a_single_byte_table_agrees_with_the_codec(charset: str) -> None:
    table = table_of(charset)
    assert len(table) == 256
    assert [outcome(CODECS[charset].decode, bytes([byte])) for byte in range(256)] == [
        chr(code_point) if code_point >= 0 else UnicodeDecodeError for code_point in table
    ]


def test_only_swe7_gives_ascii_bytes_another_meaning() -> None:
    ascii_points = tuple(range(128))
    assert [charset for charset in SINGLE_BYTE if table_of(charset)[:128] != ascii_points] == ["swe7"]


@given(st.sampled_from(CHARSETS), st.binary(max_size=24))
def test_any_bytes_are_text_or_are_refused(charset: str, raw: bytes) -> None:
    assert isinstance(outcome(CODECS[charset].decode, raw), str | type(UnicodeDecodeError))


@given(st.sampled_from(CHARSETS), st.binary(max_size=24))
def test_what_was_decoded_can_be_written_and_reads_the_same(charset: str, raw: bytes) -> None:
    codec = CODECS[charset]
    text = decodable_part(codec, raw)
    assert codec.decode(codec.encode(text)) == text


@given(st.sampled_from(CHARSETS), st.text(max_size=24))
def test_what_was_written_reads_the_same(charset: str, text: str) -> None:
    codec = CODECS[charset]
    encodable = "".join(each for each in text if outcome(codec.encode, each) is not UnicodeEncodeError)
    assert codec.decode(codec.encode(encodable)) == encodable


@given(st.sampled_from(CHARSETS), st.text(max_size=8))
def test_a_character_takes_no_more_bytes_than_its_set_says(charset: str, text: str) -> None:
    codec = CODECS[charset]
    encoded = [outcome(codec.encode, each) for each in text]
    longest = 4 if codec.layout is Layout.BINARY else codec.max_bytes
    assert all(isinstance(each, type) or len(each) <= longest for each in encoded)


def test_text_is_written_by_collation() -> None:
    assert encode_text("é", 8) == b"\xe9"
    assert encode_text("é", 255) == b"\xc3\xa9"


def decodable_part(codec: Codec, raw: bytes) -> str:
    """Decode the longest beginning that decodes."""
    texts = (outcome(codec.decode, raw[:end]) for end in range(len(raw), -1, -1))
    return next(text for text in texts if isinstance(text, str))


def outcome(function: Callable[[Argument], Returned], argument: Argument) -> Returned | type[UnicodeError]:
    """What a function returns, or the class of what it raises."""
    try:
        return function(argument)
    except UnicodeError as error:
        return type(error)
