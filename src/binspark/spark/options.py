"""The options of the data source, checked once: each is known by name, and wrong ones are named."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeVar

from binspark.changes.choice import selection_of
from binspark.columns.selection import Selection
from binspark.errors import BinlogError, OptionError
from binspark.files.splits import DEFAULT_SPLIT_BYTES
from binspark.files.storage import Storage

STORAGE_PREFIX = "fs."
_ABOUT_ROWS = frozenset({"tables", "exclude_tables", "operations"})
_Named = TypeVar("_Named", bound=StrEnum)


class View(StrEnum):
    """What rows of the DataFrame are."""

    CHANGES = "changes"
    EVENTS = "events"
    TRANSACTIONS = "transactions"
    CHUNKS = "chunks"
    TABLES = "tables"
    CORRUPT = "_corrupt"


class Mode(StrEnum):
    """What becomes of damage, as in Spark's own file sources."""

    FAILFAST = "FAILFAST"
    PERMISSIVE = "PERMISSIVE"


class RowsAs(StrEnum):
    """What whole rows become in the view `changes`."""

    VARIANT = "variant"
    JSON = "json"


class JsonAs(StrEnum):
    """What JSON columns become in typed tables."""

    STRING = "string"
    VARIANT = "variant"


class Ddl(StrEnum):
    """Whether the statements of the logs are read for what they say about tables."""

    READ = "read"
    IGNORE = "ignore"


class Missing(StrEnum):
    """What a column of `.schema(…)` is that the table does not have."""

    ERROR = "error"
    NULL = "null"


