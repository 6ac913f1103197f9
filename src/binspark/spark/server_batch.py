"""A batch read of a live server: what its logs contain between two positions, split by log file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from binspark.columns.selection import Selection
from binspark.errors import OptionError, Purged
from binspark.files.schema_file import log_statement
from binspark.files.sources import log_order
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.options.server import connection_arguments
from binspark.replication.find import end_of_log, find_start, gtids_before
from binspark.replication.gtids import Gtids, gtids_of_family, includes
from binspark.replication.position import BinlogPosition
from binspark.replication.schema_at import history_since, statements_after
from binspark.replication.start import AtTime, Earliest, Latest, Start, parse_start
from binspark.schema.history import SchemaHistory
from binspark.server.config import connection_config
from binspark.server.connection import Connection, connect
from binspark.server.info import ServerLog, server_info, server_logs
from binspark.spark.batch import make_view
from binspark.spark.options import SourceOptions
from binspark.spark.pickling import packed
from binspark.spark.plan import SchemaVersion, needs_schemas
from binspark.spark.streaming.part_reader import reader_of
from binspark.spark.streaming.range_reader import ServerRange
from binspark.spark.streaming.ranges import RangePartition, partitions_of
from binspark.spark.table_schemas import with_lineage
from binspark.spark.unmatched import warn_of_statements_on, warn_of_unmatched_on
from binspark.spark.views.base import ViewReader

_END_OF_LOG = 1 << 62
STARTING, ENDING = "startingOffsets", "endingOffsets"


@dataclass(frozen=True)
class ServerPlan:
    """What is read: ranges of the server's logs with the schemas where they begin, and the rows of them.

    version  the schema version of a typed table, with its relation to the versions of the rows
    """

    parts: tuple[tuple[ServerRange, SchemaHistory], ...]
    selection: Selection
    version: SchemaVersion | None


class ServerBatchReader(DataSourceReader):
    """Reads a server's logs between two positions that are found once, when the query is planned."""

    def __init__(self, options: SourceOptions, schema: StructType, plan: ServerPlan) -> None:
        self._plan = plan
        self._options = replace(options, selection=plan.selection)
        self._schema = schema

    def __reduce__(self) -> tuple[Any, ...]:
        """Omit the plan: an executor receives its own part in its partition, and does not need the others."""
        return packed(self, {**self.__dict__, "_plan": replace(self._plan, parts=())})

    def partitions(self) -> list[InputPartition]:
        """Return one partition for each range."""
        return partitions_of(self._plan.parts, self._plan.version)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range. Where there is none, Spark creates a partition that is not ours."""
        if not isinstance(partition, RangePartition):
            return iter(())
        self._options.begin_reading()
        # The driver has not read the log, so only executors can warn of statements in it.
        return self.view().read(partition.part, reader_of(partition.part, partition.history, log_statement))

    def view(self) -> ViewReader:
        """Return what makes rows of a range."""
        return make_view(self._options, self._schema, self._plan.version)


def plan_server(options: SourceOptions, version: SchemaVersion | None) -> ServerPlan:
    """Find the positions on the server, and divide what is between them."""
    config = connection_config(**connection_arguments(options.server))
    with connect(config) as connection:
        warn_of_unmatched_on(connection, options.selection)
        if needs_schemas(options.view):
            warn_of_statements_on(connection)
        logs = server_logs(connection)
        begin, already_read = _begin(connection, logs, options.starting_offsets or "earliest")
        end, wanted = _end(connection, logs, options.ending_offsets or "latest")
        if end.order < begin.order:
            raise OptionError(f"is {end.describe()}, before startingOffsets, {begin.describe()}", option=ENDING)
        statements = None if version is None else statements_after(connection, begin)
        history = SchemaHistory()
        if needs_schemas(options.view):
            history = history_since(connection, begin, statements)
    if version is not None and statements is not None:
        version = with_lineage(version, statements, begin.error_position)
    parts = [
        (ServerRange(config, first, last), _history_at(history, first))
        for first, last in _ranges(logs, begin, end, options.max_split_bytes)
    ]
    return ServerPlan(tuple(parts), _narrowed(options.selection, already_read, wanted), version)


def _history_at(history: SchemaHistory, position: BinlogPosition) -> SchemaHistory:
    """Return a history before a position; only logs with statements about tables are in it."""
    if position.file in history.files:
        return history.until(position.file, position.offset)
    earlier = [file for file in history.files if log_order(file) < log_order(position.file)]
    if earlier:
        return history.until(earlier[-1], _END_OF_LOG)
    return SchemaHistory(history.base, lower_case_names=history.lower_case_names)


def _begin(connection: Connection, logs: tuple[ServerLog, ...], text: str) -> tuple[BinlogPosition, Gtids | None]:
    """Return where to begin, and the transactions after that which are not to be read."""
    start = _parsed(text, STARTING)
    if isinstance(start, BinlogPosition) and not start.file:
        gtids = _of_family(connection, start, STARTING)
        return _without_gtids(_log_after(connection, logs, gtids), connection), gtids
    return _found(connection, logs, start, STARTING), None


def _end(connection: Connection, logs: tuple[ServerLog, ...], text: str) -> tuple[BinlogPosition, Gtids | None]:
    """Return where to end, and the only transactions before that which are to be read."""
    end = _parsed(text, ENDING)
    if isinstance(end, Earliest):
        raise OptionError(f"must be latest, FILE:POSITION, GTIDs or timestamp:…, got {text!r}", option=ENDING)
    if isinstance(end, AtTime) and end.seconds > int(connection.rows("SELECT UNIX_TIMESTAMP()")[0][0]):
        end = Latest()
    if isinstance(end, BinlogPosition) and not end.file:
        return end_of_log(connection), _of_family(connection, end, ENDING)
    return _found(connection, logs, end, ENDING), None


def _parsed(text: str, option: str) -> Start:
    try:
        return parse_start(text)
    except OptionError as error:
        raise error.spelled(option) from None


def _of_family(connection: Connection, position: BinlogPosition, option: str) -> Gtids:
    assert position.gtids is not None
    return gtids_of_family(position.gtids, server_info(connection).family, option)


def _found(connection: Connection, logs: tuple[ServerLog, ...], start: Start, option: str) -> BinlogPosition:
    try:
        found = find_start(connection, start)
    except OptionError as error:
        raise error.spelled(option) from None
    server = server_info(connection).uuid
    if found.server not in ("", server):
        raise OptionError(f"is a position of another server, {found.server}; this one is {server}", option=option)
    if isinstance(start, BinlogPosition) and found.file not in (log.name for log in logs):
        has = f"{logs[0].name} to {logs[-1].name}" if logs else "none"
        raise OptionError(f"names {found.file}, which the server does not have; it has {has}", option=option)
    return _without_gtids(found, connection)


def _without_gtids(position: BinlogPosition, connection: Connection) -> BinlogPosition:
    return BinlogPosition(position.file, position.offset, None, server_info(connection).uuid)


def _log_after(connection: Connection, logs: tuple[ServerLog, ...], gtids: Gtids) -> BinlogPosition:
    """Return the beginning of the last log before which there are no other transactions than these."""
    found = bisect_right(logs, 0, key=lambda log: int(not includes(gtids, gtids_before(connection, log.name))))
    if not found:
        message = f"transactions after {gtids} are no longer in the server's logs; {STARTING}=earliest reads the rest"
        raise Purged(message, connection.position)
    return BinlogPosition(logs[found - 1].name, FIRST_EVENT_OFFSET)


def _narrowed(selection: Selection, already_read: Gtids | None, wanted: Gtids | None) -> Selection:
    if already_read is not None:
        if selection.exclude_gtids is not None:
            raise OptionError("cannot be combined with GTIDs in startingOffsets", option="excludeGtids")
        selection = replace(selection, exclude_gtids=already_read)
    if wanted is not None:
        if selection.include_gtids is not None:
            raise OptionError("cannot be combined with GTIDs in endingOffsets", option="includeGtids")
        selection = replace(selection, include_gtids=wanted)
    return selection


def _ranges(
    logs: tuple[ServerLog, ...], begin: BinlogPosition, end: BinlogPosition, max_bytes: int
) -> list[tuple[BinlogPosition, BinlogPosition]]:
    """Divide what is between two positions by log file: a server sends one only from an event on. Small logs share."""
    ranges: list[tuple[BinlogPosition, BinlogPosition]] = []
    taken = 0
    for log in logs:
        if not log_order(begin.file) <= log_order(log.name) <= log_order(end.file):
            continue
        first = begin if log.name == begin.file else replace(begin, file=log.name, offset=FIRST_EVENT_OFFSET)
        last = end if log.name == end.file else replace(begin, file=log.name, offset=log.size)
        size = last.offset - first.offset
        if size <= 0:
            continue
        if ranges and taken + size <= max_bytes:
            ranges[-1] = ranges[-1][0], last
            taken += size
        else:
            ranges.append((first, last))
            taken = size
    return ranges
