"""The options that select rows: one table for the command line, Python and Spark.

A new option is a row in `SELECTION_OPTIONS`, a line in the typed dictionary for Python, and a field of
`binspark.columns.selection.Selection`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from binspark.errors import BinlogError, OptionError
from binspark.gtid import GtidSet, MariadbPosition, MariadbRanges
from binspark.options import values
from binspark.options.option import EVERYWHERE, Option, OptionTable, Surface, given_twice, warn_renamed

if TYPE_CHECKING:
    from binspark.columns.selection import Operations, SelectedGtids, Selection

AnySchema = TypeVar("AnySchema")
_OPERATIONS = ("insert", "update", "delete", "truncate")
_PREFIX = re.compile(r"\w{0,64}")
_UNDECODABLE = ("error", "replace", "binary")
_ZERO_DATES = ("null", "string", "error")
_TIME_FORMATS = ("interval", "string", "microseconds")
_MARIADB_GTIDS = re.compile(r"\s*(\.\.\s*)?\d+-\d+-\d+\s*(,|\.\.|$)")
_TIME = "'YYYY-MM-DD HH:MM:SS'"
_NOT_IN_SPARK = EVERYWHERE - {Surface.SPARK}
_NOT_ON_THE_COMMAND_LINE = EVERYWHERE - {Surface.COMMAND_LINE}


class SelectionOptions(TypedDict, total=False):
    """The options of everything that reads rows; `SELECTION_OPTIONS` has their meanings. None is not given."""

    tables: str | Iterable[str] | None
    exclude_tables: str | Iterable[str] | None
    operations: str | Iterable[str] | None
    start_position: int | str | values.FilePosition | None
    stop_position: int | str | values.FilePosition | None
    start_datetime: datetime | str | int | None
    stop_datetime: datetime | str | int | None
    committed_from: datetime | str | int | None
    committed_before: datetime | str | int | None
    server_id: int | None
    thread_id: int | None
    include_gtids: GtidSet | MariadbRanges | MariadbPosition | str | None
    exclude_gtids: GtidSet | MariadbRanges | MariadbPosition | str | None
    undecodable: str | None
    where: str | None


class BatchOptions(SelectionOptions, total=False):
    """The options of everything that reads rows into columns."""

    columns: str | Iterable[str] | None
    string_columns: str | Iterable[str] | None
    before: bool
    metadata: bool
    metadata_prefix: str | None
    absent: bool
    tx_rows: bool
    zero_dates: str | None
    time: str | None
    max_rows_per_batch: int | None


class SqlOptions(SelectionOptions, total=False):
    """The options of everything that writes rows as SQL; `binspark.sql.options` has their meanings."""

    undo: bool
    on_conflict: str
    skip_statements: bool
    disable_log_bin: bool
    keep_gtids: bool
    no_comments: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOption(Option):
    """An option that selects rows, or what is decoded of them.

    target       the field of `Selection`, or of its `ColumnOptions`, that the value is for
    is_policy    whether the target is a field of `ColumnOptions`
    for_batches  whether the option is about columns, and means nothing for rows one at a time
    for_values   whether the option is about values, and means nothing for events and transactions
    is_time      whether the value is a time, which may be without a time zone
    """

    target: str
    is_time: bool = False
    is_policy: bool = False
    for_batches: bool = False
    for_values: bool = False


def _operations(value: str | Iterable[str]) -> Operations:
    from binspark.columns.selection import Operations  # loads Arrow, which help texts do not need

    found = Operations(0)
    for name in values.names(value):
        if name.lower() not in _OPERATIONS:
            raise values.InvalidValue(values.listed(_OPERATIONS), name)
        found |= Operations[name.upper()]
    return found


def _gtids(value: SelectedGtids | str) -> SelectedGtids:
    if not isinstance(value, str):
        return value
    try:
        return MariadbRanges(value) if _MARIADB_GTIDS.match(value) else GtidSet(value)
    except BinlogError as error:
        expected = "a GTID set of MySQL, or GTIDs of MariaDB such as 0-1-42, 0-1-40..50 or ..0-1-50"
        raise values.InvalidValue(expected, value, error.message) from None


def _folded_names(value: str | Iterable[str]) -> frozenset[str]:
    return frozenset(name.lower() for name in values.names(value))


def _undecodable(value: str) -> Any:
    from binspark.values.options import Undecodable

    return values.one_of(Undecodable)(value)


def _zero_dates(value: str) -> Any:
    from binspark.columns.options import ZeroDates

    return values.one_of(ZeroDates)(value)


def _where(value: str) -> Any:
    from binspark.columns.where.parser import parse_condition

    return parse_condition(value)


def _time_format(value: str) -> Any:
    from binspark.columns.options import TimeFormat

    return values.one_of(TimeFormat)(value)


def _prefix(value: str) -> str:
    if not isinstance(value, str) or not _PREFIX.fullmatch(value):
        raise values.InvalidValue("letters, digits and underscores", value)
    return value


METADATA_PREFIX = SelectionOption(
    name="metadata_prefix", target="metadata_prefix", parse=_prefix, metavar="TEXT", default="_", for_batches=True,
    help="What the names of metadata columns begin with, if a table has columns of these names.",
)  # fmt: skip

SELECTION_OPTIONS = (
    SelectionOption(
        name="tables", target="tables", parse=values.tables, metavar="SCHEMA.TABLE,…", is_list=True, default="all",
        help="Read only these tables: names, or patterns such as 'shop.*'.",
        old_names={Surface.COMMAND_LINE: "--table"},
    ),
    SelectionOption(
        name="exclude_tables", target="excluded", parse=values.tables, metavar="SCHEMA.TABLE,…", is_list=True,
        default="none",
        help="Skip these tables: names, or patterns.",
        old_names={Surface.COMMAND_LINE: "--exclude-table"},
    ),
    SelectionOption(
        name="operations", target="operations", parse=_operations, metavar="NAME,…", is_list=True, default="all",
        help="Read only these changes: insert, update, delete, truncate (TRUNCATE and DROP TABLE).",
        old_names={Surface.COMMAND_LINE: "--operation"},
    ),
    SelectionOption(
        name="start_position", target="start_position", parse=values.position_from(0), metavar="[FILE:]NUMBER",
        help="Start at this position: a number is an offset in the first log.",
    ),
    SelectionOption(
        name="stop_position", target="stop_position", parse=values.position_from(1), metavar="[FILE:]NUMBER",
        help="Stop at the first event at or after this position: a number is an offset in the last log.",
    ),
    SelectionOption(
        name="start_datetime", target="start_time", parse=values.time_seconds, metavar=_TIME, is_time=True,
        surfaces=_NOT_IN_SPARK,
        help="Skip events before this time, and the rows in them.",
        old_names={Surface.PYTHON: "start_time"},
    ),
    SelectionOption(
        name="stop_datetime", target="stop_time", parse=values.time_seconds, metavar=_TIME, is_time=True,
        surfaces=_NOT_IN_SPARK,
        help="Skip events of this time or later, and the rows in them.",
        old_names={Surface.PYTHON: "stop_time"},
    ),
    SelectionOption(
        name="committed_from", target="committed_from", parse=values.time_microseconds, metavar=_TIME, is_time=True,
        help="Skip transactions that were committed before this time.",
        old_names={Surface.SPARK: "startTime"},
    ),
    SelectionOption(
        name="committed_before", target="committed_before", parse=values.time_microseconds, metavar=_TIME, is_time=True,
        help="Skip transactions that were committed at this time or later.",
        old_names={Surface.SPARK: "stopTime"},
    ),
    SelectionOption(
        name="include_gtids", target="include_gtids", parse=_gtids, metavar="GTIDS", default="all",
        help="Read only these transactions: a GTID set (MySQL); GTIDs and ranges such as 0-1-42, 0-1-40..50, ..0-1-50 "
        "(MariaDB).",
    ),
    SelectionOption(
        name="exclude_gtids", target="exclude_gtids", parse=_gtids, metavar="GTIDS", default="none",
        help="Skip these transactions: a GTID set (MySQL); GTIDs and ranges such as 0-1-42, 0-1-40..50, ..0-1-50 "
        "(MariaDB).",
    ),
    SelectionOption(
        name="server_id", target="server_id", parse=values.integer_in(0, 0xFFFFFFFF), metavar="NUMBER", default="all",
        help="Read only changes that were made on the server with this id.",
    ),
    SelectionOption(
        name="thread_id", target="thread_id", parse=values.integer_in(0, 0xFFFFFFFFFFFFFFFF), metavar="NUMBER",
        default="all",
        help="Read only transactions of the connection with this id, as far as the log names their connections.",
    ),
    SelectionOption(
        name="where", target="where", parse=_where, metavar="CONDITION", default="all", surfaces=_NOT_IN_SPARK,
        for_values=True,
        help="Read only rows with such values, as in \"id = 42 AND before.state <> after.state\".",
    ),
    SelectionOption(
        name="undecodable", target="undecodable", parse=_undecodable, choices=_UNDECODABLE, default="error",
        is_policy=True,
        help="Text that is not valid in its character set: fail, replace with U+FFFD, or keep the bytes.",
    ),
    SelectionOption(
        name="columns", target="columns", parse=values.names, metavar="NAME,…", is_list=True, default="all",
        surfaces=_NOT_IN_SPARK, for_batches=True,
        help="Decode only these columns.",
    ),
    SelectionOption(
        name="string_columns", target="string_columns", parse=_folded_names, metavar="NAME,…", is_list=True,
        default="none", for_batches=True,
        help="Make these columns text, in every schema version of their table: for columns whose type changed.",
    ),
    SelectionOption(
        name="before", target="before", parse=values.flag, metavar="", default="false", for_batches=True,
        help="Add the old row of each update and delete, as a struct _before.",
    ),
    SelectionOption(
        name="metadata", target="metadata", parse=values.flag, metavar="", default="true",
        surfaces=frozenset({Surface.PYTHON}), for_batches=True,
        help="Add the metadata columns, whose names begin with _. Without them, truncations have no row.",
    ),
    METADATA_PREFIX,
    SelectionOption(
        name="absent", target="absent", parse=values.flag, metavar="", default="false", for_batches=True,
        help="Add _absent: the columns that a row image does not contain (binlog_row_image=MINIMAL or NOBLOB).",
    ),
    SelectionOption(
        name="tx_rows", target="tx_rows", parse=values.flag, metavar="", default="false",
        surfaces=_NOT_ON_THE_COMMAND_LINE, for_batches=True,
        help="Count the rows of all tables of a transaction in _tx_row, not only those of the selected tables.",
    ),
    SelectionOption(
        name="zero_dates", target="zero_dates", parse=_zero_dates, choices=_ZERO_DATES, default="null",
        is_policy=True, for_batches=True,
        help="Dates that are not in the calendar: NULL, all dates of the column as text, or fail.",
    ),
    SelectionOption(
        name="time", target="time", parse=_time_format, choices=_TIME_FORMATS, default="interval",
        is_policy=True, for_batches=True,
        help="The type of TIME columns: an interval, text as the server prints it, or microseconds as a bigint.",
    ),
    SelectionOption(
        name="max_rows_per_batch", target="max_rows", parse=values.positive, metavar="NUMBER", default="65536",
        surfaces=_NOT_ON_THE_COMMAND_LINE, for_batches=True,
        help="The maximum number of rows in an Arrow batch.",
        old_names={Surface.PYTHON: "max_rows"},
    ),
)  # fmt: skip

TABLE = Option(
    name="table", parse=values.table, metavar="SCHEMA.TABLE", surfaces=_NOT_ON_THE_COMMAND_LINE,
    help="The table whose rows are read, as typed columns.",
)  # fmt: skip
TIMEZONE = Option(
    name="timezone", parse=values.zone, metavar="ZONE", surfaces=frozenset({Surface.COMMAND_LINE}), default="UTC",
    help="The time zone of times that are shown, and of those that are given without one: UTC, local, Europe/Berlin, "
    "+02:00.",
)  # fmt: skip
SCHEMA_FILE = Option(
    name="schema_file", parse=values.text, metavar="FILE.sql",
    help="A dump of the tables (mysqldump --no-data) with the names, types and keys that the log lacks. Where it fits "
    "the rows, it takes precedence over DDL in the log.",
    old_names={Surface.COMMAND_LINE: "--schema", Surface.PYTHON: "schema"},
)  # fmt: skip

_NAMING = frozenset({"tables", "where"})
"""The fields of a selection that name tables or columns which have to be in a log."""
_IN_PYTHON = OptionTable(SELECTION_OPTIONS, Surface.PYTHON, warn_renamed)


def make_selection(options: Mapping[str, Any], surface: Surface = Surface.PYTHON) -> Selection:
    """Return the selection for options by their names in Python; an `OptionError` if one is not valid.

    The error names the option as users of `surface` write it.
    """
    from binspark.columns.options import ColumnOptions
    from binspark.columns.seen import SeenTables
    from binspark.columns.selection import Selection

    fields: dict[str, Any] = {}
    policies: dict[str, Any] = {}
    for option, value in _IN_PYTHON.find_all(options).values():
        if value is not None:
            (policies if option.is_policy else fields)[option.target] = option.read(value, surface)
    if fields.get("absent"):
        fields["images"] = True
    if surface is not Surface.SPARK and fields.keys() & _NAMING:  # Spark asks before it reads
        fields["seen"] = SeenTables()
    return Selection(**fields, options=ColumnOptions(**policies))


def take_schema_file(schema_file: AnySchema, options: Any) -> AnySchema:
    """Return the schema file of a call in Python, which may be given under its old name, among the other options."""
    old = SCHEMA_FILE.old_names[Surface.PYTHON]
    if old not in options:
        return schema_file
    if schema_file is not None:
        raise OptionError(given_twice(old, SCHEMA_FILE.name))
    warn_renamed(old, SCHEMA_FILE.name)
    given: AnySchema = options.pop(old)
    return given