class Evolution(StrEnum):
    """What a stream does when the shape of its table changes."""

    FAIL = "fail"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A place in the logs: an offset of one file, or of every file."""

    file: str | None
    offset: int


@dataclass(frozen=True)
class SourceOptions:
    """What was asked for. `choice` holds the options that choose rows, by their names in Python."""

    paths: tuple[str, ...] = ()
    view: View = View.CHANGES
    table: str | None = None
    mode: Mode = Mode.FAILFAST
    rows: RowsAs = RowsAs.VARIANT
    json: JsonAs = JsonAs.STRING
    geometry: int | None = None
    ddl: Ddl = Ddl.READ
    missing_columns: Missing = Missing.ERROR
    schema_file: str | None = None
    start_position: LogPosition | None = None
    stop_position: LogPosition | None = None
    max_split_bytes: int = DEFAULT_SPLIT_BYTES
    expand_payloads: bool = True
    starting_offsets: str = "latest"
    max_bytes_per_trigger: int | None = None
    max_transactions_per_trigger: int | None = None
    fail_on_data_loss: bool = True
    schema_evolution: Evolution = Evolution.FAIL
    streaming: bool = False
    choice: dict[str, Any] = field(default_factory=dict)
    storage: dict[str, str] = field(default_factory=dict, repr=False)
    server: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_live(self) -> bool:
        """Whether the stream is a server's, not an archive's."""
        return bool(self.server) and not self.paths

    @property
    def selection(self) -> Selection:
        """The rows that are asked for."""
        return selection_of(self.choice)  # type: ignore[arg-type]

    @property
    def file_storage(self) -> Storage | None:
        return Storage.of(self.storage) if self.storage else None


def read_options(options: Mapping[str, str]) -> SourceOptions:
    """Return what options mean; one that is not known, or whose value is wrong, is an `OptionError` that names it."""
    made: dict[str, Any] = {"choice": {}, "storage": {}, "server": {}}
    for given, value in options.items():
        name = given.lower()
        if name.startswith(STORAGE_PREFIX):
            made["storage"][given[len(STORAGE_PREFIX) :].lower()] = value
            continue
        known = _OPTIONS.get(name)
        if known is None:
            raise OptionError(_unknown(given))
        read = _value(known, value)
        if known.group is None:
            if known.target in made:
                raise OptionError("either path or paths, not both")
            made[known.target] = read
        else:
            made[known.group][known.target] = read
    checked = SourceOptions(**made)
    _check(checked)
    return checked


def _value(option: _Option, value: str) -> Any:
    """Return what the value of an option means."""
    try:
        read = option.read(value)
        if option.group == "choice":
            selection_of({option.target: read})  # type: ignore[arg-type]
    except BinlogError as error:
        raise OptionError(f"{option.name}: {error.message.removeprefix(f'{option.target}: ')}") from None
    return read


def _check(options: SourceOptions) -> None:
    if options.table is not None and options.view is not View.CHANGES:
        raise OptionError(f"table: the view {options.view} has columns of its own")
    if options.table is not None and "tables" in options.choice:
        raise OptionError("either table or tables, not both")
    about_rows = [option.name for option in _OPTIONS.values() if option.target in _ABOUT_ROWS & options.choice.keys()]
    if about_rows and options.view is View.EVENTS:
        raise OptionError(f"{about_rows[0]}: the view events holds events of every kind; the view changes knows tables")


def _unknown(given: str) -> str:
    names = {name: option.name for name, option in _OPTIONS.items()}
    near = difflib.get_close_matches(given.lower(), names, n=1)
    hint = f"; did you mean {names[near[0]]}?" if near else ""
    return f"the data source binlog has no option {given}{hint}"


def _text(value: str) -> str:
    return value


def _path(value: str) -> tuple[str, ...]:
    return (value,)


def _paths(value: str) -> tuple[str, ...]:
    """Read several paths, as Spark writes them where it is given a list."""
    try:
        paths = json.loads(value)
    except ValueError:
        paths = None
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise OptionError(f"{value!r} is not a JSON array of paths; path takes one")
    return tuple(paths)


def _list(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _number(value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise OptionError(f"{value!r} is not a number") from None


def _positive(value: str) -> int:
    number = _number(value)
    if number < 1:
        raise OptionError(f"{value!r} is not positive")
    return number


def _port(value: str) -> str:
    return str(_number(value))


def _bytes(value: str) -> int:
    """Read a size such as 67108864, 64m or 1 GB."""
    text = value.strip().lower().removesuffix("b").removesuffix("i").strip()
    shift = {"k": 10, "m": 20, "g": 30}.get(text[-1:], 0)
    number = _number(text[:-1].strip() if shift else text) << shift
    if number < 1:
        raise OptionError(f"{value!r} is not positive")
    return number


def _flag(value: str) -> bool:
    known = {"true": True, "false": False}
    if value.lower() not in known:
        raise OptionError(f"{value!r} is neither true nor false")
    return known[value.lower()]


def _table(value: str) -> str:
    schema, dot, name = value.partition(".")
    if not dot or not schema or not name or set(value) & set("*?["):
        raise OptionError(f"{value!r} is not one table; it is written as schema.table, and tables takes patterns")
    return value


def _position(value: str) -> LogPosition:
    file, colon, offset = value.rpartition(":")
    number = _number(offset)
    if number < 0:
        raise OptionError(f"{value!r} lies before the log")
    return LogPosition(file if colon else None, number)


def _one_of(kind: type[_Named]) -> Callable[[str], _Named]:
    names = {member.value.lower(): member for member in kind}

    def read(value: str) -> _Named:
        if value.lower() not in names:
            raise OptionError(f"{value!r} is none of {', '.join(kind)}")
        return names[value.lower()]

    return read


@dataclass(frozen=True, slots=True)
class _Option:
    """An option: its name for the user, where its value goes, and how that is read."""

    name: str
    read: Callable[[str], Any]
    target: str
    group: str | None = None


def _own(name: str, read: Callable[[str], Any], target: str) -> _Option:
    assert target in {item.name for item in fields(SourceOptions)}
    return _Option(name, read, target)


def _chosen(name: str, read: Callable[[str], Any], target: str) -> _Option:
    return _Option(name, read, target, "choice")


STREAM_OPTIONS = (
    "startingOffsets",
    "maxBytesPerTrigger",
    "maxTransactionsPerTrigger",
    "failOnDataLoss",
    "schemaEvolution",
)
SERVER_OPTIONS = (
    "host",
    "port",
    "user",
    "password",
    "socket",
    "defaultsFile",
    "sslMode",
    "sslCa",
    "sslCert",
    "sslKey",
)
_OPTIONS = {
    option.name.lower(): option
    for option in (
        _own("path", _path, "paths"),
        _own("paths", _paths, "paths"),
        _own("view", _one_of(View), "view"),
        _own("table", _table, "table"),
        _own("mode", _one_of(Mode), "mode"),
        _own("rows", _one_of(RowsAs), "rows"),
        _own("json", _one_of(JsonAs), "json"),
        _own("geometry", _number, "geometry"),
        _own("ddl", _one_of(Ddl), "ddl"),
        _own("missingColumns", _one_of(Missing), "missing_columns"),
        _own("schemaFile", _text, "schema_file"),
        _own("startPosition", _position, "start_position"),
        _own("stopPosition", _position, "stop_position"),
        _own("maxSplitBytes", _bytes, "max_split_bytes"),
        _own("expandPayloads", _flag, "expand_payloads"),
        _own("startingOffsets", _text, "starting_offsets"),
        _own("maxBytesPerTrigger", _bytes, "max_bytes_per_trigger"),
        _own("maxTransactionsPerTrigger", _positive, "max_transactions_per_trigger"),
        _own("failOnDataLoss", _flag, "fail_on_data_loss"),
        _own("schemaEvolution", _one_of(Evolution), "schema_evolution"),
        _chosen("tables", _list, "tables"),
        _chosen("excludeTables", _list, "exclude_tables"),
        _chosen("operations", _list, "operations"),
        _chosen("startTime", _text, "committed_from"),
        _chosen("stopTime", _text, "committed_before"),
        _chosen("serverId", _number, "server_id"),
        _chosen("includeGtids", _text, "include_gtids"),
        _chosen("excludeGtids", _text, "exclude_gtids"),
        _chosen("undecodable", _text, "undecodable"),
        _chosen("zeroDates", _text, "zero_dates"),
        _chosen("before", _flag, "before"),
        _chosen("txRows", _flag, "tx_rows"),
        _chosen("maxRowsPerBatch", _number, "max_rows"),
        *(_Option(name, _port if name == "port" else _text, name, "server") for name in SERVER_OPTIONS),
    )
}
