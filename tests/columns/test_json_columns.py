"""JSON columns are filled by the kernel, however much longer than its document a text is."""

from __future__ import annotations

import io
from typing import Any

import pytest

from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.errors import Truncated
from binspark.event.column_types import ColumnType
from binspark.testing.builder import BinlogBuilder, Column, insert, integer, table
from binspark.values.json.binary import json_text
from tests.support.values.json_encoding import encode_json


def store_document(document: bytes) -> bytes:
    return len(document).to_bytes(4, "little") + document


DOCUMENTS = table("shop.documents", integer("id"), Column("document", ColumnType.JSON, 4, store_document))


def log_of(*documents: bytes | None) -> bytes:
    builder = BinlogBuilder()
    builder.transaction(insert(DOCUMENTS, *enumerate(documents)))
    builder.stop()
    return builder.content


def texts(reader: BatchReader, log: bytes) -> list[str | None]:
    batches = [read.batch for read in reader.read(io.BytesIO(log).readinto)]
    return [text for batch in batches for text in batch.column(batch.schema.names[-1]).to_pylist()]


@pytest.mark.parametrize(
    "values",
    [
        ["plain", {"a": [1, 2.5, None]}, [], "\n" * 100],
        ["\x01" * 100_000],
        ["x"] * 1000 + ["\x01" * 50_000] + ["y"] * 1000,
        [["\x02" * 3_000, index] for index in range(300)],
    ],
    ids=["small", "one that grows sixfold", "a large one between small ones", "many that grow"],
)
def test_documents_become_text(values: list[Any]) -> None:
    documents = [encode_json(value) for value in values]
    reader = BatchReader(Selection())
    found = texts(reader, log_of(*documents, None))
    assert found == [json_text(document) for document in documents] + [None]
    assert reader.disagreements == 0


def test_the_reference_says_why_a_document_is_refused() -> None:
    log = log_of(encode_json("right"), b"\x0c\x05abc")
    with pytest.raises(Truncated, match="of a JSON document"):
        texts(BatchReader(Selection()), log)
