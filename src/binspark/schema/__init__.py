"""Table maps and DDL into the shapes of tables: what a table was then."""

from binspark.schema.as_json import from_json, to_json
from binspark.schema.catalog import Catalog
from binspark.schema.dump import from_dump
from binspark.schema.from_table_map import from_table_map
from binspark.schema.history import SchemaHistory, UnreadableDdl
from binspark.schema.server import from_server
from binspark.schema.table import TableSchema

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
