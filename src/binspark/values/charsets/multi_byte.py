"""The character sets of Chinese, Japanese and Korean, where the first byte of a character determines how many follow.

gb2312, gbk, euckr and gb18030 are Python's codecs (gb18030 with two characters exchanged, as its edition of 2005 did);
big5, sjis, cp932, ujis and eucjpms are tables: one of Python's codecs, corrected where the servers differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from binspark.values.charsets.codec import NO_CHARACTER, Codec, Layout, python_codec
from binspark.values.charsets.collations import MAX_BYTES
from binspark.values.charsets.tables import MULTI_BYTE

_EXCHANGED = {0x1E3F: 0xE7C7, 0xE7C7: 0x1E3F}
"""GB18030 of 2005 assigned A8 BC to U+1E3F, and its former four bytes to U+E7C7; Python has the older edition."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How the characters of a table are encoded.

    characters    matches one character, or the bytes that take its position in damaged text
    leads         the possible beginnings of a character of several bytes, without its last byte
    preference    which of two encodings of a character servers use: the one with the smaller key
    user_rows     rows of 94 characters for private use: the beginning of the first row, and the first code point
    """

    characters: re.Pattern[bytes]
    leads: tuple[bytes, ...]
    preference: Callable[[bytes], tuple[int, bytes]] = lambda encoded: (len(encoded), encoded)
    user_rows: tuple[tuple[bytes, int], ...] = ()


_BIG5_CHARACTERS = re.compile(rb"[\x00-\xa0]|[\xa1-\xff].?", re.DOTALL)
_SJIS_CHARACTERS = re.compile(rb"[\x00-\x80\xa0-\xdf\xfd-\xff]|[\x81-\x9f\xe0-\xfc].?", re.DOTALL)
_EUC_CHARACTERS = re.compile(rb"[\x00-\x8d\x90-\xa0]|\x8f.{0,2}|[\x8e\xa1-\xff].?", re.DOTALL)

_BIG5_LEADS = tuple(bytes([lead]) for lead in range(0xA1, 0xFA))
_SJIS_LEADS = tuple(bytes([lead]) for lead in (*range(0x81, 0xA0), *range(0xE0, 0xFD)))
_EUC_ROWS = tuple(bytes([row]) for row in range(0xA1, 0xFF))
_EUC_LEADS = (b"\x8e", *_EUC_ROWS, *(b"\x8f" + row for row in _EUC_ROWS))
_EUC_USER_ROWS = ((b"\xf5", 0xE000), (b"\x8f\xf5", 0xE3AC))

_FORMS: Mapping[str, _Form] = {
    "big5": _Form(_BIG5_CHARACTERS, _BIG5_LEADS),
    # A backslash in Unicode text is stored in its wide form, although both forms are decoded.
    "sjis": _Form(_SJIS_CHARACTERS, _SJIS_LEADS, lambda encoded: (-len(encoded), encoded)),
    # NEC's selection of IBM's characters (ED, EE) is decoded, but IBM's own codes are stored.
    "cp932": _Form(_SJIS_CHARACTERS, _SJIS_LEADS, lambda encoded: (encoded[0] in (0xED, 0xEE), encoded)),
    "ujis": _Form(_EUC_CHARACTERS, _EUC_LEADS, user_rows=_EUC_USER_ROWS),
    "eucjpms": _Form(_EUC_CHARACTERS, _EUC_LEADS, user_rows=_EUC_USER_ROWS),
}


def multi_byte_codecs() -> tuple[Codec, ...]:
    """Return the codecs of all multi-byte character sets; tables are built when they are first needed."""
    return (
        python_codec("gb2312", Layout.MULTI_BYTE, "gb2312"),
        python_codec("gbk", Layout.MULTI_BYTE, "gbk"),
        python_codec("euckr", Layout.MULTI_BYTE, "cp949"),
        _gb18030_codec(),
        _table_codec("big5"),
        _table_codec("sjis"),
        _table_codec("cp932"),
        _table_codec("ujis"),
        _table_codec("eucjpms"),
    )


def _gb18030_codec() -> Codec:
    def decode(raw: bytes) -> str:
        return raw.decode("gb18030").translate(_EXCHANGED)

    def encode(text: str) -> bytes:
        return text.translate(_EXCHANGED).encode("gb18030")

    return Codec("gb18030", Layout.MULTI_BYTE, MAX_BYTES["gb18030"], decode, encode)


def _table_codec(charset: str) -> Codec:
    split = _FORMS[charset].characters.findall

    def decode(raw: bytes) -> str:
        if raw.isascii():
            return raw.decode("ascii")
        table = decoding_table(charset)
        encoded_characters = split(raw)
        try:
            return "".join([table[encoded] for encoded in encoded_characters])
        except KeyError:
            raise _undecodable(charset, raw, encoded_characters) from None

    def encode(text: str) -> bytes:
        table = encoding_table(charset)
        try:
            return b"".join([table[character] for character in text])
        except KeyError:
            at = next(index for index, character in enumerate(text) if character not in table)
            raise UnicodeEncodeError(charset, text, at, at + 1, "the character set does not have it") from None

    return Codec(charset, Layout.MULTI_BYTE, MAX_BYTES[charset], decode, encode)


def _undecodable(charset: str, raw: bytes, encoded_characters: list[bytes]) -> UnicodeDecodeError:
    """Return the error for the first bytes that are not a character."""
    table = decoding_table(charset)
    at = next(index for index, encoded in enumerate(encoded_characters) if encoded not in table)
    start = sum(map(len, encoded_characters[:at]))
    return UnicodeDecodeError(charset, raw, start, start + len(encoded_characters[at]), "no such character")


@cache
def decoding_table(charset: str) -> Mapping[bytes, str]:
    """Return the character of each sequence of bytes."""
    form = _FORMS[charset]
    python_name, differences = MULTI_BYTE[charset]
    table = dict(_python_characters(python_name, form.leads))
    for lead, code_point in form.user_rows:
        table.update(_user_characters(lead, code_point))
    for first, characters in differences.items():
        for step, character in enumerate(characters):
            table[first[:-1] + bytes([first[-1] + step])] = character
    return {encoded: character for encoded, character in table.items() if character != NO_CHARACTER}


@cache
def encoding_table(charset: str) -> Mapping[str, bytes]:
    """Return the bytes that servers store for each character."""
    ways = sorted(decoding_table(charset).items(), key=lambda item: _FORMS[charset].preference(item[0]), reverse=True)
    return {character: encoded for encoded, character in ways}


def _python_characters(python_name: str, leads: tuple[bytes, ...]) -> Iterator[tuple[bytes, str]]:
    """Yield the characters of Python's codec: single bytes, and each lead with each last byte."""
    for lead in (b"", *leads):
        for last in range(256):
            encoded = lead + bytes([last])
            with suppress(UnicodeDecodeError):
                yield encoded, encoded.decode(python_name)


def _user_characters(first_lead: bytes, first_code_point: int) -> Iterator[tuple[bytes, str]]:
    """Yield ten rows of 94 characters, beginning with the first code point."""
    for row in range(10):
        lead = first_lead[:-1] + bytes([first_lead[-1] + row])
        for column in range(94):
            yield lead + bytes([0xA1 + column]), chr(first_code_point + 94 * row + column)
