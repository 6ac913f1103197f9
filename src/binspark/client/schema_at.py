"""What a server says of its tables, as far as it can be true of a place in its log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from binspark.client.bulk.follow_runs import RunFollower
from binspark.client.bulk.outline import statements
from binspark.client.connect import Connection
from binspark.client.facts import server_variables
from binspark.client.follow import follow
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings, StreamSettings
from binspark.event import Event
from binspark.schema.history import SchemaHistory, UnreadableDdl
from binspark.schema.server import as_uncertain, from_server, unaffected_tables

_TO_THE_END = FollowSettings(stream=StreamSettings(until_end=True))


def history_at(
    connection: Connection, point: ResumePoint, on_unreadable: Callable[[UnreadableDdl], None] | None = None
) -> SchemaHistory:
    """Ask a server for its tables, for reading its log from a place on.

    Where the log names its columns, that is a hint and no more. Where it does not, the statements from the place to now
    are looked for, and the tables that they are about are left out: of those, the server knows what came of them.
    """
    variables = server_variables(connection)
    lower_case = variables.get("lower_case_table_names") == "1"
    today = from_server(connection.rows)
    if variables.get("binlog_row_metadata") == "FULL":
        return SchemaHistory(as_uncertain(today), on_unreadable, lower_case_names=lower_case)
    since = SchemaHistory(lower_case_names=lower_case)
    for event in _statements(connection, point):
        since.feed(event)
    earlier = unaffected_tables(today, (entry.change for entry in since.entries))
    return SchemaHistory(earlier, on_unreadable, lower_case_names=lower_case)


def _statements(connection: Connection, point: ResumePoint) -> Iterator[Event]:
    """Yield the statements from a place on that are not only the begin or the end of a transaction."""
    if point.by_file:
        for run in RunFollower(connection.options, point, _TO_THE_END):
            if run.data:
                yield from statements(run.chunk)
        return
    for group in follow(connection.options, point, _TO_THE_END):
        if group.transaction is not None and group.transaction.ddl is not None:
            yield from group.events(expand_payloads=False)
