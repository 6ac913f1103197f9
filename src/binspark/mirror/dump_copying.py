"""The rows of a dump as the beginning of a mirror: the log continues at the position of the dump."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa

from binspark.errors import OptionError
from binspark.mirror.copying import OnCopied
from binspark.mirror.leaves import write_leaves
from binspark.mirror.snapshot.dumps.dump import Dump, MissingColumns, open_dump
from binspark.mirror.source.change_source import ChangeSource
from binspark.mirror.state import Phase
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.tables.staging import Staging
from binspark.replication.position import BinlogPosition
from binspark.schema.table import TableName

log = logging.getLogger("binspark.mirror")


class DumpCopier:
    """Copies tables of a dump. A table is committed when it is complete; an interrupted copy begins with it again."""

    def __init__(self, source: ChangeSource, tables: MirroredTables, on_copied: OnCopied) -> None:
        self._source = source
        self._tables = tables
        self._on_copied = on_copied
        self._is_stopped = False

    def stop(self) -> None:
        """End after the table that is being copied."""
        self._is_stopped = True

    def copy(self, path: str) -> None:
        """Copy the tables of a dump that are not there yet. A mirror that has gone on needs no dump any more."""
        dump = open_dump(path)
        start = self._start(dump)
        reached = self._tables.position
        if reached is not None and reached.coordinates != start.coordinates:
            log.warning("%s is no longer needed: the mirror is already at %s", path, reached.describe())
            return
        missing = {
            name: self._begin(dump, name, start)
            for name, definition in sorted(dump.catalog.tables.items())
            if definition is not None and self._tables.patterns.wants(name) and not self._is_complete(name)
        }
        for name, batches in dump.rows({name: table.table for name, table in missing.items()}):
            if self._is_stopped:
                return
            self._copy_or_leave(missing.pop(name), batches)
        for staging in missing.values():  # those without rows
            self._copy(staging, iter(()))

    def _start(self, dump: Dump) -> BinlogPosition:
        """Return where the log continues, as the source knows it."""
        try:
            found = self._source.start(dump.position.describe())
        except OptionError as error:
            raise error.spelled("from_dump") if error.option is not None else error from None
        return found if found.gtids is not None else replace(found, gtids=dump.position.gtids)

    def _is_complete(self, name: TableName) -> bool:
        table = self._tables.find(name)
        return table is not None and table.state.phase is not Phase.SNAPSHOT

    def _begin(self, dump: Dump, name: TableName, start: BinlogPosition) -> Staging:
        definition = dump.catalog.tables[name]
        assert definition is not None
        return self._tables.staging(self._tables.begin_copy(name, definition, start))

    def _copy_or_leave(self, staging: Staging, batches: Iterator[pa.RecordBatch]) -> None:
        """Copy a table; one that the dump does not have all columns of is left to be copied from the server."""
        try:
            self._copy(staging, batches)
        except MissingColumns as error:
            if self._source.config is None:
                raise
            log.warning("%s: %s; it is copied from the server instead", staging.table.name, error.message)

    def _copy(self, staging: Staging, batches: Iterator[pa.RecordBatch]) -> None:
        table = staging.table
        rows = self._counted(table.name, batches)
        files = write_leaves(rows, staging.directory, table, self._tables.settings.limits)
        self._tables.end_copy(staging, staging.state(Phase.CURRENT), files)

    def _counted(self, name: TableName, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = 0
        for batch in batches:
            rows += batch.num_rows
            self._on_copied(name, rows, rows)
            yield batch
