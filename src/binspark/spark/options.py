"""The options of the data source, parsed once into a frozen value. Spark's options ignore case."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from binspark.changes.selection_options import (
    METADATA_PREFIX,
    SCHEMA_FILE,
    SELECTION_OPTIONS,
    TABLE,
    SelectionOption,
    make_selection,
)
from binspark.columns.selection import Selection
from binspark.errors import OptionError
from binspark.files.keyring_file import keyring_storage
from binspark.files.splits import DEFAULT_SPLIT_BYTES
from binspark.files.storage import Storage
from binspark.frames.payload import set_max_payload_bytes
from binspark.kernels import cache
from binspark.monitoring.settings import MetricsSettings, metrics_settings
from binspark.options import values
from binspark.options.keyring import KEYRING_OPTIONS, MAX_PAYLOAD_BYTES
from binspark.options.monitoring import METRICS_OPTIONS
from binspark.options.option import Option, OptionTable, Surface, renamed
from binspark.options.server import SERVER_OPTIONS, STREAM_OPTIONS, ServerOption

if TYPE_CHECKING:
    from binspark.encryption.keyring import Keyring

STORAGE_PREFIX = "fs."
PREFIX_OPTION = METADATA_PREFIX.name_on(Surface.SPARK)
_SPARK = frozenset({Surface.SPARK})
_OPTIONS_ABOUT_ROWS = ("tables", "excludeTables", "operations", "threadId")

log = logging.getLogger("binspark.spark")


class View(StrEnum):
    """What a row of the DataFrame is."""

    CHANGES = "changes"
    EVENTS = "events"
    TRANSACTIONS = "transactions"
    CHUNKS = "chunks"
    TABLES = "tables"
    CORRUPT = "_corrupt"


class ParseMode(StrEnum):
    """How damage is handled, as in Spark's own file sources."""

    FAILFAST = "FAILFAST"
    PERMISSIVE = "PERMISSIVE"


class RowFormat(StrEnum):
    """The type of row images in the view `changes`."""

    VARIANT = "variant"
    JSON = "json"


class JsonFormat(StrEnum):
    """The type of JSON columns in typed tables."""

    STRING = "string"
    VARIANT = "variant"


class DdlMode(StrEnum):
    """Whether the DDL in the logs is read for the schemas of tables."""

    READ = "read"
    IGNORE = "ignore"


class MissingColumns(StrEnum):
    """How columns of `.schema(…)` are handled that the table does not have."""

    ERROR = "error"
    NULL = "null"


class DroppedColumns(StrEnum):
    """Whether a typed table has the columns that were dropped."""

    OMIT = "omit"
    KEEP = "keep"


class SchemaEvolution(StrEnum):
    """What a stream does when the schema of its table changes."""

    FAIL = "fail"
    RESTART = "restart"


class Shape(StrEnum):
    """The form in which a typed table has its rows."""

    ROWS = "rows"
    DEBEZIUM = "debezium"
    CDF = "cdf"


@dataclass(frozen=True)
class SourceOptions:
    """The options of a query; `SPARK_OPTIONS`, `SELECTION_OPTIONS` and `SERVER_OPTIONS` have their meanings.

    streaming   whether the query is a stream
    own_schema  whether the user gave the columns of the query, with `.schema(…)`
    selection   the rows to read
    storage     options of the file system, by name
    server      options of a connection, by their names in Python
    """

    paths: tuple[str, ...] = ()
    view: View = View.CHANGES
    table: str | None = None
    shape: Shape = Shape.ROWS
    mode: ParseMode = ParseMode.FAILFAST
    rows: RowFormat = RowFormat.VARIANT
    json: JsonFormat = JsonFormat.STRING
    geometry: int | None = None
    ddl: DdlMode = DdlMode.READ
    missing_columns: MissingColumns = MissingColumns.ERROR
    dropped_columns: DroppedColumns = DroppedColumns.OMIT
    schema_file: str | None = None
    keyring: str | Keyring | None = None
    keyring_password_file: str | None = None
    max_payload_bytes: int | None = None
    max_split_bytes: int = DEFAULT_SPLIT_BYTES
    expand_payloads: bool = True
    starting_offsets: str | None = None
    ending_offsets: str | None = None
    body: bool = False
    max_bytes_per_trigger: int | None = None
    max_transactions_per_trigger: int | None = None
    fail_on_data_loss: bool = True
    schema_evolution: SchemaEvolution = SchemaEvolution.FAIL
    metrics_port: int | None = None
    metrics_host: str | None = None
    streaming: bool = False
    own_schema: bool = False
    selection: Selection = field(default_factory=Selection)
    storage: dict[str, str] = field(default_factory=dict, repr=False)
    server: dict[str, Any] = field(default_factory=dict, repr=False)

    def begin_reading(self) -> None:
        """Prepare this process for reading logs: keep compiled kernels, and set the limit of payloads."""
        cache.enable()
        if self.max_payload_bytes is not None:
            set_max_payload_bytes(self.max_payload_bytes)

    @property
    def is_live(self) -> bool:
        """Whether a server is read, not files; with paths, a server only says what tables are like."""
        return bool(self.server) and not self.paths

    @property
    def metrics(self) -> MetricsSettings | None:
        """Where metrics are served; None for nowhere."""
        return metrics_settings(self.metrics_port, self.metrics_host)

    @property
    def file_storage(self) -> Storage | None:
        """How to reach the file system of the paths, and the keys of encrypted logs; None if no option says it.

        The keyring is read here, on the driver, and for each batch of a stream again: the server may have added a key.
        Tasks get the keys with the logs that they read, so that executors need no keyring file.
        """
        storage = Storage.of(self.storage) if self.storage else None
        return keyring_storage(self.keyring, self.keyring_password_file, storage)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOption(Option):
    """An option of the data source alone.

    target       the field of `SourceOptions` that the value is for, if it is not called like the option
    for_streams  whether only a stream has it
    """

    target: str = ""
    for_streams: bool = False
    surfaces: frozenset[Surface] = _SPARK


