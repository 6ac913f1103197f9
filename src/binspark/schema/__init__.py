"""The schemas of tables at any position of a log, from table maps, DDL, dumps and servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.lazy import names_in

if TYPE_CHECKING:
    from binspark.schema.as_json import from_json, to_json
    from binspark.schema.catalog import Catalog
    from binspark.schema.dump import from_dump
    from binspark.schema.history import SchemaHistory
    from binspark.schema.notices import UnreadableDdl
    from binspark.schema.server import from_server
    from binspark.schema.table import TableSchema
    from binspark.schema.table_map import from_table_map

__all__ = [
    "Catalog",
    "SchemaHistory",
    "TableSchema",
    "UnreadableDdl",
    "from_dump",
    "from_json",
    "from_server",
    "from_table_map",
    "to_json",
]

__getattr__ = names_in(
    __name__,
    {
        "as_json": "from_json to_json",
        "catalog": "Catalog",
        "dump": "from_dump",
        "table_map": "from_table_map",
        "history": "SchemaHistory",
        "notices": "UnreadableDdl",
        "server": "from_server",
        "table": "TableSchema",
    },
)
