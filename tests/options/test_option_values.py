"""Values of options: text or values of Python; what is not valid says what was expected and what was found."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.changes.selection_options import SELECTION_OPTIONS, BatchOptions, make_selection
from binspark.columns.options import ColumnOptions, TimeFormat, ZeroDates
from binspark.columns.selection import Operations, Selection
from binspark.errors import OptionError
from binspark.options import values
from binspark.options.option import Surface
from binspark.options.server import SERVER_OPTIONS, ServerArguments, connection_arguments
from binspark.options.values import InvalidValue
from binspark.server.config import TlsMode
from binspark.values.options import Undecodable

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
NOON_SECONDS = 1_794_744_000


@pytest.mark.parametrize(
    ("parse", "value", "expected"),
    [
        (values.flag, "TRUE", True),
        (values.flag, False, False),
        (values.integer, "-7", -7),
        (values.port, 3306, 3306),
        (values.seconds, "0.5", 0.5),
        (values.seconds_or_zero, 0, 0.0),
        (values.days, "1.5", 1.5),
        (values.size, "1", 1),
        (values.size, 4096, 4096),
        (values.size, "500K", 512_000),
        (values.size, "64 KB", 64 << 10),
        (values.size, "20mb", 20 << 20),
        (values.size, "2MiB", 2 << 20),
        (values.size, "1g", 1 << 30),
        (values.size, "2T", 2 << 40),
        (values.names, "a, b,,c", ("a", "b", "c")),
        (values.names, ["a", "b,c"], ("a", "b", "c")),
        (values.tables, "shop.*,crm.people", frozenset({"shop.*", "crm.people"})),
        (values.tables, ["shop.orders"], frozenset({"shop.orders"})),
        (values.table, "shop.orders", "shop.orders"),
        (values.one_of(TlsMode), "REQUIRED", TlsMode.REQUIRED),
        (values.time_seconds, "2026-11-15 12:00:00", NOON_SECONDS),
        (values.time_seconds, "2026-11-15T13:00:00+01:00", NOON_SECONDS),
        (values.time_seconds, "2026-11-15 11:59:59.000001", NOON_SECONDS),
        (values.time_seconds, NOON, NOON_SECONDS),
        (values.time_seconds, NOON_SECONDS, NOON_SECONDS),
        (values.time_seconds, "1900-01-01", 0),
        (values.time_microseconds, "2026-11-15 12:00:00.000001", NOON_SECONDS * 1_000_000 + 1),
        (values.time_microseconds, NOON_SECONDS, NOON_SECONDS * 1_000_000),
        (values.time_seconds, "2026-11-15 12:00:00 UTC", NOON_SECONDS),
        (values.time_seconds, " 2026-11-15 13:00:00 +0100", NOON_SECONDS),
        (values.time_seconds, "2026-11-15T12:00:00z", NOON_SECONDS),
        (values.tables, "`shop`.`orders`, crm.x ,`a`.`b,``c`", frozenset({"shop.orders", "crm.x", "a.b,`c"})),
        (values.tables, "`shop`.*", frozenset({"shop.*"})),
        (values.table, "`shop` . `orders`", "shop.orders"),
        (values.table, "shop.`orders` ", "shop.orders"),
    ],
)
def test_a_value_is_parsed(parse: Callable[[Any], object], value: object, expected: object) -> None:
    assert parse(value) == expected


@pytest.mark.parametrize(
    ("parse", "value", "message"),
    [
        (values.flag, "yes", "must be true or false, got 'yes'"),
        (values.integer, "x", "must be an integer, got 'x'"),
        (values.integer, None, "must be an integer, got None"),
        (values.port, 70000, "must be from 1 to 65535, got 70000"),
        (values.integer_in(0), "-1", "must be 0 or more, got '-1'"),
        (values.positive, 0, "must be 1 or more, got 0"),
        (values.seconds, "soon", "must be a number of seconds, got 'soon'"),
        (values.seconds, -1, "must be positive, got -1"),
        (values.seconds, float("nan"), "must be positive, got nan"),
        (values.seconds_or_zero, "-0.1", "must be 0 or more, got '-0.1'"),
        (values.days, "week", "must be a number of days, got 'week'"),
        (values.size, "64x", "must be a size such as 500000, 64m or 2 GB, got '64x'"),
        (values.size, "-1", "must be a size such as 500000, 64m or 2 GB, got '-1'"),
        (values.size, "0k", "must be positive, got '0k'"),
        (values.tables, "orders", "must be schema.table, or a pattern such as 'shop.*', got 'orders'"),
        (values.tables, "`shop.orders", "must be schema.table, with backticks in pairs, got '`shop.orders'"),
        (values.table, "shop.*", "must be the name of one table, schema.table, got 'shop.*': use tables for patterns"),
        (values.one_of(TlsMode), "on", f"must be {values.listed(TlsMode)}, got 'on'"),
        (values.time_seconds, "noon", "must be a time such as 2026-11-15 09:30:00, got 'noon'"),
    ],
)
def test_a_value_that_is_not_valid_says_what_was_expected(
    parse: Callable[[Any], object], value: object, message: str
) -> None:
    with pytest.raises(InvalidValue) as error:
        parse(value)
    assert str(error.value) == message


PARSERS = [option.parse for option in (*SELECTION_OPTIONS, *SERVER_OPTIONS)]


@given(st.sampled_from(PARSERS), st.text(max_size=20))
def test_any_text_is_parsed_or_is_not_valid(parse: Callable[[Any], object], text: str) -> None:
    with suppress(InvalidValue):
        parse(text)


def test_the_typed_options_of_python_are_those_of_the_table() -> None:
    in_python = {option.name for option in SELECTION_OPTIONS if Surface.PYTHON in option.surfaces}
    assert set(BatchOptions.__annotations__) == in_python
    of_servers = {option.name for option in SERVER_OPTIONS if Surface.PYTHON in option.surfaces}
    assert set(ServerArguments.__annotations__) == of_servers


def test_every_option_has_a_target_in_the_selection() -> None:
    targets = {(ColumnOptions if option.is_policy else Selection): set[str]() for option in SELECTION_OPTIONS}
    for option in SELECTION_OPTIONS:
        targets[ColumnOptions if option.is_policy else Selection].add(option.target)
    assert {kind: found - set(kind.__dataclass_fields__) for kind, found in targets.items()} == {
        Selection: set(),
        ColumnOptions: set(),
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [("undecodable", Undecodable), ("zero_dates", ZeroDates), ("time", TimeFormat), ("ssl_mode", TlsMode)],
)
def test_the_choices_of_an_option_are_those_of_its_enumeration(name: str, kind: type[Undecodable]) -> None:
    choices = {option.name: option.choices for option in (*SELECTION_OPTIONS, *SERVER_OPTIONS)}
    assert set(choices[name]) == set(kind)


def test_text_and_values_make_the_same_selection() -> None:
    texts = {"tables": "a.b,c.d", "operations": "insert", "server_id": "7", "before": "true", "columns": "x,y"}
    typed = {"tables": ["a.b", "c.d"], "operations": ["insert"], "server_id": 7, "before": True, "columns": ["x", "y"]}
    assert make_selection(texts) == make_selection(typed)
    assert make_selection(typed).operations is Operations.INSERT
    assert make_selection({"tables": None}) == Selection()


def test_options_of_a_connection_become_arguments_and_what_is_not_given_is_left_to_the_option_file() -> None:
    given_options = {"host": ["db1", "db2:3307"], "port": "4000", "ssl_mode": "REQUIRED", "user": None}
    assert connection_arguments(given_options) == {"host": "db1,db2:3307", "port": 4000, "ssl_mode": "required"}


@pytest.mark.parametrize(
    ("surface", "message"),
    [
        (Surface.COMMAND_LINE, "--host and --socket cannot be combined"),
        (Surface.PYTHON, "host and socket cannot be combined"),
    ],
)
def test_options_that_exclude_each_other_are_named_as_they_were_typed(surface: Surface, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{message}$"):
        connection_arguments({"host": "db1", "socket": "/run/mysqld.sock"}, surface)


@pytest.mark.parametrize("old", ["hosts", "tls_mode", "tls_ca", "tls_cert", "tls_key", "connect_seconds"])
def test_old_names_of_a_connection_are_accepted_with_a_warning(old: str) -> None:
    new = {"hosts": "host", "connect_seconds": "connect_timeout"}.get(old, old.replace("tls", "ssl"))
    value = {"tls_mode": "required", "connect_seconds": 5}.get(old, "x")
    with pytest.warns(DeprecationWarning, match=f"^{old} is deprecated; use {new}$"):
        arguments = connection_arguments({old: value})
    assert arguments == connection_arguments({new: value})
