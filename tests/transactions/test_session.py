"""The session of a statement as SET statements: everything that is in the log, and only what has changed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from binspark.errors import Unsupported
from binspark.event import Event, Intvar, Query, Rand, UserVar, decode_event
from binspark.event.status_vars import AutoIncrement, Charsets, Flags2, StatusCode, StatusVariable
from binspark.frames import Framer
from binspark.frames.format import Family
from binspark.testing.builder import BinlogBuilder
from binspark.transactions.session import SESSION_VARIABLES, SessionSql, logged_variables, variable_statement


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
        b"@@session.sql_mode='ANSI_QUOTES'",  # without a mode that MySQL 8.0 removed
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
    assert b"sql_mode='IGNORE_SPACE'" in changed
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
    assert variable_statement(body, Family.MYSQL) == statement


def test_every_flag_is_in_the_table_once() -> None:
    bits = [variable.bit for variable in SESSION_VARIABLES if variable.bit]
    assert sorted(bits) == sorted(Flags2)


@pytest.mark.parametrize(
    ("version", "logged"),
    [
        ("10.1.48-MariaDB", set()),
        ("10.2.44-MariaDB", {"check_constraint_checks"}),
        ("10.5.16-MariaDB", {"check_constraint_checks", "sql_if_exists"}),
        ("10.5.17-MariaDB", {"check_constraint_checks", "sql_if_exists", "explicit_defaults_for_timestamp"}),
        ("10.9.1-MariaDB", {"check_constraint_checks", "sql_if_exists"}),
        ("10.10.0-MariaDB", {"check_constraint_checks", "sql_if_exists", "explicit_defaults_for_timestamp"}),
    ],
)
def test_old_versions_of_mariadb_log_fewer_flags(version: str, logged: set[str]) -> None:
    of_both = {"foreign_key_checks", "sql_auto_is_null", "unique_checks", "autocommit"}
    flags = {variable.names[0] for variable in logged_variables(Family.MARIADB, version) if variable.bit}
    assert flags == of_both | logged


def test_what_a_statement_does_not_have_is_not_left_from_the_one_before() -> None:
    session = SessionSql(Family.MYSQL)
    session.before(query_event((StatusCode.LC_TIME_NAMES, 4), (StatusCode.AUTO_INCREMENT, AutoIncrement(7, 2))))
    (changed,) = session.before(query_event())
    for setting in (b"lc_time_names=0", b"auto_increment_increment=1", b"auto_increment_offset=1"):
        assert b"@@session." + setting in changed


def test_names_are_read_in_utf8_in_the_session_of_any_statement() -> None:
    session = SessionSql(Family.MYSQL)
    session.before(query_event((StatusCode.CHARSET, Charsets(28, 28, 8))))
    reads_utf8, variable = session.variable(UserVar("中", None, None, None))
    assert (reads_utf8, variable) == (
        b"SET @@session.character_set_client=utf8mb4",
        "SET @`中`:=NULL".encode(),
    )
    use, back = session.before(query_event((StatusCode.CHARSET, Charsets(28, 28, 8)), schema="名"))
    assert (use, back) == ("USE `名`".encode(), b"SET @@session.character_set_client=28")


def test_modes_without_a_name_are_set_as_a_number() -> None:
    session = SessionSql(Family.MYSQL)
    statements = session.before(query_event((StatusCode.SQL_MODE, 1 << 50 | 4)))
    assert f"@@session.sql_mode={1 << 50 | 4}".encode() in statements[-1]


def test_a_variable_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(Unsupported, match="unknown kind 255"):
        variable_statement(Intvar(255, 1), Family.MYSQL)
