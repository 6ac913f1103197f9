"""Texts for kernels that write lines: address and length of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.arrow import word_numbers
from binspark.documents.line_style import encoded
from binspark.kernels.objects.layout import SLACK

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Texts:
    """Texts, and which of them each row has: -1 for none.

    offsets   where each text begins, and where the last one ends
    text      the bytes
    """

    numbers: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int32]
    text: pa.Buffer

    def addresses(self) -> tuple[Numbers, Numbers]:
        """Return the address and the length of the text of each row; 0 for none."""
        known = self.numbers >= 0
        numbers = np.maximum(self.numbers, 0)
        if not known.any():
            return np.zeros(len(numbers), dtype=np.int64), np.zeros(len(numbers), dtype=np.int64)
        starts, ends = self.offsets[numbers].astype(np.int64), self.offsets[numbers + 1].astype(np.int64)
        return (starts + self.text.address) * known, (ends - starts) * known


def gtids_of(column: pa.DictionaryArray) -> Texts:
    """Return the GTIDs of rows."""
    numbers = word_numbers(column)
    known = column.dictionary
    _, offsets, data = known.buffers()
    if offsets is None or data is None or not len(known):
        return Texts(numbers, np.zeros(2, dtype=np.int32), pa.py_buffer(bytes(8)))
    return Texts(numbers, np.frombuffer(offsets, dtype=np.int32)[known.offset : known.offset + len(known) + 1], data)


def texts_of(numbers: npt.NDArray[np.int32], texts: Sequence[bytes]) -> Texts:
    """Return texts, of which each row has the one with its number."""
    offsets = np.cumsum([0, *map(len, texts), 0], dtype=np.int32)
    return Texts(numbers, offsets, pa.py_buffer(b"".join(texts) + bytes(8)))


@dataclass(frozen=True, eq=False, slots=True)
class Words:
    """Texts that are written for every row: address and length of each, and their length together."""

    text: npt.NDArray[np.uint8]
    words: Numbers
    bytes: int

    @property
    def starts(self) -> Numbers:
        """The address of each word."""
        return self.words[:, 0]

    @property
    def lengths(self) -> Numbers:
        """The length of each word."""
        return self.words[:, 1]


def words_of(texts: Sequence[str]) -> Words:
    """Return texts as words."""
    words = [encoded(text) for text in texts]
    text = np.frombuffer(b"".join(words) + bytes(SLACK), dtype=np.uint8)
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    starts = text.ctypes.data + np.cumsum(lengths) - lengths
    return Words(text, np.ascontiguousarray(np.stack([starts, lengths], axis=1)), int(lengths.sum()))


def words_by_number(texts: Mapping[Any, str], members: type[IntEnum]) -> Words:
    """Return texts in the order of their numbers; one that is not given is empty."""
    return words_of([texts.get(member, "") for member in members])
