"""The data source `binlog`: what Spark instantiates on the driver, for schemas and readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

from binspark.columns.list_fields import TRANSACTION_FIELDS
from binspark.errors import OptionError
from binspark.spark import schemas
from binspark.spark.batch import BinlogReader
from binspark.spark.options import STREAM_ONLY, Shape, SourceOptions, View, read_options
from binspark.spark.pickling import packed
from binspark.spark.plan import ReadPlan, SchemaVersion, make_plan
from binspark.spark.table_schemas import check_columns, current_version, newest_version
from binspark.spark.unmatched import warn_of_statements, warn_of_unmatched
from binspark.spark.views.shapes import check_shaped, shaped_schema

if TYPE_CHECKING:
    from binspark.spark.server_batch import ServerBatchReader

NAME = "binlog"


class BinlogDataSource(DataSource):
    """Reads MySQL's and MariaDB's binary logs.

    >>> spark.read.format("binlog").option("table", "shop.orders").load("logs/")  # doctest: +SKIP

    What is read to find the schema is kept: Spark pickles the source and creates readers from it.
    """

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self._parsed = read_options(options)
        self._plan: ReadPlan | None = None
        self._version: SchemaVersion | None = None
        self._own_schema = True

    def __reduce__(self) -> tuple[Any, ...]:
        return packed(self, self.__dict__)

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return NAME

    def schema(self) -> StructType:
        """Return the columns of the view or table that the options select. Spark asks only if the user does not say."""
        self._own_schema = False
        options = self._parsed
        options.begin_reading()
        if options.table is not None:
            make = schemas.table_schema if options.shape is Shape.ROWS else shaped_schema
            return make(self._find_version().table, options)
        return view_schema(options)

    def reader(self, schema: StructType) -> BinlogReader | ServerBatchReader:
        """Return a reader of these columns, which may be fewer than there are."""
        options = self._parsed
        options.begin_reading()
        _check_batch(self.options, options)
        self._check_schema(schema)
        if options.is_live:
            from binspark.spark.server_batch import ServerBatchReader, plan_server

            return ServerBatchReader(options, schema, plan_server(options, self._version))
        plan = self._planned()
        if options.selection.tables or options.selection.excluded:
            warn_of_unmatched(plan, options.selection)
        warn_of_statements(plan)
        return BinlogReader(options, plan, schema, self._version)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        """Return a reader that follows a server, or an archive that is still written to."""
        try:
            return self._stream_reader(schema)
        except Exception as error:
            from binspark.spark.streaming.failed import FailedStreamReader

            return FailedStreamReader(error)

    def _stream_reader(self, schema: StructType) -> DataSourceStreamReader:
        from binspark.spark.streaming.reader import BinlogStreamReader

        options = replace(self._parsed, streaming=True, own_schema=self._own_schema)
        options.begin_reading()
        _check_stream(options)
        self._check_schema(schema)
        return BinlogStreamReader(options, schema, self._version)

    def _check_schema(self, schema: StructType) -> None:
        """Refuse columns that there are not."""
        options = self._parsed
        if options.table is None:
            _check_view(schema, options)
        elif options.shape is Shape.ROWS:
            check_columns(schema.names, self._find_version(), options)
        else:
            check_shaped(schema, self._find_version().table, options)

    def _planned(self) -> ReadPlan:
        if self._plan is None:
            self._plan = make_plan(self._parsed)
        return self._plan

    def _find_version(self) -> SchemaVersion:
        assert self._parsed.table is not None
        if self._version is None:
            if self._parsed.is_live:
                self._version = current_version(self._parsed, self._parsed.table)
            else:
                self._version = newest_version(self._planned(), self._parsed.table)
        return self._version


def view_schema(options: SourceOptions) -> StructType:
    """Return the columns of a view."""
    match options.view:
        case View.EVENTS:
            return schemas.events_schema(body=options.body)
        case View.TRANSACTIONS:
            return schemas.spark_schema(TRANSACTION_FIELDS)
        case View.CHUNKS:
            return schemas.spark_schema(schemas.CHUNK_FIELDS)
        case View.TABLES:
            return schemas.spark_schema(schemas.TABLES_FIELDS)
        case View.CORRUPT:
            return schemas.spark_schema(schemas.CORRUPT_FIELDS)
        case _:
            return schemas.changes_schema(options)


def _check_batch(given: Mapping[str, str], options: SourceOptions) -> None:
    """Refuse options that are only valid for streams, and those of servers for files."""
    for name in STREAM_ONLY:
        if name in given:
            raise OptionError("is only valid for a stream", option=name)
    for name, value in (("startingOffsets", options.starting_offsets), ("endingOffsets", options.ending_offsets)):
        if value is not None and not options.is_live:
            raise OptionError("needs a host; for logs use startPosition and stopPosition", option=name)
    for name, position in (
        ("startPosition", options.selection.start_position),
        ("stopPosition", options.selection.stop_position),
    ):
        if position is not None and options.is_live:
            raise OptionError("is for logs; for a server use startingOffsets and endingOffsets", option=name)
    if options.is_live and options.view is View.CORRUPT:
        raise OptionError(f"{options.view} is not available for a server", option="view")


def _check_stream(options: SourceOptions) -> None:
    """Refuse what is only valid for batch reads."""
    if options.view in (View.TABLES, View.CORRUPT):
        raise OptionError(f"{options.view} is not available for a stream", option="view")
    if options.selection.start_position is not None or options.selection.stop_position is not None:
        raise OptionError("is not valid for a stream; use startingOffsets", option="startPosition")
    if options.ending_offsets is not None:
        raise OptionError("is not valid for a stream; use the trigger availableNow to stop", option="endingOffsets")
    if not options.paths and not options.server:
        raise OptionError("is missing: a stream needs a host to follow, or the path of an archive", option="host")


def _check_view(schema: StructType, options: SourceOptions) -> None:
    """Refuse columns that a view does not have, or of another type."""
    known = {field.name: field.dataType for field in view_schema(replace(options, body=True))}
    for field in schema:
        if field.name not in known:
            has = ", ".join(known)
            raise OptionError(f"the view {options.view} has no column {field.name!r}; it has {has}")
        if field.dataType != known[field.name]:
            kind = known[field.name].simpleString()
            raise OptionError(f"{field.name} of the view {options.view} is {kind}, not {field.dataType.simpleString()}")
