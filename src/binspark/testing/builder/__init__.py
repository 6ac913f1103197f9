"""Build binary logs for tests: describe transactions, get the bytes that a server would have written.

>>> from binspark.testing.builder import BinlogBuilder, insert, integer, table
>>> log = BinlogBuilder()
>>> log.transaction(insert(table("shop.t", integer("id")), (1,), (2,)))
>>> log.stop()
>>> len(log.content)
456

`log.save(folder)` writes the files, which `binspark.events`, `binspark.rows` or any other reader can open.
"""

from binspark.testing.builder.builder import BinlogBuilder
from binspark.testing.builder.server_kinds import (
    ALL_SERVERS,
    MARIADB_10_1,
    MARIADB_10_5,
    MARIADB_10_11,
    MARIADB_11_8,
    MARIADB_12_3,
    MYSQL_3_23,
    MYSQL_4_1,
    MYSQL_5_0,
    MYSQL_5_1_17,
    MYSQL_5_1_PRE_RELEASE,
    MYSQL_5_5,
    MYSQL_5_6,
    MYSQL_5_7,
    MYSQL_8_0,
    MYSQL_9_7,
    ServerKind,
)
from binspark.testing.builder.tables import (
    Change,
    Column,
    Table,
    blob,
    decimal,
    delete,
    double,
    insert,
    integer,
    table,
    update,
    varchar,
)
from binspark.testing.builder.writer import EventSpec, HeaderFields, LogFile, Overrides, event_bytes

__all__ = [
    "ALL_SERVERS",
    "MARIADB_10_1",
    "MARIADB_10_5",
    "MARIADB_10_11",
    "MARIADB_11_8",
    "MARIADB_12_3",
    "MYSQL_3_23",
    "MYSQL_4_1",
    "MYSQL_5_0",
    "MYSQL_5_1_17",
    "MYSQL_5_1_PRE_RELEASE",
    "MYSQL_5_5",
    "MYSQL_5_6",
    "MYSQL_5_7",
    "MYSQL_8_0",
    "MYSQL_9_7",
    "BinlogBuilder",
    "Change",
    "Column",
    "EventSpec",
    "HeaderFields",
    "LogFile",
    "Overrides",
    "ServerKind",
    "Table",
    "blob",
    "decimal",
    "delete",
    "double",
    "event_bytes",
    "insert",
    "integer",
    "table",
    "update",
    "varchar",
]
