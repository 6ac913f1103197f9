"""One table of representations: `binspark rows`, `rows=json` and VARIANT have the same values of every type."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest

from binspark.changes import ChangeReader, change_json
from binspark.columns.batches import TableBatch
from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.documents.row_images import RowImages
from binspark.documents.row_objects import json_rows, variant_rows
from binspark.event.column_types import ColumnType as T
from binspark.files import read_events
from binspark.values.column import Column
from binspark.wire.floats import shortest_float
from tests.corpus.cases import case_logs, log_id
from tests.support.documents.variant import variant_values

CASES = [
    "types",
    "types-minimal",
    "types-compressed",
    "image-minimal",
    "image-noblob",
    "keys",
    "json-partial",
    "types-old-temporal",
]
LOGS = [
    log
    for family in ("mysql", "mariadb")
    for case in CASES
    if (Path(__file__).parents[1] / "corpus" / family / case).is_dir()
    for log in case_logs(f"{family}/{case}")
]
_MOMENTS = (T.DATETIME, T.DATETIME2, T.TIMESTAMP, T.TIMESTAMP2)


def batches(log: Path, zero_dates: ZeroDates) -> list[TableBatch]:
    selection = Selection(before=True, images=True, options=ColumnOptions(zero_dates=zero_dates))
    return list(BatchReader(selection).read(io.BytesIO(log.read_bytes()).readinto, log.name))


def as_json(value: Any, column: Column) -> Any:
    """Return a value of VARIANT as JSON has it, by the table in docs/rows.md."""
    converter = _CONVERTERS.get(type(value))
    if column.type == T.JSON:
        return value
    return value if converter is None else converter(value, column)


def _moment(value: datetime, column: Column) -> str:
    fraction = f".{value.microsecond:06d}"[: column.scale + 1] if column.scale else ""
    return value.replace(tzinfo=None).isoformat(" ", "seconds") + fraction + ("+00:00" if value.tzinfo else "")


_CONVERTERS: dict[type, Callable[[Any, Column], Any]] = {
    Decimal: lambda value, column: f"{value:f}" if column.type == T.NEWDECIMAL else int(value),
    date: lambda value, _column: value.isoformat(),
    datetime: _moment,
    bytes: lambda value, _column: f"0x{value.hex()}",
    bytearray: lambda value, _column: f"0x{bytes(value).hex()}",
    float: lambda value, column: value if column.type == T.DOUBLE else shortest_float(value),
    list: lambda value, column: [as_json(item, column) for item in value],
    dict: lambda value, column: {name: as_json(item, column) for name, item in value.items()},
}


def _is_zero_date(value: Any, column: Column) -> bool:
    is_moment = column.type in (*_MOMENTS, T.DATE, T.NEWDATE) and isinstance(value, str)
    return is_moment and (value.startswith("0000") or "-00" in value[:10])


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_lines_json_and_variant_have_the_same_values(log: Path) -> None:
    reader = ChangeReader(Selection())
    records = [json.loads(change_json(change)) for event in read_events(log) for change in reader.feed(event)]
    texts, variants = batches(log, ZeroDates.STRING), batches(log, ZeroDates.NULL)
    compared = 0
    for text, variant in zip(texts, variants, strict=True):
        columns = dict(zip(text.table.column_names, text.table.columns, strict=True))
        mine = [
            record for record in records if (record["schema"], record["table"]) == tuple(text.table.name.split("."))
        ]
        positions = list(zip(text.batch["_log_pos"].to_pylist(), text.batch["_log_row"].to_pylist(), strict=True))
        by_position = {(record["pos"], record["row"]): record for record in mine}
        for name in ("before", "after"):
            in_lines = [by_position[position][name] for position in positions]
            in_json = [_parsed(value) for value in getattr(RowImages(text, json_rows), name)().to_pylist()]
            assert in_json == in_lines
            in_variant = variant_values(getattr(RowImages(variant, variant_rows), name)())
            for line, value in zip(in_lines, in_variant, strict=True):
                assert (line is None) == (value is None)
                with localcontext(Context(prec=100)):
                    compared += _compare(line or {}, value.toPython() if value is not None else {}, columns)
    assert compared


def _compare(line: dict[str, Any], variant: dict[str, Any], columns: dict[str, Column]) -> int:
    assert set(line) == set(variant)
    for name, value in line.items():
        column = columns[name]
        if _is_zero_date(value, column):
            assert variant[name] is None
        elif column.type == T.JSON:
            assert _document(variant[name]) == _document(value), (name, column)
        else:
            assert as_json(variant[name], column) == value, (name, column)
    return len(line)


def _document(value: Any) -> Any:
    """Return a document with all numbers as floats: Python's parser and VARIANT choose different types for them."""
    if isinstance(value, dict):
        return {name: _document(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_document(item) for item in value]
    return float(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def test_the_document_null_and_sql_null_are_null_in_all_three() -> None:
    (log,) = [log for log in LOGS if log_id(log) == "mysql/types/binlog.000001"]
    batch = next(found for found in batches(log, ZeroDates.STRING) if T.JSON in [c.type for c in found.table.columns])
    name = next(column.name for column in batch.table.columns if column.type == T.JSON)
    documents = batch.batch[name].to_pylist()
    assert "null" in documents
    assert None in documents
    texts = [_parsed(text) for text in RowImages(batch, json_rows).after().to_pylist()]
    values = variant_values(RowImages(batch, variant_rows).after())
    with localcontext(Context(prec=100)):
        variants = [None if value is None else value.toPython() for value in values]
    for document, text, variant in zip(documents, texts, variants, strict=True):
        if document in ("null", None) and variant is not None:
            assert text[name] is variant[name] is None
