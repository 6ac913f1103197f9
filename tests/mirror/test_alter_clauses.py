"""Every clause of ALTER TABLE on a real server: after those on the mirror's list, rows have the values of before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from pymysql.err import MySQLError

from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.mirror.schema.alter import KEEPS_VALUES, AlteredTable, Pending, Resnapshot, check_types, fills, plan_alter
from binspark.mirror.schema.definitions import as_mirrored
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS, MirroredTable
from binspark.position import Position
from binspark.schema import SchemaHistory
from binspark.schema.catalog import Catalog, KnownTables
from binspark.schema.changes import AlterTable, OtherClause, RenameTo, Unreadable
from binspark.schema.definition import TableDefinition
from binspark.schema.server import table_from_server
from binspark.schema.session import Session
from binspark.schema.sql.statement import read_ddl
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.support.mirror.alter_clauses import CLAUSES, TABLES, Clause
from tests.support.schema.schema_logs import Recorder
from tests.support.servers import each_family, shared

__all__ = ["shared"]
pytestmark = pytest.mark.timeout(300)

DATABASE = "alter_clauses"
MODES = {"lax": "NO_ENGINE_SUBSTITUTION", "strict": "NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES"}
OPTIONS = {"lax": replace(MIRROR_OPTIONS, zero_dates=ZeroDates.STRING), "strict": MIRROR_OPTIONS}
"""How dates are mirrored: MySQL makes zeros of those that are not in the calendar if its mode is not strict."""

FILLING = "SET sql_mode = 'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'"
Rows = list[tuple[Any, ...]]


class Altered(NamedTuple):
    """What a server made of a table."""

    clause: Clause
    mode: str
    before: dict[str, list[Any]]
    after: dict[str, list[Any]]


class Verdict(NamedTuple):
    """What the mirror makes of it: the change that it would make, or why it copies the table again."""

    pending: Pending | None
    reason: str
    added: dict[str, Any]


def columns_of(recorder: Recorder, table: str) -> dict[str, list[Any]]:
    """Return the values of each column of a table, in the order of its first column, and of the others."""
    names = [row[0] for row in recorder.run(f"SHOW COLUMNS FROM {table}")]
    order = ", ".join(f"`{name}`" for name in ("id", "a") if name in names)
    rows = recorder.run(f"SELECT {', '.join(f'`{name}`' for name in names)} FROM {table} ORDER BY {order}")
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def alter(recorder: Recorder, clause: Clause, mode: str, name: str) -> Altered | None:
    """Let the server run a clause on a table of its own; None if it refuses the statement."""
    recorder.run(FILLING, *(statement.format(t=name) for statement in TABLES[clause.table]))
    before = columns_of(recorder, name)
    recorder.run(f"SET sql_mode = '{MODES[mode]}'")
    with suppress(MySQLError):
        recorder.run(clause.statement(name))
        return Altered(clause, mode, before, columns_after(recorder, f"{name}_new" if "_new" in clause.sql else name))
    return None


def columns_after(recorder: Recorder, table: str) -> dict[str, list[Any]]:
    """Return the values of each column of a table; none if its tablespace was discarded."""
    with suppress(MySQLError):
        return columns_of(recorder, table)
    return {}


def definitions_of(recorder: Recorder) -> dict[str, TableDefinition | None]:
    """Return the definition of each kind of table, as the server has it."""
    found = {}
    for kind in TABLES:
        with suppress(MySQLError):  # only the other family has tables of this kind
            recorder.run(FILLING, *(statement.format(t=f"k_{kind}") for statement in TABLES[kind]))
            found[kind] = table_from_server(lambda sql: recorder.run(sql), TableName(DATABASE, f"k_{kind}"))
    return found


def changes_of(recorder: Recorder) -> dict[str, AlterTable | Unreadable]:
    """Return what the log has about each table: the last statement that alters it."""
    history = SchemaHistory()
    for event in recorder.events():
        history.feed(event)
    found: dict[str, AlterTable | Unreadable] = {}
    for entry in history.entries:
        match entry.change:
            case AlterTable(name) as change:
                found[name.table] = change
            case Unreadable(names) as change:
                found |= dict.fromkeys((name.table for name in names), change)
    return found


def mirrored(name: TableName, definition: TableDefinition, options: ColumnOptions) -> MirroredTable:
    return as_mirrored(name, definition, lambda kind: kind, options)


def judge(change: AlterTable | Unreadable | None, definition: TableDefinition | None, mode: str) -> Verdict:
    """Return what the mirror makes of a statement. After one that the log does not have, all stays as it is."""
    assert definition is not None
    if change is None:
        names = tuple((column.name, column.name) for column in definition.columns)
        return Verdict(Pending(TableName(DATABASE, ""), definition, names), "", {})
    if isinstance(change, Unreadable):
        return Verdict(None, change.reason, {})
    before = Catalog(tables=KnownTables({change.name: definition}))
    after = before.copy()
    after.apply(change, Position())
    new_name = next((step.name for step in change.steps if isinstance(step, RenameTo)), change.name)
    defined = after.tables[new_name]
    assert defined is not None
    altered = AlteredTable(definition, defined, before.lineage(change.name), after.lineage(new_name))
    new = mirrored(new_name, defined, OPTIONS[mode])
    try:
        pending = plan_alter(new_name, change, altered, {field.name: field.type for field in new.schema})
        check_types(mirrored(change.name, definition, OPTIONS[mode]), new, pending)
    except Resnapshot as reason:
        return Verdict(None, str(reason), {})
    filled = {name: plain(value) for name, value in fills(new, pending).items()}
    return Verdict(pending, "", {name: filled.get(name) for name, _ in pending.defaults})


def plain(value: pa.Scalar) -> Any:
    """Return a value as the client of a server returns it."""
    found = value.as_py()
    return ",".join(found) if isinstance(found, list) else found


def expected(verdict: Verdict, before: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the columns that a mirrored table has after a change."""
    assert verdict.pending is not None
    count = len(next(iter(before.values())))
    kept = {new: before[old] for old, new in verdict.pending.names}
    return kept | {name: [value] * count for name, value in verdict.added.items()}


