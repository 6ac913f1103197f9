"""A changed row as one line of JSON."""

from __future__ import annotations

import json
from pathlib import PurePath

from binspark.changes.change import Change
from binspark.schema.table import TableSchema
from binspark.values.as_json import row_json
from binspark.values.value import Row


def change_json(change: Change) -> str:
    """Return a change as the record that `binspark rows --format jsonl` prints, its keys in a fixed order."""
    table = change.table_schema
    members = {
        "file": _text(PurePath(change.file).name),
        "pos": str(change.pos),
        "row": str(change.row),
        "gtid": "null" if change.gtid is None else _text(change.gtid),
        "timestamp": str(change.timestamp),
        "schema": _text(table.schema),
        "table": _text(table.table),
        "op": _text(change.op.value),
        "before": _image_json(change.before_image, table),
        "after": _image_json(change.after_image, table),
        "key": key_json(change),
    }
    return "{" + ", ".join(f'"{name}": {value}' for name, value in members.items()) + "}"


def key_json(change: Change) -> str:
    """Return the values of the primary key as a JSON object, `null` where it is not known."""
    key, table = change.key_image, change.table_schema
    if key is None:
        return "null"
    return row_json(key, [table.columns[index] for index in table.primary_key or ()])


def _image_json(image: Row | None, table: TableSchema) -> str:
    return "null" if image is None else row_json(image, table.columns)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
