"""A builder's events of statements, of what they depend on, and of the files that they load."""

from __future__ import annotations

from decimal import Decimal

from binspark.event.load import AppendBlock, BeginLoadQuery, CreateFile, DeleteFile, ExecLoad, Load, Separators
from binspark.event.query import ExecuteLoadQuery, Query, QueryCompressed
from binspark.event.rows_query import AnnotateRows, RowsQuery
from binspark.event.status_vars import Charsets, StatusCode, StatusVariable
from binspark.event.variables import Intvar, IntvarKind, Rand, UserVar, UserVarType
from binspark.frames import EventCode as E
from binspark.frames import Family, HeaderFlag
from binspark.testing.builder.core import BuilderCore, Part

_UTF8 = 33
_BINARY = 63
_THREAD_ID = 8
_SQL_MODES = {Family.MYSQL: 1168113696, Family.MARIADB: 1411383296}
_USUAL_FORM = Separators(b"\t", b"", b"\n", b"", b"\\")
_OLD_FORM = Separators(b"\t", b"\0", b"\n", b"\0", b"\\", empty_flags=0x0A)


class StatementEvents(BuilderCore):
    """QUERY and its kin."""

    def query(self, sql: str, schema: str = "", *, status_vars: tuple[StatusVariable, ...] | None = None) -> None:
        """Write QUERY."""
        self.event(*self.query_part(sql, schema, status_vars=status_vars))

    def query_part(self, sql: str, schema: str = "", *, status_vars: tuple[StatusVariable, ...] | None = None) -> Part:
        """Return a QUERY that is not yet placed. A statement that needs no USE says so in its header."""
        usual = self.usual_status_vars() if status_vars is None else status_vars
        flags = 0 if schema or self.format.version < 3 else HeaderFlag.SUPPRESS_USE
        return Part(E.QUERY, Query(_THREAD_ID, 0, 0, schema, usual, sql.encode()), flags)

    def query_compressed(self, sql: str, schema: str = "") -> None:
        """Write MariaDB's QUERY_COMPRESSED."""
        body = QueryCompressed(_THREAD_ID, 0, 0, schema, self.usual_status_vars(), sql.encode())
        self.event(E.QUERY_COMPRESSED, body)

    def usual_status_vars(self) -> tuple[StatusVariable, ...]:
        """Return the settings that a server writes with every statement."""
        if self.format.version < 4:
            return ()
        return (
            StatusVariable(StatusCode.FLAGS2, 0),
            StatusVariable(StatusCode.SQL_MODE, _SQL_MODES[self.format.family]),
            StatusVariable(StatusCode.CATALOG_NZ, "std"),
            StatusVariable(StatusCode.CHARSET, Charsets(_UTF8, _UTF8, _UTF8)),
        )

    def last_insert_id(self, value: int) -> None:
        """Write INTVAR: what LAST_INSERT_ID() gives in the next statement."""
        self.event(E.INTVAR, Intvar(IntvarKind.LAST_INSERT_ID, value))

    def insert_id(self, value: int) -> None:
        """Write INTVAR: the first AUTO_INCREMENT of the next statement."""
        self.event(E.INTVAR, Intvar(IntvarKind.INSERT_ID, value))

    def rand(self, seed1: int, seed2: int) -> None:
        """Write RAND."""
        self.event(E.RAND, Rand(seed1, seed2))

    def user_var(self, name: str, value: bytes | str | int | float | Decimal | None) -> None:
        """Write USER_VAR, of the type that the value has."""
        self.event(E.USER_VAR, _user_var(name, value))

    def rows_query(self, sql: str) -> None:
        """Write ROWS_QUERY."""
        self.event(*self.rows_query_part(sql))

    def rows_query_part(self, sql: str) -> Part:
        """Return a ROWS_QUERY that is not yet placed."""
        return Part(E.ROWS_QUERY, RowsQuery(sql.encode()), HeaderFlag.IGNORABLE)

    def annotate_rows(self, sql: str) -> None:
        """Write MariaDB's ANNOTATE_ROWS."""
        self.event(*self.annotate_rows_part(sql))

    def annotate_rows_part(self, sql: str) -> Part:
        """Return an ANNOTATE_ROWS that is not yet placed."""
        return Part(E.ANNOTATE_ROWS, AnnotateRows(sql.encode()))

    def begin_load_query(self, file_id: int, block: bytes) -> None:
        """Write BEGIN_LOAD_QUERY: the first block of a file."""
        self.event(E.BEGIN_LOAD_QUERY, BeginLoadQuery(file_id, block))

    def append_block(self, file_id: int, block: bytes) -> None:
        """Write APPEND_BLOCK: another block of a file."""
        self.event(E.APPEND_BLOCK, AppendBlock(file_id, block))

    def delete_file(self, file_id: int) -> None:
        """Write DELETE_FILE: the load failed."""
        self.event(E.DELETE_FILE, DeleteFile(file_id))

    def execute_load_query(self, file_id: int, sql: str, file_name: str, schema: str = "") -> None:
        """Write EXECUTE_LOAD_QUERY; the quoted name of the file stands somewhere in the statement."""
        quoted = f"'{file_name}'".encode()
        start = sql.encode().index(quoted)
        body = ExecuteLoadQuery(
            _THREAD_ID, 0, 0, schema, self.usual_status_vars(), sql.encode(), file_id, start, start + len(quoted)
        )
        self.event(E.EXECUTE_LOAD_QUERY, body)

    def load(self, schema: str, table: str, file_name: str, fields: tuple[str, ...] = ()) -> None:
        """Write LOAD, as MySQL 3.23 did."""
        self.event(E.LOAD, Load(_THREAD_ID, 0, 0, _OLD_FORM, fields, table, schema, file_name))

    def new_load(self, schema: str, table: str, file_name: str, fields: tuple[str, ...] = ()) -> None:
        """Write NEW_LOAD, as MySQL 4.0 did."""
        self.event(E.NEW_LOAD, Load(_THREAD_ID, 0, 0, _USUAL_FORM, fields, table, schema, file_name))

    def create_file(
        self, file_id: int, block: bytes, schema: str, table: str, file_name: str, fields: tuple[str, ...] = ()
    ) -> None:
        """Write CREATE_FILE, as MySQL 4.0 did: a load, and the first block of its file."""
        body = CreateFile(_THREAD_ID, 0, 0, _USUAL_FORM, fields, table, schema, file_name, file_id, block)
        self.event(E.CREATE_FILE, body)

    def exec_load(self, file_id: int) -> None:
        """Write EXEC_LOAD: the file is complete."""
        self.event(E.EXEC_LOAD, ExecLoad(file_id))


def _user_var(name: str, value: bytes | str | int | float | Decimal | None) -> UserVar:
    match value:
        case None:
            return UserVar(name, None, None, None)
        case str():
            return UserVar(name, UserVarType.STRING, _UTF8, value.encode(), flags=0)
        case bytes():
            return UserVar(name, UserVarType.STRING, _BINARY, value, flags=0)
        case float():
            return UserVar(name, UserVarType.REAL, _BINARY, value, flags=0)
        case Decimal():
            precision = max(len(value.as_tuple().digits), -int(value.as_tuple().exponent))
            return UserVar(name, UserVarType.DECIMAL, _BINARY, value, precision, flags=0)
        case int():
            return UserVar(name, UserVarType.INT, _BINARY, value, flags=int(value >= 1 << 63))
