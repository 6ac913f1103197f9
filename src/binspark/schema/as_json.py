"""A catalog as JSON, to store the schemas of a server or a dump with its logs."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType
from binspark.position import Position
from binspark.schema.catalog import Catalog, Database, KnownTables
from binspark.schema.changes import Key, KeyPart, TextKind
from binspark.schema.definition import DefinedColumn, TableDefinition
from binspark.schema.table import TableName
from binspark.values.column import Column

FORMAT = "binspark schema 1"
_EXTRAS = ("numbered", "virtual", "digits")


def to_json(catalog: Catalog) -> str:
    """Return a catalog as a JSON document. Tables that are known not to exist are part of it."""
    document = {
        "format": FORMAT,
        "case_matters": catalog.case_matters,
        "databases": {
            name: {"collation": database.collation, "complete": database.complete, "present": database.present}
            for name, database in sorted(catalog.databases.items())
        },
        "tables": [
            {"schema": name.schema, "table": name.table, "definition": None if table is None else _table(table)}
            for name, table in sorted(catalog.tables.items(), key=lambda item: item[0])
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1)


def from_json(text: str) -> Catalog:
    """Return the catalog in a JSON document."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise SchemaError(f"schema document has format {document['format']!r}, expected {FORMAT!r}")
        databases = {name: Database(**known) for name, known in document["databases"].items()}
        tables = {
            TableName(entry["schema"], entry["table"]): _read_table(entry["definition"]) for entry in document["tables"]
        }
        case_matters = bool(document.get("case_matters"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SchemaError(f"not a valid schema document: {error!r}") from None
    return Catalog(databases, KnownTables(tables), case_matters)


def _table(table: TableDefinition) -> dict[str, Any]:
    return {
        "collation": table.collation,
        "mariadb": table.mariadb,
        "versioned": table.versioned,
        "certain": table.certain,
        **({} if table.engine is None else {"engine": table.engine}),
        **({} if table.period is None else {"period": table.period}),
        "origin": _changed_fields(table.origin),
        "columns": [_column(defined) for defined in table.columns],
        "keys": [_key(key) for key in table.keys],
    }


def _key(key: Key) -> dict[str, Any]:
    rare = {name: True for name in ("by_hash", "overlaps") if getattr(key, name)}
    parts = [list(part) for part in key.parts]
    return {"name": key.name, "unique": key.unique, "hashed": key.hashed, **rare, "parts": parts}


def _column(defined: DefinedColumn) -> dict[str, Any]:
    changed = _changed_fields(defined.column) | {"type": defined.column.type.name}
    flags = {name: value for name in _EXTRAS if (value := getattr(defined, name))}
    return changed | {"text": defined.text.name, "characters": defined.characters} | flags


def _changed_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a value that differ from their defaults."""
    pairs = ((field, getattr(value, field.name)) for field in fields(value))
    return {field.name: field_value for field, field_value in pairs if field_value != field.default}


def _read_table(document: dict[str, Any] | None) -> TableDefinition | None:
    if document is None:
        return None
    known = dict(document)
    columns = tuple(_read_column(dict(column)) for column in known.pop("columns"))
    keys = tuple(_read_key(dict(key)) for key in known.pop("keys"))
    origin = Position(**known.pop("origin"))
    if "period" in known:
        known["period"] = tuple(known["period"])
    return TableDefinition(columns=columns, keys=keys, origin=origin, **known)


def _read_column(column: dict[str, Any]) -> DefinedColumn:
    text = TextKind[column.pop("text")]
    characters = column.pop("characters")
    kind = ColumnType[column.pop("type")]
    extras = {name: column.pop(name) for name in _EXTRAS if name in column}
    if "digits" in extras:
        extras["digits"] = tuple(extras["digits"])
    if column.get("members") is not None:
        column["members"] = tuple(column["members"])
    return DefinedColumn(Column(kind, **column), text, characters, **extras)


def _read_key(key: dict[str, Any]) -> Key:
    parts = tuple(KeyPart(*part) for part in key.pop("parts"))
    return Key(parts=parts, **key)
