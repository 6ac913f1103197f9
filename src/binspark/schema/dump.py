"""The schemas in a dump (`mysqldump --no-data`, `mariadb-dump --no-data`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from binspark.errors import SchemaError
from binspark.position import Position
from binspark.schema.catalog import Catalog
from binspark.schema.changes import CreateDatabase, CreateTable, NotUnderstood
from binspark.schema.session import Session
from binspark.schema.sql.statement import read_tokens
from binspark.schema.sql.tokens import Kind, Token, tokens

_SERVER = re.compile(r"^-- Server version\s+(\S+)|^-- (?:MySQL|MariaDB) dump .*?Distrib ([^,\s]+)", re.MULTILINE)
_HEADER = 2000
_DELIMITED = re.compile(r"^DELIMITER (\S+)\s*$.*?^DELIMITER ;\s*$", re.MULTILINE | re.DOTALL)
_DUMP = Position(source="the dump")


def from_dump(sql: str, schema: str = "", *, mariadb: bool | None = None) -> Catalog:
    """Return the databases and tables of a dump.

    `schema` is the database of statements before the first USE; a dump of one database has no USE. The family is
    detected from the first lines of the dump unless it is given.
    """
    header = _SERVER.search(sql[:_HEADER])
    is_mariadb = "MariaDB" in sql[:_HEADER] if mariadb is None else mariadb
    session = Session(mariadb=is_mariadb, collations=() if is_mariadb else _mysql_defaults(header))
    catalog = Catalog()
    for statement in _statements(_DELIMITED.sub("", sql), session):
        if statement[0].word == "USE" and len(statement) > 1:
            schema = statement[1].value
            continue
        _apply(catalog, statement, schema, session)
    return catalog


def _mysql_defaults(header: re.Match[str] | None) -> tuple[tuple[str, int], ...]:
    """Return the default collations of MySQL: since 8.0 that of utf8mb4 is utf8mb4_0900_ai_ci, which dumps omit."""
    version = "" if header is None else header[1] or header[2] or ""
    old = version.startswith(("4.", "5."))
    return () if old else (("utf8mb4", 255),)


def _statements(sql: str, session: Session) -> Iterator[list[Token]]:
    statement: list[Token] = []
    for token in tokens(sql, session):
        if token.kind is Kind.SIGN and token.value == ";":
            if statement:
                yield statement
            statement = []
        else:
            statement.append(token)
    if statement:
        yield statement


def _apply(catalog: Catalog, statement: list[Token], schema: str, session: Session) -> None:
    change = read_tokens(statement, schema, session, " ".join(token.value for token in statement))
    if change is None:
        return
    if isinstance(change, CreateTable) and not change.name.schema:
        raise SchemaError(f"no database for table {change.name.table!r}: add a USE statement before it", _DUMP)
    if isinstance(change, CreateTable | CreateDatabase):
        change = replace(change, if_not_exists=False)  # a dump describes existing tables
    try:
        catalog.apply(change, _DUMP)
    except NotUnderstood as error:
        raise SchemaError(f"unsupported statement in the dump: {error.message}", _DUMP) from None
