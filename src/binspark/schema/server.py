"""The schemas of a server's current tables, from information_schema."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from binspark.position import Position
from binspark.schema.catalog import Catalog, Database, affected_tables
from binspark.schema.changes import PRIMARY, Change, ColumnSpec, CreateDatabase, DropDatabase, Key, KeyPart
from binspark.schema.collations import collation_number
from binspark.schema.definition import TableDefinition
from binspark.schema.resolve import define_column
from binspark.schema.session import CharsetRequest, Session, version_number
from binspark.schema.sql.columns import read_definition
from binspark.schema.sql.reader import SqlReader
from binspark.schema.table import TableName


def unaffected_tables(current: Catalog, changes: Iterable[Change]) -> Catalog:
    """Return the current tables that none of these statements affected: they were the same before the statements.

    A database without some of its tables is no longer complete. A statement may contain names in another case than the
    server's.
    """
    earlier = current.copy()
    for change in changes:
        if isinstance(change, CreateDatabase | DropDatabase):
            schema = change.name.lower()
            earlier.databases = {name: known for name, known in earlier.databases.items() if name.lower() != schema}
            _remove(earlier, [name for name in earlier.tables if name.schema.lower() == schema])
        _remove(earlier, affected_tables(change))
    return earlier


def as_uncertain(current: Catalog) -> Catalog:
    """Return the current tables as definitions that are not certain: the log takes precedence where they differ."""
    uncertain = current.copy()
    for name, definition in current.tables.items():
        if definition is not None:
            uncertain.tables[name] = replace(definition, certain=False)
    for schema, database in current.databases.items():
        uncertain.databases[schema] = replace(database, complete=False)
    return uncertain


def _remove(catalog: Catalog, names: Iterable[TableName]) -> None:
    for name in names:
        for spelling in (name, *catalog.tables.spellings(name)):
            catalog.tables.pop(spelling, None)
            if spelling.schema in catalog.databases:
                catalog.databases[spelling.schema] = replace(catalog.databases[spelling.schema], complete=False)


Rows = Sequence[Sequence[Any]]
Query = Callable[[str], Rows]

_SERVER = Position(source="the server")
_SYSTEM = "('information_schema', 'performance_schema', 'mysql', 'sys')"

_ALL = f"table_schema NOT IN {_SYSTEM}"

DATABASES = f"""SELECT schema_name, default_collation_name
    FROM information_schema.schemata WHERE schema_name NOT IN {_SYSTEM}"""  # noqa: S608 (no input in it)
_TABLES = """SELECT table_schema, table_name, table_type, table_collation, engine
    FROM information_schema.tables WHERE {which} AND table_type NOT LIKE '%VIEW'"""
_COLUMNS = """SELECT table_schema, table_name, column_name, column_type, is_nullable, collation_name, {extra}
    FROM information_schema.columns WHERE {which}
    ORDER BY table_schema, table_name, ordinal_position"""
_KEYS = """SELECT table_schema, table_name, index_name, non_unique, column_name, sub_part, index_type
    FROM information_schema.statistics WHERE {which}
    ORDER BY table_schema, table_name, index_name, seq_in_index"""
TABLES = _TABLES.format(which=_ALL)
_EXTRA = "extra"
_MEMORY = "MEMORY"
_ROW_END = "ROW END"
_VERSIONED_EXTRA = "CONCAT(extra, IF(generation_expression = 'ROW END', ' ROW END', ''))"
_FIRST_VERSIONED = 100300
KEY_ORDER = "SHOW INDEX FROM {schema}.{table}"
VERSION = "SELECT VERSION(), @@lower_case_table_names"


def from_server(query: Query, schemas: Collection[str] | None = None) -> Catalog:
    """Return the databases and tables of a server. `query` executes a statement and returns its rows.

    With `schemas`, only the tables of these are read.
    """
    if schemas is None:
        return _read(query, query(DATABASES), _ALL)
    listed = ", ".join(map(_text_literal, sorted(schemas)))
    return _read(query, query(DATABASES), f"table_schema IN ({listed})" if listed else "FALSE")


def table_from_server(query: Query, name: TableName) -> TableDefinition | None:
    """Return one table of a server, None if it is not there."""
    which = f"table_schema = {_text_literal(name.schema)} AND table_name = {_text_literal(name.table)}"
    return next(iter(_read(query, (), which).tables.values()), None)


def _read(query: Query, databases: Rows, which: str) -> Catalog:
    version, lower_case = map(_text, query(VERSION)[0])
    session = Session(mariadb="MariaDB" in version, version=version_number(version))
    extra = _VERSIONED_EXTRA if session.mariadb and (session.version or 0) >= _FIRST_VERSIONED else _EXTRA
    tables, columns, keys = (query(sql.format(which=which, extra=extra)) for sql in (_TABLES, _COLUMNS, _KEYS))
    catalog = from_rows(session, databases, tables, columns, keys)
    catalog.case_matters = lower_case == "0"
    for name, table in list(catalog.tables.items()):
        if table is not None and _needs_order(table):
            shown = query(KEY_ORDER.format(schema=_quoted(name.schema), table=_quoted(name.table)))
            catalog.tables[name] = in_key_order(table, [_text(row[2]) for row in shown])
    return catalog


def from_rows(session: Session, databases: Rows, tables: Rows, columns: Rows, keys: Rows) -> Catalog:
    """Return the catalog of rows of information_schema, as the queries above select them."""
    catalog = Catalog()
    for name, collation in databases:
        catalog.databases[_text(name)] = Database(_collation(collation, session), complete=True)
    columns_of = _by_table(columns)
    keys_of = _by_table(keys)
    for schema, table, kind, collation, engine in tables:
        name = TableName(_text(schema), _text(table))
        rows = columns_of[name]
        definition = TableDefinition(
            tuple(_column(row, session) for row in rows),
            _keys(keys_of[name], has_hashes=session.mariadb and _text(engine).upper() != _MEMORY),
            _collation(collation, session),
            _SERVER,
            mariadb=session.mariadb,
            versioned=_text(kind) == "SYSTEM VERSIONED" and not _has_row_period(rows),
            engine=None if engine is None else _text(engine),
        )
        catalog.tables[name] = definition.normalized()
    return catalog


def in_key_order(table: TableDefinition, names: Iterable[str]) -> TableDefinition:
    """Return a table with its keys in the order of SHOW INDEX, on which it depends which one is used as primary key."""
    order = {name: number for number, name in reversed(list(enumerate(names)))}
    return replace(table, keys=tuple(sorted(table.keys, key=lambda key: order.get(key.name, len(order))))).normalized()


def _needs_order(table: TableDefinition) -> bool:
    key = table.primary_key
    return key is not None and key.name != PRIMARY and sum(key.unique for key in table.keys) > 1


def _by_table(rows: Rows) -> defaultdict[TableName, list[Sequence[Any]]]:
    found: defaultdict[TableName, list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        found[TableName(_text(row[0]), _text(row[1]))].append(row[2:])
    return found


def _column(row: Sequence[Any], session: Session) -> Any:
    """Return the column of a row: COLUMN_TYPE has the syntax of DDL."""
    name, column_type, is_nullable, collation, extra = row
    spec = read_definition(SqlReader(_text(column_type), "", session), _text(name))
    request = CharsetRequest(collate=_text(collation) if collation is not None else None)
    if collation is None and spec.type.members is not None:
        request = CharsetRequest(charset="binary")
    complete = ColumnSpec(
        spec.name,
        spec.type,
        request,
        unsigned=spec.unsigned,
        nullable=_text(is_nullable) == "YES",
        visible="INVISIBLE" not in _text(extra).upper(),
        compressed=spec.compressed,
        numbered="AUTO_INCREMENT" in _text(extra).upper(),
        generated=_is_generated(_text(extra)),
        virtual="VIRTUAL GENERATED" in _text(extra).upper(),
        row_end=_ROW_END in _text(extra),
    )
    return define_column(complete, None, session)


def _is_generated(extra: str) -> bool:
    """Return whether a column is generated. DEFAULT_GENERATED is only said of its default."""
    return any(f"{kind} GENERATED" in extra.upper() for kind in ("VIRTUAL", "STORED"))


def _has_row_period(rows: list[Sequence[Any]]) -> bool:
    return any(_ROW_END in _text(row[4]) for row in rows)


def _keys(rows: list[Sequence[Any]], *, has_hashes: bool) -> tuple[Key, ...]:
    """Return the keys. With `has_hashes`, one of type HASH is stored in a hidden column."""
    parts: dict[str, list[KeyPart]] = {}
    kinds: dict[str, tuple[bool, bool, bool]] = {}
    for index_name, non_unique, column, prefix, kind in rows:
        name = _text(index_name)
        parts.setdefault(name, []).append(KeyPart(None if column is None else _text(column), int(prefix or 0)))
        by_hash = has_hashes and _text(kind) == "HASH"
        kinds[name] = not int(non_unique), by_hash, by_hash
    return tuple(Key(name, tuple(found), *kinds[name]) for name, found in parts.items())


def _collation(name: Any, session: Session) -> int | None:
    return None if name is None else collation_number(_text(name), mariadb=session.mariadb)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text_literal(text: str) -> str:
    """Return text as a literal, whatever a backslash means in this session."""
    return f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)" if text else "''"
