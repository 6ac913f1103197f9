"""The contents of logs, as tables for people and as a JSON object for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from binspark.options.times import UTC_CLOCK, Clock
from binspark.position import log_name
from binspark.render.summary import one_line
from binspark.transactions.contents import Contents, LargeTransaction, Period, TableTally, Tally

_Sized = TypeVar("_Sized", Tally, TableTally)
_UNITS = {"GB": 10**9, "MB": 10**6, "kB": 10**3}


def contents_record(contents: Contents, periods: dict[int, Period] | None = None) -> dict[str, Any]:
    """Return the contents of logs as one JSON object, with transactions by period if that is wanted."""
    parallelism, total = contents.parallelism, sum(tally.bytes for tally in contents.tables.values())
    return {
        "servers": [{"version": version, "server_id": server} for version, server in contents.servers.items()],
        "first_timestamp": contents.first_timestamp,
        "last_timestamp": contents.last_timestamp,
        "events": _tally(contents.events),
        "transactions": _tally(contents.transactions),
        "endings": dict(contents.endings),
        "types": {name: _tally(tally) for name, tally in _by_size(contents.types)},
        "tables": [
            {"schema": schema, "table": table, "operation": operation, **_table_record(tally, total)}
            for (schema, table, operation), tally in _by_size(contents.tables)
        ],
        "periods": [_period_record(start, period) for start, period in sorted((periods or {}).items())],
        "largest": [_largest_record(transaction) for transaction in contents.largest],
        "parallelism": {
            "transactions": parallelism.transactions,
            "critical_path": parallelism.critical_path,
            "average": round(parallelism.average, 3),
            "largest_group": parallelism.largest_group,
        },
    }


def contents_page(
    contents: Contents, clock: Clock = UTC_CLOCK, periods: dict[int, Period] | None = None
) -> RenderableType:
    """Return the contents of logs as tables, with one of transactions by period if that is wanted."""
    return Group(
        _headline(contents, clock),
        Text(),
        _types_table(contents),
        Text(),
        _tables_table(contents),
        Text(),
        *(() if periods is None else (_periods_table(periods, clock), Text())),
        _largest_table(contents),
        Text(),
        _parallelism_line(contents),
    )


def _headline(contents: Contents, clock: Clock) -> Text:
    servers = ", ".join(f"{version} (server id {server})" for version, server in contents.servers.items())
    times = (contents.first_timestamp, contents.last_timestamp)
    span = " to ".join("?" if time is None else clock.text(time) for time in times)
    counts = f"{contents.events.count:,} events in {contents.transactions.count:,} transactions"
    return Text(f"{counts}, {size_text(contents.events.bytes)}, {span}\nwritten by {servers}")


def _types_table(contents: Contents) -> Table:
    table = _table("event type", "events", "bytes")
    for name, tally in _by_size(contents.types):
        table.add_row(name, f"{tally.count:,}", size_text(tally.bytes))
    return table


def _tables_table(contents: Contents) -> Table:
    """Return tables, largest first, each with its operations and, if there are several, their sum."""
    page = _table("table", "operation", "rows", "rows events", "bytes", "share", text_columns=2)
    total, by_table = TableTally(), dict[tuple[str, str], dict[str, TableTally]]()
    for (schema, name, operation), tally in _by_size(contents.tables):
        by_table.setdefault((schema, name), {})[operation] = tally
        total.add(tally)
    sums = {name: _sum_of(tallies.values()) for name, tallies in by_table.items()}
    for (schema, name), whole in _by_size(sums):
        for operation, tally in by_table[schema, name].items():
            page.add_row(f"{schema}.{name}", operation, *_table_cells(tally, total.bytes))
        if len(by_table[schema, name]) > 1:
            page.add_row(f"{schema}.{name}", "all", *_table_cells(whole, total.bytes), style="bold")
    if len(sums) > 1:
        page.add_row("all tables", "", *_table_cells(total, total.bytes), style="bold")
    return page


def _sum_of(tallies: Iterable[TableTally]) -> TableTally:
    total = TableTally()
    for tally in tallies:
        total.add(tally)
    return total


def _table_cells(tally: TableTally, total: int) -> tuple[str, ...]:
    rows = f"{tally.rows:,}" + ("+" if tally.uncounted else "")
    return rows, f"{tally.events:,}", size_text(tally.bytes), f"{100 * tally.bytes / max(total, 1):.1f}%"


def _periods_table(periods: dict[int, Period], clock: Clock) -> Table:
    page = _table("from", "transactions", "rows", "bytes")
    for start, period in sorted(periods.items()):
        cells = (f"{period.transactions:,}", f"{period.rows:,}", size_text(period.bytes))
        page.add_row(clock.minute(start), *cells)
    return page


def periods_by(unit: str, periods: dict[int, Period], clock: Clock) -> dict[int, Period]:
    """Return the periods of minutes, added up by minute, hour or day of a time zone."""
    found: dict[int, Period] = {}
    for minute, period in periods.items():
        found.setdefault(clock.start_of(unit, minute), Period()).add(period)
    return found


def _largest_table(contents: Contents) -> Table:
    table = _table("largest transactions", "at", "bytes", "what", text_columns=2)
    table.columns[3].justify = "left"
    for transaction in contents.largest:
        position = f"{log_name(transaction.file)}:{transaction.start}"
        table.add_row(transaction.gtid or "anonymous", position, size_text(transaction.length), _what(transaction))
    return table


def _parallelism_line(contents: Contents) -> Text:
    parallelism = contents.parallelism
    return Text(
        f"A replica needs at least {parallelism.critical_path:,} steps for {parallelism.transactions:,} transactions: "
        f"{parallelism.average:.1f} at a time on average, {parallelism.largest_group} at most."
    )


def _table(*columns: str, text_columns: int = 1) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < text_columns else "right", overflow="fold")
    return table


def _what(transaction: LargeTransaction) -> str:
    if transaction.text is not None:
        return one_line(transaction.text, show_secrets=True)  # `without_secrets` has hidden them
    return ", ".join(transaction.changes) or transaction.ending


def _table_record(tally: TableTally, total: int) -> dict[str, Any]:
    return {
        "count": tally.events,
        "bytes": tally.bytes,
        "rows": tally.rows,
        "uncounted": tally.uncounted,
        "share": round(tally.bytes / max(total, 1), 4),
    }


def _period_record(start: int, period: Period) -> dict[str, int]:
    counts = {"transactions": period.transactions, "rows": period.rows, "bytes": period.bytes}
    return {"timestamp": start, **counts}


def _largest_record(transaction: LargeTransaction) -> dict[str, Any]:
    return {
        "file": log_name(transaction.file),
        "pos": transaction.start,
        "gtid": transaction.gtid,
        "length": transaction.length,
        "what": _what(transaction),
    }


def _by_size(tallies: Mapping[Any, _Sized]) -> list[tuple[Any, _Sized]]:
    return sorted(tallies.items(), key=lambda item: (-item[1].bytes, item[0]))


def _tally(tally: Tally) -> dict[str, int]:
    return {"count": tally.count, "bytes": tally.bytes}


def size_text(count: int) -> str:
    """Return a number of bytes with a unit: `12.3 MB`."""
    for unit, factor in _UNITS.items():
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"
