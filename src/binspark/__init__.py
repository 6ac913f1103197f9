"""The binary logs of MySQL and MariaDB, read as Spark tables.

>>> import binspark
>>> for event in binspark.events("binlog.000024"):
...     print(event.offset, event.type, event.body)

logs       events, rows, batches; load_keyring for encrypted ones, set_max_payload_bytes for compressed ones; sql: the
           changes as statements, or their inverse
servers    connect, follow, open_archiver; open_server: an archive as a replication source
mirror     mirror, open_mirror: tables in Delta or Iceberg that equal those of a server; check_mirror: the proof
Spark      register, tables, latest, scd2, table_at, chunk_tables, expand, lag, LagListener, binlog_error
values     GtidSet, MariadbPosition, BinlogPosition, LogChunk, Event, Change, Damage, …
errors     BinlogError and its subclasses, see `binspark.errors`
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from binspark.version import __version__ as __version__

if TYPE_CHECKING:
    from binspark.changes.change import Change
    from binspark.errors import (
        Authentication,
        BinlogError,
        BinlogWarning,
        CannotUndo,
        Checksum,
        ConnectionLost,
        DecodeError,
        EncodeError,
        Encrypted,
        Malformed,
        OptionError,
        Purged,
        SchemaError,
        Server,
        SourceError,
        Truncated,
        UnknownTable,
        Unsupported,
    )
    from binspark.event import Event
    from binspark.files.batches import read_batches as batches
    from binspark.files.changes import read_changes as rows
    from binspark.files.damage import Damage, DamageWarning
    from binspark.files.keyring_file import load_keyring
    from binspark.files.read import ReadOptions
    from binspark.files.read import read_events as events
    from binspark.files.sources import RepeatedLogWarning
    from binspark.files.unmatched import UnmatchedWarning
    from binspark.frames.payload import set_max_payload_bytes
    from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbPosition
    from binspark.live import connect, follow, open_archiver, open_server
    from binspark.mirror.api import mirror, open_mirror
    from binspark.mirror.check.api import check_mirror
    from binspark.mirror.table_at import table_at
    from binspark.position import Position
    from binspark.replication.chunk import LogChunk
    from binspark.replication.position import BinlogPosition
    from binspark.server.info import ServerInfo
    from binspark.spark.expand import chunk_tables, expand
    from binspark.spark.failures import binlog_error
    from binspark.spark.lag import Lag, LagListener, lag
    from binspark.spark.latest import latest
    from binspark.spark.scd2 import scd2
    from binspark.spark.tables import tables
    from binspark.spark.workers import register
    from binspark.sql.api import ConflictWarning, sql

__all__ = [
    "Authentication",
    "BinlogError",
    "BinlogPosition",
    "BinlogWarning",
    "CannotUndo",
    "Change",
    "Checksum",
    "ConflictWarning",
    "ConnectionLost",
    "Damage",
    "DamageWarning",
    "DecodeError",
    "EncodeError",
    "Encrypted",
    "Event",
    "Gtid",
    "GtidSet",
    "Lag",
    "LagListener",
    "LogChunk",
    "Malformed",
    "MariadbGtid",
    "MariadbPosition",
    "OptionError",
    "Position",
    "Purged",
    "ReadOptions",
    "RepeatedLogWarning",
    "SchemaError",
    "Server",
    "ServerInfo",
    "SourceError",
    "Truncated",
    "UnknownTable",
    "UnmatchedWarning",
    "Unsupported",
    "batches",
    "binlog_error",
    "check_mirror",
    "chunk_tables",
    "connect",
    "events",
    "expand",
    "explain",
    "follow",
    "lag",
    "latest",
    "load_keyring",
    "mirror",
    "open_archiver",
    "open_mirror",
    "open_server",
    "plot_activity",
    "register",
    "report",
    "rows",
    "scd2",
    "set_max_payload_bytes",
    "sql",
    "stat",
    "table_at",
    "tables",
]

# The module of each public name; errors are in binspark.errors. They are imported when they are first used, so that
# `import binspark` is fast.
_MODULES = {
    "BinlogPosition": ("binspark.replication.position", "BinlogPosition"),
    "Change": ("binspark.changes.change", "Change"),
    "ConflictWarning": ("binspark.sql.api", "ConflictWarning"),
    "Damage": ("binspark.files.damage", "Damage"),
    "DamageWarning": ("binspark.files.damage", "DamageWarning"),
    "Event": ("binspark.event", "Event"),
    "Gtid": ("binspark.gtid", "Gtid"),
    "GtidSet": ("binspark.gtid", "GtidSet"),
    "Lag": ("binspark.spark.lag", "Lag"),
    "LagListener": ("binspark.spark.lag", "LagListener"),
    "LogChunk": ("binspark.replication.chunk", "LogChunk"),
    "MariadbGtid": ("binspark.gtid", "MariadbGtid"),
    "MariadbPosition": ("binspark.gtid", "MariadbPosition"),
    "Position": ("binspark.position", "Position"),
    "ReadOptions": ("binspark.files.read", "ReadOptions"),
    "RepeatedLogWarning": ("binspark.files.sources", "RepeatedLogWarning"),
    "UnmatchedWarning": ("binspark.files.unmatched", "UnmatchedWarning"),
    "ServerInfo": ("binspark.server.info", "ServerInfo"),
    "batches": ("binspark.files.batches", "read_batches"),
    "binlog_error": ("binspark.spark.failures", "binlog_error"),
    "check_mirror": ("binspark.mirror.check.api", "check_mirror"),
    "chunk_tables": ("binspark.spark.expand", "chunk_tables"),
    "connect": ("binspark.live", "connect"),
    "events": ("binspark.files.read", "read_events"),
    "explain": ("binspark.render.explain.log", "explain"),
    "expand": ("binspark.spark.expand", "expand"),
    "follow": ("binspark.live", "follow"),
    "lag": ("binspark.spark.lag", "lag"),
    "latest": ("binspark.spark.latest", "latest"),
    "load_keyring": ("binspark.files.keyring_file", "load_keyring"),
    "mirror": ("binspark.mirror.api", "mirror"),
    "open_archiver": ("binspark.live", "open_archiver"),
    "open_mirror": ("binspark.mirror.api", "open_mirror"),
    "open_server": ("binspark.live", "open_server"),
    "plot_activity": ("binspark.spark.activity", "plot_activity"),
    "register": ("binspark.spark.workers", "register"),
    "report": ("binspark.reports.collect", "report"),
    "rows": ("binspark.files.changes", "read_changes"),
    "scd2": ("binspark.spark.scd2", "scd2"),
    "set_max_payload_bytes": ("binspark.frames.payload", "set_max_payload_bytes"),
    "sql": ("binspark.sql.api", "sql"),
    "stat": ("binspark.files.contents", "stat"),
    "table_at": ("binspark.mirror.table_at", "table_at"),
    "tables": ("binspark.spark.tables", "tables"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'binspark' has no attribute {name!r}")
    module, attribute = _MODULES.get(name, ("binspark.errors", name))
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("pyspark", "pandas"):
            raise
        needed = f"binspark.{name} needs {package}, which is not installed: pip install 'binspark[spark]'"
        raise ModuleNotFoundError(needed, name=error.name) from None


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
