"""The columns of an export, in all schema versions of their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from binspark.columns.selection import Selection
from binspark.files.schema_scan import read_history
from binspark.files.sources import STANDARD_INPUT, LogSource
from binspark.files.splits import plan_logs
from binspark.schema.history import SchemaHistory
from binspark.schema.lineage import WantedColumns


def with_columns_followed(selection: Selection, sources: Sequence[LogSource], known: SchemaHistory) -> Selection:
    """Return a selection whose columns are also found where they have, or had, another name.

    The DDL of the logs is read for it; standard input can be read only once, so that names there mean themselves.
    """
    columns = selection.columns
    if columns is None or any(source.name == STANDARD_INPUT for source in sources):
        return selection
    catalog = read_history(plan_logs(sources), SchemaHistory(known.base)).catalog
    wanted: dict[str, WantedColumns] = {}
    for name, lineage in catalog.lineages.items():
        schema = catalog.table_schema(name)
        current = () if schema is None else schema.column_names
        ever = {other.lower() for other in (*current, *lineage.past_names())}
        if schema is None or all(column.lower() in ever for column in columns):
            wanted[str(name)] = WantedColumns.of(columns, current, lineage)
    return replace(selection, wanted=wanted)