def _path(value: str) -> tuple[str, ...]:
    return (value,)


def _paths(value: str) -> tuple[str, ...]:
    """Parse several paths, as Spark passes a list of them."""
    try:
        paths = json.loads(value)
    except ValueError:
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise values.InvalidValue("a JSON array of paths", value)
    return tuple(paths)


_START = next(option for option in STREAM_OPTIONS if option.name == "start")

SPARK_OPTIONS = (
    SparkOption(
        name="path", target="paths", parse=_path,
        help="The logs: a file, glob, directory, index file or URI. Usually the argument of load().",
    ),
    SparkOption(name="paths", parse=_paths, help="Several paths, as Spark passes the list that load() was given."),
    SparkOption(
        name="view", parse=values.one_of(View), choices=tuple(View), default="changes",
        help="What a row is.",
    ),
    SparkOption(name="table", parse=TABLE.parse, help=TABLE.help),
    SparkOption(
        name="shape", parse=values.one_of(Shape), choices=tuple(Shape), default="rows",
        help="The form of a typed table: a row for each change, Debezium's change events, or Delta's change data feed.",
    ),
    SparkOption(
        name="mode", parse=values.one_of(ParseMode), choices=tuple(ParseMode), default="FAILFAST",
        help="Whether damage fails the query, or reading continues with the next transaction.",
    ),
    SparkOption(
        name="rows", parse=values.one_of(RowFormat), choices=tuple(RowFormat), default="variant",
        help="The type of row images in the view changes.",
    ),
    SparkOption(
        name="json", parse=values.one_of(JsonFormat), choices=tuple(JsonFormat), default="string",
        help="The type of JSON columns in typed tables.",
    ),
    SparkOption(
        name="geometry", parse=values.integer, default="struct<srid, wkb>",
        help="An SRID: GEOMETRY columns become geometry(srid), and another SRID is an error.",
    ),
    SparkOption(
        name="ddl", parse=values.one_of(DdlMode), choices=tuple(DdlMode), default="read",
        help="Whether the DDL in the logs is read for the schemas of tables.",
    ),
    SparkOption(
        name="missing_columns", parse=values.one_of(MissingColumns), choices=tuple(MissingColumns), default="error",
        help="Columns of .schema(…) that the table does not have: an error, or NULL in rows without them.",
    ),
    SparkOption(
        name="dropped_columns", parse=values.one_of(DroppedColumns), choices=tuple(DroppedColumns), default="omit",
        help="Whether a typed table also has the columns that were dropped, after its own.",
    ),
    SparkOption(name="schema_file", parse=values.text, help=SCHEMA_FILE.help),
    *(SparkOption(name=option.name, parse=option.parse, help=option.help) for option in KEYRING_OPTIONS),
    SparkOption(
        name=MAX_PAYLOAD_BYTES.name, parse=values.size, default=MAX_PAYLOAD_BYTES.default, help=MAX_PAYLOAD_BYTES.help
    ),
    SparkOption(
        name="max_split_bytes", parse=values.size, default="64m",
        help="The size of the part of a log that one task reads.",
    ),
    SparkOption(
        name="expand_payloads", parse=values.flag, default="true",
        help="Show the events inside compressed transactions too, in the view events.",
    ),
    SparkOption(
        name="body", parse=values.flag, default="false",
        help="Add the column body to the view events: the decoded fields of each event, as VARIANT. Naming it in "
        ".schema(…) does the same.",
    ),
    SparkOption(
        name=_START.name, spelling=_START.spelling, target="starting_offsets", parse=values.text,
        default="latest; earliest for a batch read",
        help="Where a batch read of a server, or the first start of a stream, begins: latest, earliest, FILE:POSITION; "
        "from a server also GTIDs that you already have, or timestamp:2026-11-15T09:30:00Z. Later, the checkpoint of a "
        "stream has the position.",
    ),
    SparkOption(
        name="ending_offsets", parse=values.text, default="latest",
        help="Where a batch read of a server ends: latest, FILE:POSITION, the only GTIDs that are read, or "
        "timestamp:2026-11-15T09:30:00Z. Not for streams.",
    ),
    SparkOption(
        name="max_bytes_per_trigger", parse=values.size, default="no limit", for_streams=True,
        help="The approximate size of a batch; a larger transaction is a batch of its own.",
    ),
    SparkOption(
        name="max_transactions_per_trigger", parse=values.positive, default="no limit", for_streams=True,
        help="The maximum number of transactions in a batch.",
    ),
    SparkOption(
        name="fail_on_data_loss", parse=values.flag, default="true", for_streams=True,
        help="Whether logs that were purged or reset before they were read fail the query; otherwise it continues with "
        "the oldest log.",
    ),
    SparkOption(
        name="schema_evolution", parse=values.one_of(SchemaEvolution), choices=tuple(SchemaEvolution), default="fail",
        for_streams=True,
        help="Whether the query continues with the new schema when it is started again after its table changed; "
        "renamed columns and wider types need no restart.",
    ),
    *(
        SparkOption(
            name=option.name, parse=option.parse, help=option.help, default=option.default, for_streams=True
        )
        for option in METRICS_OPTIONS
    ),
)  # fmt: skip

