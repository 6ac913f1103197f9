"""What must hold on a server before it is read, each with what to do where it does not."""

from __future__ import annotations

from binspark.client.connect import Connection
from binspark.client.facts import ServerFacts, server_variables
from binspark.errors import Server

_LOGS_ROWS = "ROW"
_WHOLE_ROWS = "FULL"
_OLD_ROWS_WHOLE = "FULL_NODUP"


def row_problems(facts: ServerFacts) -> list[str]:
    """Return why the logs of this server will not hold every changed row, old and new; empty if they will."""
    if not facts.log_bin:
        return ["the server writes no binary log: start it with log_bin"]
    problems = []
    if facts.binlog_format != _LOGS_ROWS:
        problems.append(_statement_format(facts.binlog_format))
    if facts.row_image != _WHOLE_ROWS:
        problems.append(_row_image(facts.row_image))
    return problems


def refuse_statements(connection: Connection) -> None:
    """Refuse a server that logs statements where rows are wanted."""
    binlog_format = server_variables(connection).get("binlog_format", _LOGS_ROWS)
    if binlog_format != _LOGS_ROWS:
        raise Server(_statement_format(binlog_format), connection.position)


def _row_image(row_image: str) -> str:
    new_only = " from the new row of an update, and stand in its old row only" if row_image == _OLD_ROWS_WHOLE else ""
    return (
        f"binlog_row_image is {row_image}: columns that did not change are missing{new_only}. "
        "SET GLOBAL binlog_row_image = FULL; it holds for sessions that begin afterwards"
    )


def _statement_format(binlog_format: str) -> str:
    return (
        f"binlog_format is {binlog_format}: changes are logged as statements, and rows cannot be read from those. "
        "SET GLOBAL binlog_format = ROW; it holds for sessions that begin afterwards"
    )
