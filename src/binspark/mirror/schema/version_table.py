"""The table with all versions of a mirrored table's rows: a slowly changing dimension of type 2.

It has the columns of the table, and five of its own. Its key is that of the table and UNTIL: the version that is valid
is at a key that does not depend on when it began, so that a change finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from binspark.columns.sequence import log_number
from binspark.errors import SchemaError
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.replication.position import BinlogPosition
from binspark.schema.table import TableName

SUFFIX = "__scd2"
VALID_FROM, VALID_TO, IS_CURRENT, SEQ, UNTIL = "_valid_from", "_valid_to", "_is_current", "_seq", "_until"
OPEN = "~"
"""The value of UNTIL in a version that is valid: it sorts after the SEQ of all changes."""

TIME = pa.timestamp("us", tz="UTC")
_FIELDS = (
    (VALID_FROM, TIME),
    (VALID_TO, TIME),
    (IS_CURRENT, pa.bool_()),
    (SEQ, pa.string()),
    (UNTIL, pa.string()),
)


def versions_name(name: TableName) -> TableName:
    """Return the name of the table with the versions of a table."""
    return TableName(name.schema, f"{name.table}{SUFFIX}")


def is_versions_name(name: TableName) -> bool:
    """Return whether a name is that of a table with versions."""
    return name.table.endswith(SUFFIX)


def table_of_versions(name: TableName) -> TableName:
    """Return the name of the table whose versions a table has."""
    return TableName(name.schema, name.table.removesuffix(SUFFIX))


def versioned(table: MirroredTable, column_type: Callable[[pa.DataType], pa.DataType]) -> MirroredTable:
    """Return the table with the versions of a table's rows. `column_type` is that of the target."""
    taken = [name for name, _ in _FIELDS if name in table.schema.names]
    if taken:
        raise SchemaError(f"{table.name} has a column {taken[0]}, which --scd2 adds to the versions of its rows")
    added = [pa.field(name, column_type(kind)) for name, kind in _FIELDS]
    return replace(table, schema=pa.schema([*table.schema, *added]), key=(*table.key, UNTIL), has_versions=True)


def current_table(versions: MirroredTable) -> MirroredTable:
    """Return the table whose versions a table has."""
    fields = list(versions.schema)[: -len(_FIELDS)]
    return replace(versions, schema=pa.schema(fields), key=versions.key[:-1], has_versions=False)


def version_rows(
    versions: MirroredTable, columns: list[pa.Array], begins: pa.Array, seq: pa.Array, is_current: pa.Array
) -> pa.RecordBatch:
    """Return rows as versions that are valid from some time on; those that are not current end the one before."""
    count = len(seq)
    own = [begins, pa.nulls(count, TIME), is_current, seq, pa.repeat(pa.scalar(OPEN), count)]
    cast = (array.cast(versions.schema.field(name).type) for (name, _), array in zip(_FIELDS, own, strict=True))
    return pa.RecordBatch.from_arrays([*columns, *cast], schema=versions.schema)


def seq_at(position: BinlogPosition) -> str:
    """Return the SEQ of a position: after that of all changes before it, and not after those that follow."""
    return f"{position.epoch:04x}{log_number(position.file):08x}{position.offset:012x}{0:08x}"
