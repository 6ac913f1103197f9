"""The bytes of integers of variable length are explained."""

from __future__ import annotations

import pytest

from binspark.render.explain.explanation import spell_out

PACKED, VARLEN, SIGNED = "packed integer", "varlen integer", "signed varlen integer"


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        (PACKED, "fa", ""),
        (PACKED, "fc0501", "0xfc: the next 2 bytes are 0x0105 = 261"),
        (PACKED, "fd000001", "0xfd: the next 3 bytes are 0x010000 = 65536"),
        (PACKED, "feffffffffffffffff", "0xfe: the next 8 bytes are 0xffffffffffffffff = 18446744073709551615"),
        (VARLEN, "0a", "0x0a >> 1 = 5"),
        (VARLEN, "2502", "0b…01: 2 bytes, 0x0225 >> 2 = 137"),
        (VARLEN, "ff0100000000000080", "0xff: the next 8 bytes are 0x8000000000000001 = 9223372036854775809"),
        (SIGNED, "0c", "0x0c >> 1 = 6; sign bit 0, 6 >> 1 = 3"),
        (SIGNED, "02", "0x02 >> 1 = 1; sign bit 1, ~(1 >> 1) = -1"),
        ("uint32", "01000000", ""),
    ],
)
def test_how_bytes_make_a_value(kind: str, data: str, words: str) -> None:
    assert spell_out(kind, bytes.fromhex(data)) == words
