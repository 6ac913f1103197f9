"""A table as it was after any transaction: from a version of its mirror, or another snapshot, and the log after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from binspark.changes.selection_options import TABLE
from binspark.columns.metadata import BEFORE, DEFAULT_PREFIX, Metadata, metadata_names
from binspark.errors import OptionError, UnknownTable
from binspark.event import RowOperation
from binspark.files.sources import find_logs, log_order
from binspark.gtid import MAX_NUMBER, GtidSet
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves.leaf_reader import LeafReader
from binspark.mirror.schema.definitions import as_mirrored, read_stored
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS
from binspark.mirror.snapshot.dumps.dump import open_dump
from binspark.mirror.source.log_start import GtidRange, LogFiles, LogStart
from binspark.mirror.state import Phase
from binspark.mirror.targets.target import Cut, Target, TargetError, TargetTable
from binspark.options.arguments import check_session, path_argument, path_arguments, wrong_argument
from binspark.options.option import Surface
from binspark.options.server import connection_arguments
from binspark.options.values import FilePosition, InvalidValue, time_microseconds
from binspark.replication.gtids import Gtids
from binspark.replication.position import BinlogPosition
from binspark.schema.table import TableName
from binspark.server.config import connection_config
from binspark.server.connection import connect
from binspark.server.info import server_info
from binspark.spark.change_table import quoted
from binspark.spark.failures import binlog_error
from binspark.spark.latest import latest
from binspark.spark.options import read_options

Source = str | Sequence[str] | Mapping[str, Any]
"""Logs, or the options of a server: `{"host": "db1", "user": "repl"}`."""

_COMMITTED = "coalesce(immediate_commit_timestamp, timestamp)"
_SOURCE = "logs (a path, or several) or the options of a server ({'host': 'db1'})"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Snapshot(NamedTuple):
    """The rows of a table at a position of the log: `FILE:POSITION`."""

    rows: DataFrame
    position: str


def table_at(
    spark: SparkSession,
    source: Source,
    table: str,
    *,
    gtid: str | None = None,
    time: datetime | str | None = None,
    mirror: Target | str | None = None,
    snapshot: str | Snapshot | tuple[DataFrame, str] | None = None,
    **options: Any,
) -> DataFrame:
    """Return a table as it was after a transaction, or at a time.

    >>> binspark.table_at(spark, "archive/", "shop.orders", time="2026-11-15 09:30:00")  # doctest: +SKIP
    >>> binspark.table_at(spark, "archive/", "shop.orders", gtid="…:42", mirror="lake/")  # doctest: +SKIP

    source     where the log is read: files, an archive, or the options of a server as a dictionary
    gtid       after this transaction, and all that are before it in the log
    time       after all transactions that were committed up to this time
    mirror     a mirror of the table: its last version before the transaction is read, and the log from there on
    snapshot   a dump with its position (mysqldump, mydumper), which executors can read; or rows of the table and the
               position that they belong to. The log from there on is read

    Without a mirror or a snapshot the log must contain all changes of the table since it was created, and a column that
    was added with a default is NULL in rows that were not changed since. The columns are those of the newest schema in
    the log. The other options are those of the data source, such as `schemaFile`; `absent` for
    `binlog_row_image=MINIMAL` or NOBLOB.
    """
    if (gtid is None) == (time is None):
        raise OptionError(f"table_at takes either gtid or time, got {'neither' if gtid is None else 'both'}")
    if mirror is not None and snapshot is not None:
        raise OptionError("table_at takes a mirror or a snapshot, not both")
    check_session(spark)
    table = TABLE.read(table, Surface.PYTHON)
    policies = {"time": MIRROR_OPTIONS.time.value} if mirror is not None or isinstance(snapshot, str) else {}
    log = _Log(spark, source, {**policies, **options})
    end = log.end_of_transaction(gtid) if gtid is not None else log.end_at(_moment(time or ""))
    base: Snapshot | None = None
    start: LogStart | None = None
    if mirror is not None:
        base, start = _version_before(log, _target(mirror), _name(table), end)
    elif snapshot is not None:
        base = _dumped(spark, snapshot, _name(table), end) if isinstance(snapshot, str) else Snapshot(*snapshot)
        start = LogStart(base.position)
    if base is None:
        return latest(log.changes(table, None, end))
    try:
        changes = log.changes(table, start, end)
    except UnknownTable:
        return base.rows  # nothing has happened to the table since
    return latest(_as_changes(base.rows, changes).unionByName(changes))


class _Log:
    """Reads a log through the data source."""

    def __init__(self, spark: SparkSession, source: Source, options: Mapping[str, Any]) -> None:
        self.spark = spark
        self._is_server = isinstance(source, Mapping)
        self._options = {**source, **options} if isinstance(source, Mapping) else dict(options)
        self._paths = None if isinstance(source, Mapping) else list(path_arguments(source, "source", _SOURCE))
        self._first: tuple[FilePosition, dict[str, int]] | None = None

    def end_of_transaction(self, gtid: str) -> FilePosition:
        """Return the position after a transaction."""
        if not isinstance(gtid, str):
            raise wrong_argument("gtid", "the GTID of a transaction", gtid)
        found = self._ends(self._transactions().where(F.col("gtid") == gtid.strip()))
        if not found:
            raise OptionError(f"names {gtid}, which is not a complete transaction of the log", option="gtid")
        return found[-1]

    def end_at(self, moment: datetime) -> FilePosition:
        """Return the position after the last transaction that was committed up to a time."""
        found = self._ends(self._transactions().where(F.expr(_COMMITTED) <= F.lit(moment)))
        if not found:
            raise OptionError(f"({moment:%Y-%m-%d %H:%M:%S %Z}) is before the log begins", option="time")
        return found[-1]

    def changes(self, table: str, start: LogStart | None, end: FilePosition) -> DataFrame:
        """Return the changes of a table between two positions."""
        names = ("startingOffsets", "endingOffsets") if self._is_server else ("startPosition", "stopPosition")
        limits = {names[1]: str(end)} if start is None else {names[0]: start.position, names[1]: str(end)}
        if start is not None and start.excluded is not None:
            limits["excludeGtids"] = start.excluded
        return self._read({**limits, "table": table})

    def start_at(self, position: BinlogPosition) -> LogStart | None:
        """Return where to read on after a position; None if the log does not say what follows it.

        After a failover, and in files of another server, the position is found by its GTIDs.
        """
        if not self._is_server:
            return self._files.start_at(position)
        if not position.server or position.server == self._server:
            return LogStart(position.describe())
        return LogStart(str(position.gtids)) if position.gtids else None

    @cached_property
    def _files(self) -> LogFiles:
        options = read_options({name: str(value) for name, value in self._options.items()})
        return LogFiles(find_logs(self._paths or (), options.file_storage))

    @cached_property
    def _server(self) -> str:
        """The UUID of the server."""
        server = read_options({name: str(value) for name, value in self._options.items()}).server
        with connect(connection_config(**connection_arguments(server))) as connection:
            return server_info(connection).uuid

    def has_before(self, end: FilePosition, gtids: Gtids) -> bool:
        """Return whether all of some transactions come before a position of the log."""
        if not self._is_server:
            is_before = (F.col("end_file") == (end.file or "")) & (F.col("end_pos") <= end.offset)
            return self._files.has_before(end.file or "", self._gtid_ranges(is_before), gtids)
        if self._first is None or self._first[0] != end:
            files = [row["end_file"] for row in self._transactions().select("end_file").distinct().collect()]
            later = [file for file in files if log_order(file) > log_order(end.file or "")]
            is_later = (F.col("end_file") == (end.file or "")) & (F.col("end_pos") > end.offset)
            ranges = self._gtid_ranges(F.col("end_file").isin(later) | is_later)
            first: dict[str, int] = {}
            for each in ranges:
                first[each.origin] = min(each.first, first.get(each.origin, each.first))
            self._first = end, first
        return _is_before_all(self._first[1], gtids)

    def _gtid_ranges(self, condition: Column) -> list[GtidRange]:
        """Return the GTIDs of some transactions, by the source of MySQL or the domain of MariaDB."""
        is_mysql = F.col("gtid").contains(":")
        origin = F.when(is_mysql, F.regexp_extract("gtid", "^(.*):", 1)).otherwise(F.split("gtid", "-")[0])
        number = F.regexp_extract("gtid", r"(\d+)$", 1).cast("bigint")
        numbered = self._transactions().where(condition & F.col("gtid").isNotNull())
        numbered = numbered.select(origin.alias("origin"), number.alias("number")).distinct()
        order = F.row_number().over(Window.partitionBy("origin").orderBy("number"))
        ranges = numbered.withColumn("group", F.col("number") - order).groupBy("origin", "group")
        found = ranges.agg(F.min("number").alias("first"), F.max("number").alias("last")).collect()
        return [GtidRange(row["origin"], row["first"], row["last"]) for row in found]

    def _transactions(self) -> DataFrame:
        kept = {name: value for name, value in self._options.items() if self._is_server or name != "schemaFile"}
        reader = self.spark.read.format("binlog").options(view="transactions", **_without_columns(kept))
        return self._load(reader).where("complete")

    def _ends(self, transactions: DataFrame) -> list[FilePosition]:
        """Return the last position in each file, in the order of files."""
        ends = transactions.groupBy("end_file").agg(F.max("end_pos").alias("end_pos")).collect()
        found = [FilePosition(row["end_file"], row["end_pos"]) for row in ends]
        return sorted(found, key=lambda position: log_order(position.file or ""))

    def _read(self, options: Mapping[str, Any]) -> DataFrame:
        return self._load(self.spark.read.format("binlog").options(**self._options, **options))

    def _load(self, reader: Any) -> DataFrame:
        try:
            found: DataFrame = reader.load() if self._paths is None else reader.load(self._paths)
        except AnalysisException as failure:
            error = binlog_error(failure)
            if error is None:
                raise
            raise error from None
        return found


def _without_columns(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that also apply to transactions."""
    return {
        name: value for name, value in options.items() if name not in ("time", "absent", "zeroDates", "undecodable")
    }


