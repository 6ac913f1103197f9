"""MySQL's and MariaDB's binary log, read as Spark tables.

>>> import binspark
>>> for event in binspark.events("binlog.000024"):
...     print(event.offset, event.type, event.body)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from binspark.changes.change import Change
    from binspark.errors import (
        BinlogError,
        Checksum,
        DecodeError,
        EncodeError,
        Malformed,
        OptionError,
        SchemaError,
        SourceError,
        Truncated,
        Unsupported,
    )
    from binspark.event import Event
    from binspark.files.batches import read_batches as batches
    from binspark.files.changes import read_changes as rows
    from binspark.files.read import ReadOptions
    from binspark.files.read import read_events as events
    from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbPosition
    from binspark.position import Position
    from binspark.spark.expand import chunk_tables, expand
    from binspark.spark.failures import binlog_error
    from binspark.spark.tables import register, tables

__all__ = [
    "BinlogError",
    "Change",
    "Checksum",
    "DecodeError",
    "EncodeError",
    "Event",
    "Gtid",
    "GtidSet",
    "Malformed",
    "MariadbGtid",
    "MariadbPosition",
    "OptionError",
    "Position",
    "ReadOptions",
    "SchemaError",
    "SourceError",
    "Truncated",
    "Unsupported",
    "batches",
    "binlog_error",
    "chunk_tables",
    "events",
    "expand",
    "register",
    "rows",
    "tables",
]

# Where each public name lives. They are loaded when first asked for, so that `import binspark` costs nothing.
_HOMES = {
    "Change": ("binspark.changes.change", "Change"),
    "Event": ("binspark.event", "Event"),
    "Gtid": ("binspark.gtid", "Gtid"),
    "GtidSet": ("binspark.gtid", "GtidSet"),
    "MariadbGtid": ("binspark.gtid", "MariadbGtid"),
    "MariadbPosition": ("binspark.gtid", "MariadbPosition"),
    "Position": ("binspark.position", "Position"),
    "ReadOptions": ("binspark.files.read", "ReadOptions"),
    "batches": ("binspark.files.batches", "read_batches"),
    "binlog_error": ("binspark.spark.failures", "binlog_error"),
    "chunk_tables": ("binspark.spark.expand", "chunk_tables"),
    "expand": ("binspark.spark.expand", "expand"),
    "events": ("binspark.files.read", "read_events"),
    "register": ("binspark.spark.tables", "register"),
    "rows": ("binspark.files.changes", "read_changes"),
    "tables": ("binspark.spark.tables", "tables"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'binspark' has no attribute {name!r}")
    module, attribute = _HOMES.get(name, ("binspark.errors", name))
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
