"""Warnings about what a query does not find: tables that do not exist, and changes that were logged as statements.

Otherwise a typing error, or the format of the log, looks like an empty log.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from binspark.columns.seen import matches
from binspark.columns.selection import Selection
from binspark.options.option import Surface, suggestion
from binspark.schema.notices import AboutRows
from binspark.schema.server import TABLES
from binspark.server.info import row_format_problem

if TYPE_CHECKING:
    from binspark.server.connection import Connection
    from binspark.spark.plan import ReadPlan

log = logging.getLogger("binspark.spark")


def warn_of_unmatched(plan: ReadPlan, selection: Selection) -> None:
    """Warn of tables that logs do not contain, as far as a short search can say it."""
    from binspark.files.table_search import maps_table  # loads kernels

    known = [f"{name.schema}.{name.table}" for name, table in plan.history.catalog.tables.items() if table is not None]
    for option, pattern in _named(selection):
        if not matches(pattern, known) and maps_table(plan.logs, pattern) is False:
            log.warning("%s: the logs contain no rows of %s%s", option, pattern, suggestion(pattern, known))


def warn_of_unmatched_on(connection: Connection, selection: Selection) -> None:
    """Warn of tables that a server does not have now; they may be created later."""
    named = _named(selection)
    if not named:
        return
    known = [f"{_text(row[0])}.{_text(row[1])}" for row in connection.rows(TABLES)]
    for option, pattern in named:
        if not matches(pattern, known):
            hint = suggestion(pattern, known)
            log.warning("%s: the server has no table %s, or its user may not see it%s", option, pattern, hint)


def warn_of_statements(plan: ReadPlan) -> None:
    """Warn of changes that logs contain as statements, whose rows a query does not find, and of rolled back ones."""
    for notice in plan.notices:
        if isinstance(notice, AboutRows):
            log.warning("%s: %s", notice.position, notice)


def warn_of_statements_on(connection: Connection) -> None:
    """Warn of a server that may log changes as statements."""
    found = row_format_problem(connection)
    if found is not None:
        log.warning("%s: %s", connection.address, found)


def _named(selection: Selection) -> list[tuple[str, str]]:
    """Return the tables that options name, each with its option."""
    names = {"tables": selection.tables or (), "exclude_tables": selection.excluded}
    return [(Surface.SPARK.spell(option), table) for option, tables in names.items() for table in sorted(tables)]


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
