"""ALTER TABLE: a list of steps, all of which are returned: a clause without one of its own is an `OtherClause`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from binspark.schema.changes import (
    PRIMARY,
    AddColumn,
    AddKey,
    AlterTable,
    ChangeColumn,
    ColumnPosition,
    ColumnSpec,
    ColumnVisibility,
    ConvertCharset,
    DefaultCharset,
    DropColumn,
    DropKey,
    OtherClause,
    RenameColumn,
    RenameKey,
    RenameTo,
    ReplaceRows,
    SetPeriod,
    Step,
    SystemVersioning,
)
from binspark.schema.session import CharsetRequest
from binspark.schema.sql.columns import read_column
from binspark.schema.sql.keys import at_key, inline_keys, read_key, read_period
from binspark.schema.sql.options import NO_REQUEST, read_charset_option
from binspark.schema.sql.reader import SqlReader
from binspark.schema.sql.tokens import Kind

_INDEX = ("INDEX", "KEY")
_PARTITION_WORK = (
    "TRUNCATE",
    "COALESCE",
    "REORGANIZE",
    "EXCHANGE",
    "ANALYZE",
    "CHECK",
    "OPTIMIZE",
    "REBUILD",
    "REPAIR",
    "REMOVE",
    "UPGRADE",
    "PARTITION",
    "DISCARD",
    "IMPORT",
)
_REPLACE_ROWS = ("TRUNCATE", "EXCHANGE", "DISCARD", "IMPORT")
_OPTIONS = frozenset(
    (
        "ALGORITHM",
        "LOCK",
        "FORCE",
        "ENABLE",
        "DISABLE",
        "WITH",
        "WITHOUT",
        "SECONDARY_LOAD",
        "SECONDARY_UNLOAD",
        "AUTOEXTEND_SIZE",
        "AUTO_INCREMENT",
        "AVG_ROW_LENGTH",
        "CHECKSUM",
        "COMMENT",
        "COMPRESSION",
        "CONNECTION",
        "DATA",
        "DELAY_KEY_WRITE",
        "ENCRYPTION",
        "ENCRYPTED",
        "ENCRYPTION_KEY_ID",
        "ENGINE",
        "TYPE",
        "ENGINE_ATTRIBUTE",
        "IETF_QUOTES",
        "INDEX",
        "INSERT_METHOD",
        "KEY_BLOCK_SIZE",
        "MAX_ROWS",
        "MIN_ROWS",
        "PACK_KEYS",
        "PAGE_CHECKSUM",
        "PAGE_COMPRESSED",
        "PAGE_COMPRESSION_LEVEL",
        "PASSWORD",
        "ROW_FORMAT",
        "SECONDARY_ENGINE",
        "SECONDARY_ENGINE_ATTRIBUTE",
        "SEQUENCE",
        "STATS_AUTO_RECALC",
        "STATS_PERSISTENT",
        "STATS_SAMPLE_PAGES",
        "STORAGE",
        "TABLESPACE",
        "TABLE_CHECKSUM",
        "TRANSACTIONAL",
        "UNION",
        "START",
    )
)
_SECOND_WORDS = ("DIRECTORY", "KEYS", "VALIDATION", "TRANSACTION", "SYSTEM")
_FLAGS = (
    *("FORCE", "ENABLE KEYS", "DISABLE KEYS", "WITH VALIDATION", "WITHOUT VALIDATION", "SECONDARY_LOAD"),
    *("SECONDARY_UNLOAD", "START TRANSACTION"),
)


def read_alter_table(sql: SqlReader) -> AlterTable:
    """Read what follows ALTER TABLE."""
    sql.accept("IF", "EXISTS")
    name = sql.table_name()
    if sql.accept("WAIT"):
        sql.next()
    sql.accept("NOWAIT")
    partitioning = sql.end_before(("PARTITION", "BY"), ("REMOVE", "PARTITIONING"))
    steps: list[Step] = [OtherClause(" ".join(partitioning))] if partitioning else []
    while not sql.ended:
        words = " ".join(filter(None, (sql.word, sql.peek(1).word)))
        steps.extend(list(_read_steps(sql)) or [OtherClause(words)])
        sql.accept_sign(",")
    renames = [step for step in steps if isinstance(step, RenameTo)]
    return AlterTable(name, tuple(step for step in steps if step not in renames[:-1]), sql.session)


def _read_steps(sql: SqlReader) -> Iterator[Step]:
    request = read_charset_option(sql, NO_REQUEST)
    if request is not None:
        yield DefaultCharset(_rest_of_charset(sql, request))
        return
    reader = _STEPS.get(sql.word)
    if reader is not None:
        sql.next()
        yield from reader(sql)
    elif sql.at("ORDER", "BY"):
        _skip_order(sql)
    elif sql.at_any(*_PARTITION_WORK):
        yield from _partition_work(sql)
    elif sql.accept("WITH", "SYSTEM", "VERSIONING"):
        yield SystemVersioning(True)
    elif sql.word in _OPTIONS or sql.is_sign("=", ahead=1):
        yield from _read_options(sql)
    else:
        raise sql.refused("a step of ALTER TABLE")


def _partition_work(sql: SqlReader) -> Iterator[Step]:
    """Read what is done with partitions or a tablespace: columns and keys stay, but rows may not."""
    if sql.at_any(*_REPLACE_ROWS):
        while not (sql.ended or sql.at("WITH", "TABLE")):
            sql.skip_one()
        yield ReplaceRows(sql.table_name() if sql.accept("WITH", "TABLE") else None)
    sql.skip_rest()


def _rest_of_charset(sql: SqlReader, request: CharsetRequest) -> CharsetRequest:
    while (more := read_charset_option(sql, request)) is not None:
        request = more
    return request


def _read_options(sql: SqlReader) -> Iterator[Step]:
    """Read options, which need no commas between them; a character set may be among them."""
    while not (sql.ended or sql.is_sign(",")):
        request = read_charset_option(sql, NO_REQUEST)
        if request is not None:
            yield DefaultCharset(_rest_of_charset(sql, request))
        elif sql.accept("WITH", "SYSTEM", "VERSIONING"):
            yield SystemVersioning(True)
        else:
            yield _option(sql)


def _option(sql: SqlReader) -> OtherClause:
    """Read an option: words, and a value unless it is one of those that have none."""
    name = sql.next().value.upper()
    if second := sql.accept_any(*_SECOND_WORDS):
        name = f"{name} {second}"
    if name in _FLAGS:
        return OtherClause(name)
    sql.accept_sign("=")
    value = sql.peek().value
    sql.skip_one()
    return OtherClause(name, value)


def _skip_order(sql: SqlReader) -> None:
    """Skip ORDER BY and its columns.

    After a comma there is another column or another step: a column is followed by nothing more than a direction.
    """
    sql.expect("ORDER", "BY")
    while True:
        sql.other_table_name()
        sql.accept_any("ASC", "DESC")
        after = sql.peek(2)
        is_column = after.kind in (Kind.END, Kind.SIGN) or after.word in ("ASC", "DESC")
        if not (sql.is_sign(",") and is_column):
            return
        sql.next()


def _add(sql: SqlReader) -> Iterator[Step]:
    if at_key(sql):
        if_not_exists = _has_if_not_exists(sql)
        key = read_key(sql)
        if key is not None:
            yield AddKey(key, if_not_exists)
    elif sql.accept("SYSTEM", "VERSIONING"):
        yield SystemVersioning(True)
    elif sql.at("PERIOD", "FOR"):
        yield SetPeriod(read_period(sql))
    elif sql.at("PARTITION"):
        sql.skip_rest()
    else:
        yield from _add_columns(sql)


def _has_if_not_exists(sql: SqlReader) -> bool:
    return any(sql.peek(ahead).word == "IF" for ahead in range(1, 4))


def _add_columns(sql: SqlReader) -> Iterator[Step]:
    sql.accept("COLUMN")
    if_not_exists = sql.accept("IF", "NOT", "EXISTS")
    if not sql.accept_sign("("):
        column, position = _column_and_position(sql)
        yield AddColumn(column, position, if_not_exists)
        yield from (AddKey(key, if_not_exists) for key in inline_keys(column))
        return
    while True:
        if at_key(sql):
            key = read_key(sql)
            yield from [AddKey(key)] if key else []
        elif sql.at("PERIOD", "FOR"):
            yield SetPeriod(read_period(sql))
        else:
            column = read_column(sql)
            yield AddColumn(column, None, if_not_exists)
            yield from map(AddKey, inline_keys(column))
        if not sql.accept_sign(","):
            break
    sql.expect_sign(")")


def _column_and_position(sql: SqlReader) -> tuple[ColumnSpec, ColumnPosition | None]:
    column = read_column(sql)
    if sql.accept("FIRST"):
        return column, ColumnPosition(None)
    if sql.accept("AFTER"):
        return column, ColumnPosition(sql.column_name())
    return column, None


def _change(sql: SqlReader) -> Iterator[Step]:
    sql.accept("COLUMN")
    if_exists = sql.accept("IF", "EXISTS")
    old_name = sql.column_name()
    column, position = _column_and_position(sql)
    yield ChangeColumn(old_name, column, position, if_exists)
    yield from map(AddKey, inline_keys(column))


def _modify(sql: SqlReader) -> Iterator[Step]:
    sql.accept("COLUMN")
    if_exists = sql.accept("IF", "EXISTS")
    column, position = _column_and_position(sql)
    yield ChangeColumn(column.name, column, position, if_exists)
    yield from map(AddKey, inline_keys(column))


def _drop(sql: SqlReader) -> Iterator[Step]:
    if sql.accept("PRIMARY", "KEY") or sql.accept("CONSTRAINT", "PRIMARY", "KEY"):
        yield DropKey(PRIMARY)
    elif sql.accept_any(*_INDEX) or sql.accept("CONSTRAINT"):
        sql.accept("IF", "EXISTS")
        yield DropKey(sql.name())
    elif sql.at("FOREIGN", "KEY") or sql.at("CHECK"):
        sql.skip_element()
    elif sql.accept("PERIOD", "FOR"):
        yield from () if sql.accept("SYSTEM_TIME") else (SetPeriod(None),)
        sql.skip_element()
    elif sql.accept("SYSTEM", "VERSIONING"):
        yield SystemVersioning(False)
    elif sql.at("PARTITION"):
        sql.skip_rest()
        yield ReplaceRows()
    else:
        sql.accept("COLUMN")
        if_exists = sql.accept("IF", "EXISTS")
        yield DropColumn(sql.column_name(), if_exists)
        sql.accept_any("RESTRICT", "CASCADE")


def _rename(sql: SqlReader) -> Iterator[Step]:
    if sql.accept("COLUMN"):
        if_exists = sql.accept("IF", "EXISTS")
        old_name = sql.name()
        sql.expect("TO")
        yield RenameColumn(old_name, sql.name(), if_exists)
    elif sql.at_any(*_INDEX):
        sql.next()
        sql.accept("IF", "EXISTS")
        old_name = sql.name()
        sql.expect("TO")
        yield RenameKey(old_name, sql.name())
    else:
        if not (sql.accept_any("TO", "AS") or sql.accept_sign("=")):
            sql.accept("TABLE", "TO")
        yield RenameTo(sql.other_table_name())


def _alter(sql: SqlReader) -> Iterator[Step]:
    """Read ALTER COLUMN, which changes defaults or visibility; ALTER INDEX, CHECK and CONSTRAINT change no column."""
    if sql.at_any(*_INDEX, "CHECK", "CONSTRAINT"):
        sql.skip_element()
        return
    sql.accept("COLUMN")
    sql.accept("IF", "EXISTS")
    name = sql.name()
    if sql.at("SET") and sql.peek(1).word in ("VISIBLE", "INVISIBLE"):
        yield ColumnVisibility(name, sql.peek(1).word == "VISIBLE")
    else:
        yield OtherClause(f"ALTER COLUMN {sql.word} {sql.peek(1).word}")
    sql.skip_element()


def _convert(sql: SqlReader) -> Iterator[Step]:
    """Read CONVERT TO CHARACTER SET, CONVERT PARTITION ... TO TABLE, CONVERT TABLE ... TO PARTITION."""
    if sql.accept("PARTITION"):
        sql.name()
        sql.expect("TO", "TABLE")
        yield ReplaceRows(sql.table_name(), creates=True)
        sql.skip_rest()
        return
    if sql.accept("TABLE"):
        yield ReplaceRows(sql.table_name(), drops=True)
        sql.skip_rest()
        return
    sql.expect("TO")
    request = read_charset_option(sql, NO_REQUEST)
    if request is None:
        raise sql.refused("CHARACTER SET")
    yield ConvertCharset(_rest_of_charset(sql, request))


_STEPS: dict[str, Callable[[SqlReader], Iterator[Step]]] = {
    "ADD": _add,
    "CHANGE": _change,
    "MODIFY": _modify,
    "DROP": _drop,
    "RENAME": _rename,
    "ALTER": _alter,
    "CONVERT": _convert,
}
