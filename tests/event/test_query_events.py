"""Statements, the settings of their sessions, and the variables that they depend on."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from binspark.errors import DecodeError, Malformed
from binspark.event import ExecuteLoadQuery, Intvar, Query, Rand, UserVar, Xid
from binspark.event.status_vars import AutoIncrement, Charsets, GtidFlags3, Invoker, StatusCode, StatusVariable
from binspark.frames import EventCode
from binspark.frames.payload import deflate_block
from binspark.testing.builder import MARIADB_10_11, MYSQL_5_5, MYSQL_9_7
from tests.support.event.decoding import decode, decode_body_of, encode

E = EventCode
S = StatusCode

STATUS_VARIABLES: list[tuple[str, StatusCode, Any]] = [
    ("0000400004", S.FLAGS2, 0x04004000),
    ("01a0455f4500000000", S.SQL_MODE, 0x455F45A0),
    ("020373746400", S.CATALOG, "std"),
    ("0302000100", S.AUTO_INCREMENT, AutoIncrement(2, 1)),
    ("04ff00ff002d00", S.CHARSET, Charsets(255, 255, 45)),
    ("050653595354454d", S.TIME_ZONE, "SYSTEM"),
    ("0603737464", S.CATALOG_NZ, "std"),
    ("070400", S.LC_TIME_NAMES, 4),
    ("082100", S.CHARSET_DATABASE, 33),
    ("090500000000000080", S.TABLE_MAP_FOR_UPDATE, (1 << 63) + 5),
    ("0a64000000", S.MASTER_DATA_WRITTEN, 100),
    ("0b04726f6f74096c6f63616c686f7374", S.INVOKER, Invoker("root", "localhost")),
    ("0b0000", S.INVOKER, Invoker("", "")),
    ("0c0273686f70007465737400", S.UPDATED_DB_NAMES, ("shop", "test")),
    ("0cfe", S.UPDATED_DB_NAMES, None),
    ("0c00", S.UPDATED_DB_NAMES, ()),
    ("0d3f420f", S.MICROSECONDS, 999_999),
    ("1001", S.EXPLICIT_DEFAULTS_FOR_TIMESTAMP, 1),
    ("110700000000000000", S.DDL_LOGGED_WITH_XID, 7),
    ("12ff00", S.DEFAULT_COLLATION_FOR_UTF8MB4, 255),
    ("1301", S.SQL_REQUIRE_PRIMARY_KEY, 1),
    ("1400", S.DEFAULT_TABLE_ENCRYPTION, 0),
    ("1501", S.ENABLE_CASCADE_TRIGGERS, 1),
    ("803f420f", S.HRNOW, 999_999),
    ("810600000000000000", S.XID, 6),
    ("8202", S.GTID_FLAGS3, GtidFlags3(2, None)),
    ("82040900000000000000", S.GTID_FLAGS3, GtidFlags3(4, 9)),
    ("830108002f00", S.CHARACTER_SET_COLLATIONS, ((8, 47),)),
]


def query_with(status_vars: str, schema: str = "shop", statement: bytes = b"BEGIN") -> str:
    length = (len(status_vars) // 2).to_bytes(2, "little").hex()
    name = schema.encode()
    return f"0900000002000000{len(name):02x}0300{length}{status_vars}{name.hex()}00{statement.hex()}"


def test_a_query_has_thread_schema_and_error_code() -> None:
    query = decode_body_of(E.QUERY, query_with(""))
    assert query == Query(9, 2, 3, "shop", (), b"BEGIN")


@pytest.mark.parametrize(("status_vars", "code", "value"), STATUS_VARIABLES)
def test_each_status_variable_has_its_own_layout(status_vars: str, code: StatusCode, value: Any) -> None:
    query = decode_body_of(E.QUERY, query_with(status_vars))
    assert query.status_vars == (StatusVariable(code, value),)
    assert (query.status(code), query.status_vars[0].name) == (value, code.name.lower())
    assert encode(E.QUERY, query).hex() == query_with(status_vars)


def test_every_status_variable_that_a_server_writes_is_tested() -> None:
    never_written = {S.COMMIT_TS, S.COMMIT_TS2}
    assert {row[1] for row in STATUS_VARIABLES} == set(StatusCode) - never_written


def test_status_variables_are_consecutive() -> None:
    together = "".join(row[0] for row in STATUS_VARIABLES)
    query = decode_body_of(E.QUERY, query_with(together))
    assert [(variable.code, variable.value) for variable in query.status_vars] == [row[1:] for row in STATUS_VARIABLES]


def test_an_unknown_status_variable_is_kept_with_all_that_follows() -> None:
    body = query_with("0000000000" + "c8" + "0102030405")
    query = decode_body_of(E.QUERY, body)
    assert query.status_vars == (StatusVariable(0, 0), StatusVariable(200, b"\1\2\3\4\5"))
    assert query.status_vars[1].name == "unknown_200"
    assert encode(E.QUERY, query).hex() == body


@pytest.mark.parametrize("status_vars", [row[0] for row in STATUS_VARIABLES])
def test_a_status_variable_that_is_cut_is_refused(status_vars: str) -> None:
    lengths = range(2, len(status_vars) - 1, 2)
    cut = [status_vars[:length] for length in lengths]
    for part in cut:
        with pytest.raises(DecodeError):
            decode(E.QUERY, query_with(part))


def test_the_statement_may_be_any_bytes_and_the_schema_may_not() -> None:
    statement = bytes(range(256))
    assert decode_body_of(E.QUERY, query_with("", statement=statement)).query == statement
    with pytest.raises(Malformed, match="schema is not valid utf-8: 0xff") as caught:
        decode(E.QUERY, "0900000002000000" + "01" + "0000" + "0000" + "ff" + "00")
    assert (caught.value.position.file, caught.value.position.offset) == ("binlog.000001", 4)


def test_the_schema_ends_with_a_zero_byte() -> None:
    with pytest.raises(Malformed, match="schema_end is 0x41"):
        decode(E.QUERY, query_with("")[:-12] + "41" + b"BEGIN".hex())


@pytest.mark.parametrize("length", [12, 13, 14, 40, 255])
def test_a_longer_post_header_is_skipped(length: int) -> None:
    kind = MYSQL_9_7.with_post_header(E.QUERY, length)
    query = Query(9, 2, 3, "shop", (StatusVariable(0, 5),), b"BEGIN")
    body = encode(E.QUERY, query, kind)
    assert len(body) == max(13, length) + 5 + 5 + 5
    assert decode_body_of(E.QUERY, body, kind) == query


@pytest.mark.parametrize("length", [0, 11])
def test_a_post_header_of_11_bytes_has_no_status_variables_whatever_the_version(length: int) -> None:
    kind = MYSQL_5_5.with_post_header(E.QUERY, length)
    query = Query(9, 2, 3, "shop", (), b"BEGIN")
    body = encode(E.QUERY, query, kind)
    assert body.hex() == "0900000002000000040300" + b"shop\0BEGIN".hex()
    assert decode_body_of(E.QUERY, body, kind) == query


@pytest.mark.parametrize(
    ("code", "event"),
    [(E.INTVAR, Intvar(1, 5)), (E.RAND, Rand(1, 2)), (E.XID, Xid(7)), (E.USER_VAR, UserVar("v", None, None, None))],
)
@pytest.mark.parametrize("length", [0, 1, 255])
def test_a_post_header_that_a_later_server_adds_is_skipped(code: int, event: object, length: int) -> None:
    kind = MYSQL_9_7.with_post_header(code, length)
    assert decode_body_of(code, encode(code, event, kind), kind) == event


def test_bytes_after_the_last_field_are_extra() -> None:
    event = decode(E.INTVAR, "02" + "0500000000000000" + "abcd")
    assert (event.body, event.extra) == (Intvar(2, 5), b"\xab\xcd")


def test_execute_load_query_has_the_position_of_the_file_name() -> None:
    statement = b"LOAD DATA INFILE 'x' INTO TABLE t"
    load = "07000000" + "11000000" + "14000000" + "02"
    body = "0900000002000000040000" + "0000" + load + b"shop\0".hex() + statement.hex()
    event = decode_body_of(E.EXECUTE_LOAD_QUERY, body)
    assert event == ExecuteLoadQuery(9, 2, 0, "shop", (), statement, 7, 17, 20, 2)
    assert statement[event.file_name_start : event.file_name_end] == b"'x'"


def test_the_file_name_of_execute_load_query_cannot_be_beyond_its_statement() -> None:
    load = "07000000" + "11000000" + "ffffffff" + "02"
    with pytest.raises(Malformed, match="is beyond the statement"):
        decode(E.EXECUTE_LOAD_QUERY, "0900000002000000040000" + "0000" + load + b"shop\0LOAD DATA".hex())


USER_VARIABLES: list[tuple[str, UserVar]] = [
    ("0100000076" + "01", UserVar("v", None, None, None)),
    ("0100000076" + "00" + "00" + "ff000000" + "03000000" + "616263" + "00", UserVar("v", 0, 255, b"abc", None, 0)),
    ("0100000076" + "00" + "00" + "3f000000" + "00000000", UserVar("v", 0, 63, b"")),
    (
        "0100000076" + "00" + "01" + "3f000000" + "08000000" + "000000000000f83f" + "00",
        UserVar("v", 1, 63, 1.5, None, 0),
    ),
    (
        "0100000076" + "00" + "02" + "3f000000" + "08000000" + "ffffffffffffffff" + "00",
        UserVar("v", 2, 63, -1, None, 0),
    ),
    (
        "0100000076" + "00" + "02" + "3f000000" + "08000000" + "ffffffffffffffff" + "01",
        UserVar("v", 2, 63, (1 << 64) - 1, None, 1),
    ),
    (
        "0100000076" + "00" + "04" + "3f000000" + "09000000" + "0e04" + "810dfb38d204d2" + "00",
        UserVar("v", 4, 63, Decimal("1234567890.1234"), 14, 0),
    ),
    (
        "0100000076" + "00" + "04" + "3f000000" + "09000000" + "0e04" + "7ef204c72dfb2d" + "00",
        UserVar("v", 4, 63, Decimal("-1234567890.1234"), 14, 0),
    ),
    ("02000000c3bc" + "01", UserVar("ü", None, None, None)),
]


@pytest.mark.parametrize(("body", "expected"), USER_VARIABLES)
def test_a_user_variable_of_each_type(body: str, expected: UserVar) -> None:
    event = decode_body_of(E.USER_VAR, body)
    assert event == expected
    assert encode(E.USER_VAR, event).hex() == body


@pytest.mark.parametrize(
    "body",
    [
        "0100000076" + "00" + "01" + "3f000000" + "07000000" + "00" * 7,
        "0100000076" + "00" + "02" + "3f000000" + "09000000" + "00" * 9,
        "0100000076" + "00" + "03" + "3f000000" + "00000000",
        "0100000076" + "00" + "09" + "3f000000" + "00000000",
        "0100000076" + "00" + "04" + "3f000000" + "00000000",
        "0100000076" + "00" + "04" + "3f000000" + "02000000" + "0e04",
        "0100000076" + "00" + "04" + "3f000000" + "03000000" + "000080",
        "0100000076" + "00" + "04" + "3f000000" + "03000000" + "420080",
        "0100000076" + "00" + "04" + "3f000000" + "03000000" + "010280",
        "0100000076" + "00" + "04" + "3f000000" + "06000000" + "0900" + "ffffffff",
        "ffffffff76" + "00",
        "0100000076" + "00" + "00" + "3f000000" + "ffffffff" + "616263",
    ],
)
def test_an_invalid_user_variable_is_refused(body: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(E.USER_VAR, body)
    assert (caught.value.position.offset, caught.value.position.event) == (4, "USER_VAR")


def test_a_compressed_query_keeps_the_block_that_it_came_from() -> None:
    packed = deflate_block(b"BEGIN")
    body = "0900000002000000040000" + "0000" + b"shop\0".hex() + packed.hex()
    event = decode_body_of(E.QUERY_COMPRESSED, body, MARIADB_10_11)
    assert (event.query, event.compressed) == (b"BEGIN", packed)
