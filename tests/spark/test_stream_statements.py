"""Statements in what a stream follows that concern rows: logged instead of them, or rolling them back."""

from __future__ import annotations

import logging

import pytest

from binspark.frames import Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.replication.chunk import LogChunk
from binspark.schema.changes import Change, LoggedRows, RolledBackRows
from binspark.spark.streaming.statements import DefinitionParser
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
    integer,
    table,
)

ORDERS, ITEMS = table("shop.orders", integer("id")), table("shop.items", integer("id"))


def chunk_of(builder: BinlogBuilder) -> LogChunk:
    content = builder.content
    first = next(Framer().feed(content))
    return LogChunk("binlog.000001", FIRST_EVENT_OFFSET, first.format, memoryview(content)[FIRST_EVENT_OFFSET:])


def changes_of(builder: BinlogBuilder) -> list[Change]:
    """Return what a mirror has to know of the statements of a log."""
    parser = DefinitionParser(lambda _change: True, lower_case_names=False, with_logged_statements=True)
    found = parser.definitions(chunk_of(builder))
    assert all(definition.is_relevant for definition in found)
    return [statement.change for definition in found for statement in definition.statements]


def rolled_back(builder: BinlogBuilder) -> list[set[str] | None]:
    changes = changes_of(builder)
    found = [change for change in changes if isinstance(change, RolledBackRows)]
    assert found == changes
    return [None if change.names is None else set(map(str, change.names)) for change in found]


@pytest.mark.parametrize("server", [MYSQL_9_7, MARIADB_10_11], ids=["mysql", "mariadb"])
def test_tables_are_those_of_the_transaction_that_was_prepared(server: ServerKind) -> None:
    builder = BinlogBuilder(server)
    builder.transaction(insert(ORDERS, (1,)), xa=b"a")
    builder.transaction(insert(ITEMS, (1,)), xa=b"b")
    builder.transaction(insert(ORDERS, (2,)), insert(ITEMS, (2,)), xa=b"c")
    builder.ddl("XA COMMIT X'61',X'',1")
    builder.ddl("XA ROLLBACK X'62',X'',1")
    builder.ddl("xa rollback X'63', X'', 1")
    assert rolled_back(builder) == [{"shop.items"}, {"shop.orders", "shop.items"}]


def test_tables_of_a_transaction_that_was_prepared_earlier_are_not_known() -> None:
    builder = BinlogBuilder()
    builder.ddl("XA ROLLBACK X'61',X'',1")
    assert rolled_back(builder) == [None]


def test_rows_after_a_savepoint_are_rolled_back_to_it() -> None:
    builder = BinlogBuilder(MARIADB_10_11)
    builder.transaction("SAVEPOINT b", insert(ORDERS, (0,)))
    builder.transaction(insert(ORDERS, (1,)), "SAVEPOINT `A`", insert(ITEMS, (1,)), "ROLLBACK TO `a`")
    builder.transaction(insert(ORDERS, (1,)), "ROLLBACK TO `b`", "SAVEPOINT c", "ROLLBACK WORK TO SAVEPOINT c")
    assert rolled_back(builder) == [{"shop.items"}, {"shop.orders"}, set()]


def test_a_load_is_a_logged_statement() -> None:
    builder = BinlogBuilder(MYSQL_9_7)
    builder.gtid(None)
    builder.begin_load_query(1, b"1\n")
    builder.execute_load_query(1, "LOAD DATA INFILE 'f' INTO TABLE orders", "f", "shop")
    assert changes_of(builder) == [LoggedRows("LOAD DATA INFILE 'f' INTO TABLE orders", "shop")]


def test_the_first_of_each_kind_is_a_warning_for_streams(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    builder = BinlogBuilder()
    for _ in range(2):
        builder.transaction("INSERT INTO shop.orders VALUES (1)")
        builder.ddl("XA ROLLBACK X'61',X'',1")
    parser = DefinitionParser(None, lower_case_names=False, with_logged_statements=False)
    for _ in range(2):
        assert parser.definitions(chunk_of(builder)) == []
    logged, rollback = caplog.messages
    assert "binlog.000001" in logged
    assert "the log does not contain its rows" in logged
    assert "were rolled back, and are read as changes" in rollback
