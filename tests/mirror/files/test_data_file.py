"""The schema with which data files are written."""

from __future__ import annotations

import pyarrow as pa

from binspark.mirror.files.data_file import with_field_ids

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int32()),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("location", pa.struct([pa.field("srid", pa.int32()), pa.field("wkb", pa.binary())])),
    ]
)
IDS = (("id", 1), ("tags", 2), ("location", 3), ("tags.element", 4), ("location.srid", 5), ("location.wkb", 6))


def field_id(field: pa.Field) -> int:
    return int(field.metadata[b"PARQUET:field_id"])


def test_fields_are_numbered_nested_ones_too() -> None:
    numbered = with_field_ids(SCHEMA, IDS)
    assert numbered.equals(SCHEMA)
    assert [field_id(field) for field in numbered] == [1, 2, 3]
    assert field_id(numbered.field("tags").type.value_field) == 4
    assert [field_id(child) for child in numbered.field("location").type] == [5, 6]


def test_a_target_without_numbers_takes_the_schema_as_it_is() -> None:
    assert with_field_ids(SCHEMA, ()) is SCHEMA
