"""Options that select part of some logs, taken from what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from binspark.errors import BinlogError
from binspark.event import Event
from binspark.files import find_logs
from binspark.files.read import source_events
from binspark.transactions.assembler import transactions
from binspark.transactions.transaction import Transaction

Options = dict[str, Any]


def events_before_damage(logs: Sequence[Path]) -> list[Event]:
    """Return the events of logs, as far as each can be read."""
    found: list[Event] = []
    for source in find_logs(logs):
        try:
            for event in source_events(source):
                found.append(event)  # noqa: PERF402 (what came before an error counts)
        except BinlogError:
            continue
    return found


def selections_of(logs: Sequence[Path]) -> list[Options]:
    """Return options, each of which selects a part of the logs, or something that is not there."""
    events = events_before_damage(logs)
    found = list(transactions(events))
    if not found:
        return [{"tables": "no.table"}]
    return [*_of_rows(found), *_of_transactions(found), *_of_positions(events), *_combined(found)]


def _of_rows(found: list[Transaction]) -> Iterator[Options]:
    tables = _tables(found)
    yield {"tables": [tables[len(tables) // 2]]}
    yield {"tables": [f"{tables[0].partition('.')[0]}.*"], "exclude_tables": [tables[-1]]}
    yield {"exclude_tables": [tables[0]]}
    yield {"operations": "update,delete"}


def _of_transactions(found: list[Transaction]) -> Iterator[Options]:
    middle = found[len(found) // 2]
    yield {"thread_id": middle.thread_id or 1}
    yield {"server_id": middle.server_id}
    yield {"server_id": 4_000_000_000}
    yield {"start_datetime": middle.timestamp}
    yield {"stop_datetime": middle.timestamp}
    microseconds = middle.immediate_commit_timestamp or middle.timestamp * 1_000_000
    committed = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    yield {"committed_from": committed}
    yield {"committed_before": committed}
    names = [each.gtid for each in found if each.gtid]
    if names:
        yield {"include_gtids": ",".join(names[::2])}
        yield {"exclude_gtids": ",".join(names[len(names) // 2 :][:70])}


def _of_positions(events: list[Event]) -> Iterator[Options]:
    last = events[-1].file
    own = [event.offset for event in events if event.file == last]
    yield {"start_position": own[len(own) // 3], "stop_position": own[2 * len(own) // 3]}
    yield {"stop_position": own[-1] + 1}


def _combined(found: list[Transaction]) -> Iterator[Options]:
    middle = found[len(found) // 2]
    tables = _tables(found)
    yield {"tables": [tables[0]], "operations": "insert", "start_datetime": middle.timestamp}
    yield {"exclude_tables": [tables[-1]], "thread_id": middle.thread_id or 1}


def _tables(found: list[Transaction]) -> list[str]:
    """Return the tables whose names an option can have without quotes."""
    names = {f"{change.schema}.{change.table}" for each in found for change in each.changes}
    return sorted(name for name in names if "`" not in name) or ["no.table"]