class Walk(NamedTuple):
    """All clauses on one server: what it made of them, and what the mirror makes of them."""

    refused: list[str]
    judged: list[tuple[Altered, Verdict]]


@pytest.fixture(scope="module")
def walks() -> dict[str, Walk]:
    return {}


@pytest.fixture
def walk(shared: Server, walks: dict[str, Walk]) -> Walk:
    family = shared.family.name
    if family not in walks:
        walks[family] = walked(shared)
    return walks[family]


def walked(server: Server) -> Walk:
    recorder = Recorder(server)
    recorder.new_database(DATABASE, "CHARACTER SET utf8mb4")
    clauses = [clause for clause in CLAUSES if server.family.name in clause.families]
    found = {
        f"t{number}_{mode}": (clause, alter(recorder, clause, mode, f"t{number}_{mode}"))
        for number, clause in enumerate(clauses)
        for mode in MODES
    }
    changes, definitions = changes_of(recorder), definitions_of(recorder)
    recorder.close()
    accepted = {clause.sql for clause, altered in found.values() if altered is not None}
    judged = [
        (altered, judge(changes.get(name), definitions[altered.clause.table], altered.mode))
        for name, (_, altered) in found.items()
        if altered is not None
    ]
    return Walk([clause.sql for clause in clauses if clause.sql not in accepted], judged)


@each_family
def test_a_server_accepts_every_clause(walk: Walk) -> None:
    assert walk.refused == []


@each_family
def test_rows_keep_all_values_after_the_clauses_that_are_on_the_list(walk: Walk) -> None:
    wrong = [
        (altered.clause.sql, altered.mode, name, values, altered.after.get(name))
        for altered, verdict in walk.judged
        if verdict.pending is not None
        for name, values in expected(verdict, altered.before).items()
        if altered.after.get(name) != values
    ]
    assert wrong == []


@each_family
def test_tables_are_copied_again_after_the_other_clauses_alone(walk: Walk) -> None:
    unlike = [
        (altered.clause.sql, verdict.reason)
        for altered, verdict in walk.judged
        if altered.mode == "strict" and altered.clause.kept != (verdict.pending is not None)
    ]
    assert unlike == []


@each_family
def test_most_clauses_that_copy_a_table_do_change_rows_that_the_log_does_not_contain(walk: Walk) -> None:
    """Otherwise the rows of these tests would not be difficult enough to prove anything of the others."""
    changed = {
        altered.clause.sql
        for altered, verdict in walk.judged
        if verdict.pending is None and altered.after != {name: altered.before.get(name) for name in altered.after}
    }
    assert {
        "MODIFY d DOUBLE(6,1)",
        "MODIFY x DECIMAL(6,2) UNSIGNED",
        "MODIFY s SET('c','b','a')",
        "MODIFY id INT AUTO_INCREMENT",
        "MODIFY g INT AS (a * 3) VIRTUAL",
        "FORCE, ALGORITHM = COPY",
        "DROP PARTITION p0",
        "EXCHANGE PARTITION p0 WITH TABLE {t}_x",
    } <= changed


def clauses_read() -> Iterator[type | str]:
    """Yield what the clauses of these tests are for the list: the kinds of steps, and the names of other clauses."""
    session = Session(mariadb=True, version=101100)
    for clause in CLAUSES:
        change = read_ddl(clause.statement("t"), DATABASE, session)
        assert isinstance(change, AlterTable), clause.sql
        yield from (step.name if isinstance(step, OtherClause) else type(step) for step in change.steps)


def test_every_entry_of_the_list_is_a_clause_of_these_tests() -> None:
    assert set(KEEPS_VALUES) <= set(clauses_read())


@pytest.mark.parametrize("clause", ["SOMETHING = 'new'", "ENGINE = Unheard", "FORCE SOMETHING ENGINE = InnoDB"])
def test_a_table_is_copied_again_after_a_clause_that_is_not_on_the_list(clause: str) -> None:
    session = Session(mariadb=False, version=90700)
    created = read_ddl("CREATE TABLE t (a INT) ENGINE = InnoDB", DATABASE, session)
    altered = read_ddl(f"ALTER TABLE t {clause}", DATABASE, session)
    assert created is not None
    assert isinstance(altered, AlterTable)
    catalog = Catalog()
    catalog.apply(created, Position())
    definition = catalog.tables[TableName(DATABASE, "t")]
    assert definition is not None
    assert judge(altered, definition, "strict").reason.partition(" may have changed its rows")[1]
    assert judge(replace(altered, steps=(OtherClause("ENGINE", "InnoDB"),)), definition, "strict").reason == ""
