"""A DataFrame with the changes of a table, as records: what each change does to single keys.

An update that moves the key becomes two records. Where row images do not contain all columns
(`binlog_row_image=MINIMAL` or NOBLOB), the column ABSENT names those that are missing; they keep the value that they
had. A row whose key is moved by such an update takes the values of the old key along.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from binspark.changes.selection_options import METADATA_PREFIX
from binspark.columns.metadata import BEFORE, Metadata, metadata_names
from binspark.errors import OptionError
from binspark.event import RowOperation
from binspark.options.arguments import wrong_argument
from binspark.options.option import Surface

_NEEDED = (Metadata.OP, Metadata.SEQ, Metadata.KEY)
_INSERT, _UPDATE, _DELETE, _TRUNCATE = (operation.value for operation in RowOperation)
# The columns of records, beside those of the table.
AT, KEY, GONE, FRESH, FROM, MISSING = (f"__{name}" for name in ("at", "key", "gone", "fresh", "from", "missing"))


class ChangeTable:
    """The columns of a DataFrame with changes. `used_by` is the function that needs them, for errors."""

    def __init__(self, changes: DataFrame, prefix: str, used_by: str) -> None:
        if not hasattr(changes, "columns") or not hasattr(changes, "schema"):
            raise wrong_argument("changes", f"a DataFrame with the changes of a table, for {used_by}", changes)
        METADATA_PREFIX.read(prefix, Surface.PYTHON)
        self.changes = changes
        self._prefix = prefix
        metadata = {*metadata_names(prefix, Metadata), f"{prefix}{BEFORE}"}
        missing = [f"{prefix}{name}" for name in _NEEDED if f"{prefix}{name}" not in changes.columns]
        if missing:
            message = f"the changes have no column {missing[0]}, which {used_by} needs"
            if missing[0] == f"{prefix}{Metadata.KEY}":
                message += ": the table has no primary key, or the log does not name it (schemaFile does)"
            raise OptionError(message)
        self.names = [name for name in changes.columns if name not in metadata]
        self.columns = [changes[quoted(name)] for name in self.names]
        self.has_absent = f"{prefix}{Metadata.ABSENT}" in changes.columns
        key = changes.schema[f"{prefix}{Metadata.KEY}"].dataType
        if not isinstance(key, StructType):
            raise OptionError(f"the changes are of several tables, and {used_by} needs one: read it with option table")
        lost = [name for name in key.names if name not in self.names]
        if lost:
            raise OptionError(f"the changes have no column {lost[0]}, which is a part of the key")
        self._key = F.struct(*(F.col(quoted(name)) for name in key.names))

    def meta(self, name: Metadata) -> Column:
        """Return a metadata column."""
        return F.col(quoted(f"{self._prefix}{name}"))

    def truncations(self) -> DataFrame:
        """Return the truncations among the changes."""
        return self.changes.where(self.meta(Metadata.OP) == _TRUNCATE)

    def row_changes(self) -> DataFrame:
        """Return the changes without truncations."""
        return self.changes.where(self.meta(Metadata.OP) != _TRUNCATE)

    def after_truncation(self) -> DataFrame:
        """Return the changes after the last truncation."""
        at = self.meta(Metadata.SEQ)
        truncation = self.truncations().agg(F.max(at).alias("__since"))
        later = self.row_changes().crossJoin(F.broadcast(truncation))
        return later.where(F.col("__since").isNull() | (at > F.col("__since"))).drop("__since")

    def records(self, changes: DataFrame, *others: Column) -> DataFrame:
        """Return what changes do to single keys, with other columns if they are needed.

        key    the key; `gone` says that it has no row any more
        fresh  whether the row does not depend on what was there before
        from   the key that columns which are not in the row image have their values from, if that is another one
        """
        op, new = self.meta(Metadata.OP), self._key
        old = F.coalesce(self.meta(Metadata.KEY), new)
        absent = self.meta(Metadata.ABSENT) if self.has_absent else F.lit(None).cast("array<string>")
        is_moved = (op == _UPDATE) & (old != new)
        carried = F.when(absent.isNotNull(), old)

        def record(key: Column, *, gone: bool, fresh: Column, source: Column | None = None) -> Column:
            nothing = F.lit(None).cast(self.changes.schema[f"{self._prefix}{Metadata.KEY}"].dataType)
            parts = {KEY: key, GONE: F.lit(gone), FRESH: fresh, FROM: nothing if source is None else source}
            return F.struct(*(part.alias(name) for name, part in parts.items()))

        tombstone = record(old, gone=True, fresh=F.lit(True))
        kept = record(new, gone=False, fresh=op != _UPDATE)
        moved = record(new, gone=False, fresh=F.lit(True), source=carried)
        every = F.when(op == _DELETE, F.array(tombstone)).when(is_moved, F.array(tombstone, moved))
        return changes.select(
            *self.columns,
            self.meta(Metadata.SEQ).alias(AT),
            absent.alias(MISSING),
            *others,
            F.inline(every.otherwise(F.array(kept))),
        )

    def carried_keys(self, records: DataFrame) -> DataFrame:
        """Return the keys whose rows depend on those of other keys, and these other keys."""
        moves = records.where(F.col(FROM).isNotNull())
        return moves.select(F.explode(F.array(KEY, FROM)).alias(KEY)).distinct()


def quoted(name: str) -> str:
    """Return the name of a column for an expression."""
    return "`" + name.replace("`", "``") + "`"
