"""Digests of rows: equal texts have equal ones, and any change makes another."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from binspark.documents.digests import text_digest
from binspark.kernels.digests import digest_texts

texts = st.lists(st.one_of(st.none(), st.text(max_size=40)), min_size=1, max_size=20)


def digests_of(values: list[str | None]) -> list[tuple[int, ...]]:
    array = pa.array(values, pa.string())
    _, offsets, data = array.buffers()
    digests = np.zeros((len(values), 2), dtype=np.uint64)
    valid = np.array([value is not None for value in values], dtype=np.uint8)
    address = data.address if data is not None else 0
    digest_texts(digests.ctypes.data, len(values), offsets.address, address, valid.ctypes.data)
    return [tuple(map(int, digest)) for digest in digests]


@given(values=texts)
def test_digests_are_equal_exactly_where_texts_are(values: list[str | None]) -> None:
    digests = digests_of(values)
    by_digest = dict(zip(digests, values, strict=True))
    assert [by_digest[digest] for digest in digests] == values
    assert len(set(digests)) == len(set(values))
    assert digests_of(values[::-1]) == digests[::-1]


@given(text=st.text(min_size=1, max_size=60), data=st.data())
def test_any_changed_bit_changes_both_words(text: str, data: st.DataObject) -> None:
    raw = bytearray(text.encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 6))
    (before,), (after,) = digests_of([text]), digests_of([raw.decode(errors="replace")])
    if raw.decode(errors="replace") != text:
        assert before[0] != after[0]
        assert before[1] != after[1]


def test_parts_of_a_text_do_not_run_together() -> None:
    assert text_digest("ab", "c") != text_digest("a", "bc")
    assert text_digest("", "a") != text_digest("a", "")