def _version_before(log: _Log, target: Target, name: TableName, end: FilePosition) -> tuple[Snapshot, LogStart]:
    """Return the last version of a mirrored table that has no transaction after a position, and where to read on.

    Where a cut is of the log of another server, its GTIDs say what it has, and where the log continues.
    """
    table = target.table(name)
    if table is None:
        raise OptionError(f"has no table {name}", option="mirror")
    unknown: BinlogPosition | None = None
    for cut in reversed(target.cuts.all()):
        position = BinlogPosition.parse(cut.position)
        start = log.start_at(position)
        if start is None:
            unknown = unknown or position
            continue
        found = _consistent_rows(log.spark, target, table, cut) if _is_before(log, position, start, end) else None
        if found is not None:
            return Snapshot(found, start.position), start
    message = f"has no version of {name} before {end}; older ones may have been cleaned up"
    if unknown is not None:
        message += f", and the log is not known to have all that follows {_described(unknown)}"
    raise OptionError(message, option="mirror")


def _is_before(log: _Log, position: BinlogPosition, start: LogStart, end: FilePosition) -> bool:
    if start.position == position.describe():
        return _order(FilePosition(position.file, position.offset)) <= _order(end)
    return position.gtids is not None and log.has_before(end, position.gtids)


def _is_before_all(first: Mapping[str, int], gtids: Gtids) -> bool:
    """Return whether none of some transactions is among those after a position, of which the first numbers are known.

    Those are as another server had them.
    """
    if isinstance(gtids, GtidSet):
        return not any(GtidSet(f"{origin}:{number}-{MAX_NUMBER - 1}") & gtids for origin, number in first.items())
    return not any(gtid.sequence >= first.get(str(gtid.domain), gtid.sequence + 1) for gtid in gtids)


