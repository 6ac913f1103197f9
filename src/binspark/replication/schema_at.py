"""What a server reports of its tables, as far as it can be true at a position of its logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from binspark.event import Event
from binspark.replication.follow import Follower
from binspark.replication.position import BinlogPosition
from binspark.replication.stop import StopCondition
from binspark.schema.history import SchemaHistory
from binspark.schema.notices import SchemaNotice
from binspark.schema.server import as_uncertain, from_server, unaffected_tables
from binspark.server.connection import Connection
from binspark.server.info import server_variables


def history_at(
    connection: Connection,
    position: BinlogPosition,
    on_notice: Callable[[SchemaNotice], None] | None = None,
    since: SchemaHistory | None = None,
) -> SchemaHistory:
    """Ask a server for its tables, for reading its log from a position on.

    If the log has the names of columns, that is a hint and no more. If not, the statements from the position to now are
    read, and the tables that they change are omitted: the server only knows what has become of those. `since` has these
    statements, if they were read already.
    """
    known = history_since(connection, position, since)
    return SchemaHistory(known.base, on_notice, lower_case_names=known.lower_case_names)


def history_since(
    connection: Connection, position: BinlogPosition, since: SchemaHistory | None = None
) -> SchemaHistory:
    """Return the same, extended by the statements from the position to now, if they are needed or were read already."""
    variables = server_variables(connection)
    lower_case = variables.get("lower_case_table_names") == "1"
    current = from_server(connection.rows)
    if variables.get("binlog_row_metadata") == "FULL":
        hint = SchemaHistory(as_uncertain(current), lower_case_names=lower_case)
        return hint if since is None else hint.followed_by(since)
    since = statements_after(connection, position) if since is None else since
    earlier = unaffected_tables(current, (entry.change for entry in since.entries))
    return SchemaHistory(earlier, lower_case_names=lower_case).followed_by(since)


def statements_after(connection: Connection, position: BinlogPosition) -> SchemaHistory:
    """Return a history with the statements from a position to now."""
    lower_case = server_variables(connection).get("lower_case_table_names") == "1"
    since = SchemaHistory(lower_case_names=lower_case)
    for event in _statements(connection, position):
        since.feed(event)
    return since


def _statements(connection: Connection, position: BinlogPosition) -> Iterator[Event]:
    """Yield the statements from a position on that are not only the begin or the end of a transaction."""
    stop = StopCondition(end_of_log=True)
    with Follower(connection.config, position, stop=stop, complete_transactions=not position.by_file) as follower:
        for chunk in follower:
            if chunk.data:
                yield from chunk.statements()
