"""What a caller asks for, checked once and made into a `Selection`."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypedDict, TypeVar

from binspark.columns.selection import Operations, Selection
from binspark.columns.types import ColumnOptions, ZeroDates
from binspark.errors import BinlogError, OptionError
from binspark.gtid import GtidSet, MariadbPosition
from binspark.values.options import Undecodable

_PATTERN = frozenset("*?[")
_MARIADB = re.compile(r"\s*\d+-\d+-\d+\s*(,|$)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Named = TypeVar("_Named", bound=StrEnum)


class Choice(TypedDict, total=False):
    """The options that everything shares that reads rows. None, or none at all, is no restriction.

    tables, exclude_tables          `schema.table`, or patterns such as `shop.*`
    operations                      `insert`, `update`, `delete`
    start_position, stop_position   offsets in each file: rows of events from the one on, and before the other
    start_time, stop_time           likewise times: a datetime, a text such as `2026-11-15 09:30:00` (in UTC where they
                                    do not say), or seconds since 1970
    committed_from, committed_before  whole transactions by the time of their commit, in the same forms, to the
                                    microsecond
    server_id                       only rows that this server wrote first
    include_gtids, exclude_gtids    GTID sets of MySQL; positions of MariaDB, which mean all that comes up to them
    undecodable                     text that its character set does not have: `error`, `replace` or `binary`
    """

    tables: Iterable[str] | None
    exclude_tables: Iterable[str] | None
    operations: Iterable[str] | None
    start_position: int | None
    stop_position: int | None
    start_time: datetime | str | int | None
    stop_time: datetime | str | int | None
    committed_from: datetime | str | int | None
    committed_before: datetime | str | int | None
    server_id: int | None
    include_gtids: GtidSet | MariadbPosition | str | None
    exclude_gtids: GtidSet | MariadbPosition | str | None
    undecodable: str | None


class BulkChoice(Choice, total=False):
    """The options of everything that reads rows into columns.

    columns      names of columns, all others are left out
    before       whether the old images of updates are kept too, as a struct `_before`
    metadata     whether columns that begin with `_` say where rows come from
    tx_rows      whether rows of all tables are counted in `_tx_row`; if not, only those of the tables that are asked
                 for are
    zero_dates   dates that no calendar has: `null`, `string` or `error`
    max_rows     the most rows of a batch
    """

    columns: Iterable[str] | None
    before: bool
    metadata: bool
    tx_rows: bool
    zero_dates: str | None
    max_rows: int | None


def selection_of(options: BulkChoice | Choice) -> Selection:
    """Return the selection that options mean; what is wrong with one is an `OptionError` that names it."""
    made: dict[str, Any] = {}
    policies: dict[str, Any] = {}
    for name, value in options.items():
        _check_name(name)
        if value is None:
            continue
        target, reader = _READERS[name]
        try:
            (policies if name in _POLICIES else made)[target] = reader(value)
        except BinlogError as error:
            raise OptionError(f"{name}: {error.message}") from None
    return Selection(**made, options=ColumnOptions(**policies))


def _check_name(name: str) -> None:
    if name not in _READERS:
        near = difflib.get_close_matches(name, _READERS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise OptionError(f"no option is called {name}{hint}")


def is_pattern(table: str) -> bool:
    """Tell whether a name of a table stands for several."""
    return not _PATTERN.isdisjoint(table)


def _tables(names: Any) -> frozenset[str]:
    if isinstance(names, str):
        names = [names]
    checked = frozenset(names)
    for name in checked:
        if "." not in name and not is_pattern(name):
            raise OptionError(f"{name!r} names no schema; tables are written as schema.table")
    return checked


def _operations(names: Any) -> Operations:
    if isinstance(names, str):
        names = [names]
    chosen = Operations(0)
    for name in names:
        known = {operation.name.lower(): operation for operation in Operations if operation.name}
        if name not in known:
            raise OptionError(f"no operation is called {name!r}; there are {', '.join(known)}")
        chosen |= known[name]
    return chosen


def _moment(value: datetime | str | int) -> int:
    """Return a time in whole seconds since 1970; a fraction counts up, as events have whole seconds."""
    return value if isinstance(value, int) else max(0, math.ceil(_aware(value).timestamp()))


def _microseconds(value: datetime | str | int) -> int:
    """Return a time in microseconds since 1970."""
    if isinstance(value, int):
        return value * 1_000_000
    return max(0, (_aware(value) - _EPOCH) // timedelta(microseconds=1))


def _aware(value: datetime | str) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise OptionError(f"{value!r} is not a time such as 2026-11-15 09:30:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _gtids(value: GtidSet | MariadbPosition | str) -> GtidSet | MariadbPosition:
    if not isinstance(value, str):
        return value
    return MariadbPosition(value) if _MARIADB.match(value) else GtidSet(value)


def _positive(value: int) -> int:
    if value <= 0:
        raise OptionError(f"{value} is not positive")
    return value


def _one_of(kind: type[_Named]) -> Callable[[Any], _Named]:
    def read(value: str) -> _Named:
        if value not in kind._value2member_map_:
            raise OptionError(f"{value!r} is none of {', '.join(kind)}")
        return kind(value)

    return read


_POLICIES = ("zero_dates", "undecodable")
_READERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "tables": ("tables", _tables),
    "exclude_tables": ("excluded", _tables),
    "operations": ("operations", _operations),
    "start_position": ("start_position", int),
    "stop_position": ("stop_position", _positive),
    "start_time": ("start_time", _moment),
    "stop_time": ("stop_time", _moment),
    "committed_from": ("committed_from", _microseconds),
    "committed_before": ("committed_before", _microseconds),
    "server_id": ("server_id", int),
    "include_gtids": ("include_gtids", _gtids),
    "exclude_gtids": ("exclude_gtids", _gtids),
    "undecodable": ("undecodable", _one_of(Undecodable)),
    "columns": ("columns", tuple),
    "before": ("before", bool),
    "metadata": ("metadata", bool),
    "tx_rows": ("tx_rows", bool),
    "zero_dates": ("zero_dates", _one_of(ZeroDates)),
    "max_rows": ("max_rows", _positive),
}