def _described(position: BinlogPosition) -> str:
    """Return what is known of a position, by which it could be found in other logs."""
    server = f" of the server {position.server}" if position.server else ""
    return f"{position.describe()}{server}, " + (f"GTIDs {position.gtids}" if position.gtids else "without GTIDs")


def _consistent_rows(spark: SparkSession, target: Target, table: TargetTable, cut: Cut) -> DataFrame | None:
    number = dict(cut.versions).get(table.name)
    if number is None:
        return None
    try:
        version = table.read(number)
    except TargetError:
        return None
    if version.state is None or version.state.phase is not Phase.CURRENT:
        return None
    mirrored = as_mirrored(*read_stored(version.state.definition), target.column_type, MIRROR_OPTIONS)
    read = _reader(LeafReader(table.directory_at(version.version), mirrored))
    files = [(file.path, file.size, file.rows) for file in version.files]
    listed = spark.createDataFrame(files, "path string, size bigint, rows bigint")
    return listed.repartition(max(1, len(files)), "path").mapInArrow(read, from_arrow_schema(mirrored.schema))


def _dumped(spark: SparkSession, path: str, name: TableName, end: FilePosition) -> Snapshot:
    """Return the rows of a table in a dump. An executor reads it."""
    dump = open_dump(path)
    definition = dump.catalog.tables.get(name)
    if definition is None:
        raise OptionError(f"({path}) has no table {name}", option="snapshot")
    position = FilePosition(dump.position.file, dump.position.offset)
    if not position.file or _order(position) > _order(end):
        raise OptionError(f"({path}) is of {dump.position.describe()}, which is not before {end}", option="snapshot")
    table = as_mirrored(name, definition, lambda kind: kind, MIRROR_OPTIONS)

    def read(_batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _, rows in open_dump(path).rows({name: table}):
            yield from rows

    rows = spark.range(1, numPartitions=1).mapInArrow(read, from_arrow_schema(table.schema))
    return Snapshot(rows, str(position))


def _reader(leaves: LeafReader) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for file in batch.to_pylist():
                yield from (found.rows for found in leaves.batches(DataFile(**file)))

    return read


def _as_changes(rows: DataFrame, changes: DataFrame) -> DataFrame:
    """Return rows as inserts before all changes."""
    metadata = {**metadata_names(DEFAULT_PREFIX, Metadata), f"{DEFAULT_PREFIX}{BEFORE}": None}

    def column(field: StructField) -> Column:
        if field.name not in metadata:
            known = F.col(quoted(field.name)) if field.name in rows.columns else F.lit(None)
            return known.cast(field.dataType)
        match metadata[field.name]:
            case Metadata.OP:
                return F.lit(RowOperation.INSERT.value)
            case Metadata.SEQ:
                return F.lit("")
            case Metadata.KEY:
                assert isinstance(field.dataType, StructType)
                return F.struct(*(F.col(quoted(name)) for name in field.dataType.names)).cast(field.dataType)
        return F.lit(None).cast(field.dataType)

    return rows.select(*(column(field).alias(field.name) for field in changes.schema))


def _order(position: FilePosition) -> tuple[object, int]:
    return log_order(position.file or ""), position.offset


def _moment(time: datetime | str) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=time_microseconds(time))
    except InvalidValue as error:
        raise OptionError(str(error), option="time") from None


def _target(mirror: Target | str) -> Target:
    from binspark.mirror.targets.parse import parse_target

    if not isinstance(mirror, str) and hasattr(mirror, "cuts"):
        return mirror
    return parse_target(path_argument(mirror, "mirror", "the directory or the URI of a mirror"))


def _name(table: str) -> TableName:
    schema, _, name = table.partition(".")
    return TableName(schema, name)
