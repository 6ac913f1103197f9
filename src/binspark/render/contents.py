"""The contents of logs, as tables for people and as a JSON object for programs."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from binspark.position import log_name
from binspark.render.summary import one_line
from binspark.render.times import UTC_CLOCK, Clock
from binspark.transactions.contents import Contents, Tally
from binspark.transactions.transaction import Transaction

_UNITS = {"GB": 10**9, "MB": 10**6, "kB": 10**3}


def contents_record(contents: Contents) -> dict[str, Any]:
    """Return the contents of logs as one JSON object."""
    parallelism = contents.parallelism
    return {
        "servers": [{"version": version, "server_id": server} for version, server in contents.servers.items()],
        "first_timestamp": contents.first_timestamp,
        "last_timestamp": contents.last_timestamp,
        "events": _tally(contents.events),
        "transactions": _tally(contents.transactions),
        "endings": dict(contents.endings),
        "types": {name: _tally(tally) for name, tally in _by_size(contents.types)},
        "tables": [
            {"schema": schema, "table": table, "operation": operation, **_tally(tally)}
            for (schema, table, operation), tally in _by_size(contents.tables)
        ],
        "largest": [_largest_record(transaction) for transaction in contents.largest],
        "parallelism": {
            "transactions": parallelism.transactions,
            "critical_path": parallelism.critical_path,
            "average": round(parallelism.average, 3),
            "largest_group": parallelism.largest_group,
        },
    }


def contents_page(contents: Contents, clock: Clock = UTC_CLOCK) -> RenderableType:
    """Return the contents of logs as tables."""
    return Group(
        _headline(contents, clock),
        Text(),
        _types_table(contents),
        Text(),
        _tables_table(contents),
        Text(),
        _largest_table(contents),
        Text(),
        _parallelism_line(contents),
    )


def _headline(contents: Contents, clock: Clock) -> Text:
    servers = ", ".join(f"{version} (server id {server})" for version, server in contents.servers.items())
    times = (contents.first_timestamp, contents.last_timestamp)
    span = " to ".join("?" if time is None else clock.text(time) for time in times)
    counts = f"{contents.events.count:,} events in {contents.transactions.count:,} transactions"
    return Text(f"{counts}, {_size(contents.events.bytes)}, {span}\nwritten by {servers}")


def _types_table(contents: Contents) -> Table:
    table = _table("event type", "events", "bytes")
    for name, tally in _by_size(contents.types):
        table.add_row(name, f"{tally.count:,}", _size(tally.bytes))
    return table


def _tables_table(contents: Contents) -> Table:
    table = _table("table", "operation", "rows events", "bytes", text_columns=2)
    for (schema, name, operation), tally in _by_size(contents.tables):
        table.add_row(f"{schema}.{name}", operation, f"{tally.count:,}", _size(tally.bytes))
    return table


def _largest_table(contents: Contents) -> Table:
    table = _table("largest transactions", "at", "bytes", "what", text_columns=2)
    table.columns[3].justify = "left"
    for transaction in contents.largest:
        position = f"{log_name(transaction.file)}:{transaction.start}"
        table.add_row(transaction.gtid or "anonymous", position, _size(transaction.length), _what(transaction))
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


def _what(transaction: Transaction) -> str:
    if transaction.texts:
        return one_line(transaction.texts[0])
    changes = [f"{change.operation.value} {change.schema}.{change.table}" for change in transaction.changes]
    return ", ".join(changes) or transaction.ending.value


def _largest_record(transaction: Transaction) -> dict[str, Any]:
    return {
        "file": log_name(transaction.file),
        "pos": transaction.start,
        "gtid": transaction.gtid,
        "length": transaction.length,
        "what": _what(transaction),
    }


def _by_size(tallies: dict[Any, Tally]) -> list[tuple[Any, Tally]]:
    return sorted(tallies.items(), key=lambda item: (-item[1].bytes, item[0]))


def _tally(tally: Tally) -> dict[str, int]:
    return {"count": tally.count, "bytes": tally.bytes}


def _size(count: int) -> str:
    """Return a number of bytes with a unit: `12.3 MB`."""
    for unit, factor in _UNITS.items():
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"
