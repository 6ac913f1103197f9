"""The session of a statement as SET statements: everything that is in the log, and only what has changed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from binspark.event import Event, Intvar, Query, Rand, UserVar, decode_event
from binspark.event.status_vars import AutoIncrement, Charsets, Flags2, StatusCode, StatusVariable
from binspark.frames import Framer
from binspark.frames.format import Family
from binspark.testing.builder import BinlogBuilder
from binspark.transactions.session_sql import SessionSql, variable_statement


def query_event(*variables: tuple[StatusCode, object], schema: str = "shop") -> Event:
    """Return a QUERY event with these status variables."""
    log = BinlogBuilder()
    status = tuple(StatusVariable(code, value) for code, value in variables)
    log.query("INSERT INTO t VALUES (1)", schema=schema, status_vars=status)
    decoded = [decode_event(frame) for frame in Framer().feed(log.content)]
    return next(event for event in decoded if isinstance(event.body, Query))


def test_a_session_is_set_once() -> None:
    session = SessionSql(Family.MYSQL)
    event = query_event(
        (StatusCode.FLAGS2, Flags2.NO_FOREIGN_KEY_CHECKS),
        (StatusCode.SQL_MODE, 0x10000004),
        (StatusCode.AUTO_INCREMENT, AutoIncrement(10, 3)),
        (StatusCode.CHARSET, Charsets(45, 45, 8)),
        (StatusCode.TIME_ZONE, "+05:00"),
        (StatusCode.MICROSECONDS, 42),
    )
    use, settings = session.before(event)
    assert use == b"USE `shop`"
    for setting in (
        b"@@session.foreign_key_checks=0",
        b"@@session.unique_checks=1",
        b"@@session.sql_mode=4",  # without a mode that MySQL 8.0 removed
        b"@@session.auto_increment_increment=10",
        b"@@session.auto_increment_offset=3",
        b"@@session.character_set_client=45",
        b"@@session.collation_server=8",
        b"@@session.time_zone='+05:00'",
        b"@@session.collation_database=DEFAULT",
        b".000042",
    ):
        assert setting in settings
    assert session.before(event) == []
    (changed,) = session.before(query_event((StatusCode.SQL_MODE, 8)))
    assert b"sql_mode=8" in changed
    assert b"character_set_client" not in changed


def test_another_schema_is_used_and_a_dropped_one_again() -> None:
    session = SessionSql(Family.MARIADB)
    assert session.before(query_event(schema="a`b"))[0] == b"USE `a``b`"
    session.forget_schema()
    assert session.before(query_event(schema="a`b")) == [b"USE `a``b`"]


@pytest.mark.parametrize(
    ("body", "statement"),
    [
        (Intvar(1, 7), b"SET LAST_INSERT_ID=7"),
        (Intvar(2, 1 << 63), b"SET INSERT_ID=9223372036854775808"),
        (Rand(1, 2), b"SET @@RAND_SEED1=1, @@RAND_SEED2=2"),
        (UserVar("a`b", None, None, None), b"SET @`a``b`:=NULL"),
        (UserVar("x", 0, 255, b"it's"), b"SET @`x`:=_utf8mb4 X'69742773' COLLATE `utf8mb4_0900_ai_ci`"),
        (UserVar("x", 0, 63, b"\x00\xff"), b"SET @`x`:=_binary X'00ff' COLLATE `binary`"),
        (UserVar("x", 2, 63, -5, flags=0), b"SET @`x`:=-5"),
        (UserVar("x", 1, 63, 0.1), b"SET @`x`:=0.1e0"),
        (UserVar("x", 1, 63, -1.5e300), b"SET @`x`:=-1.5e+300"),
        (UserVar("x", 4, 63, Decimal("-0.010")), b"SET @`x`:=-0.010"),
    ],
)
def test_variables_before_a_statement(body: Intvar | Rand | UserVar, statement: bytes) -> None:
    assert variable_statement(body) == statement