STREAM_ONLY = tuple(option.name_on(Surface.SPARK) for option in SPARK_OPTIONS if option.for_streams)


def _log_renamed(old: str, new: str) -> None:
    log.warning(renamed(old, new))


_TABLE: OptionTable[Option] = OptionTable(
    (*SPARK_OPTIONS, *SELECTION_OPTIONS, *SERVER_OPTIONS),
    Surface.SPARK,
    _log_renamed,
    "the data source binlog has no option",
)


def read_options(options: Mapping[str, str]) -> SourceOptions:
    """Return what options mean; an `OptionError` if one is not known, or its value is not valid."""
    fields: dict[str, Any] = {}
    server: dict[str, Any] = {}
    selection: dict[str, str] = {}
    own = {name: value for name, value in options.items() if not name.lower().startswith(STORAGE_PREFIX)}
    storage = {name[len(STORAGE_PREFIX) :].lower(): value for name, value in options.items() if name not in own}
    for option, value in _TABLE.find_all(own).values():
        if isinstance(option, SelectionOption):
            selection[option.name] = value
        elif isinstance(option, ServerOption):
            server[option.name] = option.read(value, Surface.SPARK)
        elif isinstance(option, SparkOption):
            target = option.target or option.name
            if target in fields:
                raise OptionError("path and paths cannot be combined")
            fields[target] = option.read(value, Surface.SPARK)
    _check_combinations(fields, selection)
    return SourceOptions(**fields, selection=make_selection(selection, Surface.SPARK), storage=storage, server=server)


def _check_combinations(fields: Mapping[str, Any], selection: Mapping[str, str]) -> None:
    view = fields.get("view", View.CHANGES)
    if "table" in fields and view is not View.CHANGES:
        raise OptionError(f"cannot be combined with the view {view}, which has columns of its own", option="table")
    shape = fields.get("shape", Shape.ROWS)
    if shape is not Shape.ROWS and "table" not in fields:
        raise OptionError(f"{shape} needs the option table: it is a form of one table's rows", option="shape")
    if "table" in fields and "tables" in selection:
        raise OptionError("table and tables cannot be combined")
    about_rows = [name for name in map(Surface.SPARK.spell, selection) if name in _OPTIONS_ABOUT_ROWS]
    if about_rows and view is View.EVENTS:
        raise OptionError("does not apply to the view events; use the view changes", option=about_rows[0])
