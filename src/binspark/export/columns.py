"""The columns of an export, in all schema versions of their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from binspark.columns.selection import Selection
from binspark.files.inputs import FileInput, LogInput
from binspark.files.schema_scan import read_history
from binspark.files.splits import plan_logs
from binspark.files.standard_input import STANDARD_INPUT
from binspark.schema.history import SchemaHistory
from binspark.schema.lineage import WantedColumns


def with_columns_followed(selection: Selection, inputs: Sequence[LogInput], known: SchemaHistory) -> Selection:
    """Return a selection whose columns are also found where they have, or had, another name.

    The DDL of the logs is read for it. That takes files: in standard input and on a server, names mean themselves.
    """
    columns = selection.columns
    sources = [log.source for log in inputs if isinstance(log, FileInput) and log.source.name != STANDARD_INPUT]
    if columns is None or len(sources) < len(inputs):
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
