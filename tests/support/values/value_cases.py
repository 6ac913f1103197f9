"""Extreme values of every type, as SQL; what a server logs for them is compared with what it selects."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """A type of column, values as SQL, and the expression that selects what the log should contain."""

    sql_type: str
    literals: tuple[str, ...]
    select: str = "v"


def _temporal(kind: str, digits: int, *moments: str) -> Case:
    return Case(f"{kind}({digits})", tuple(f"'{moment}'" for moment in moments))


_TIMES = (
    "-838:59:59",
    "-00:00:00.5",
    "-00:00:01.000001",
    "-12:34:56.987654",
    "00:00:00",
    "00:00:00.1",
    "00:00:00.999999",
    "838:59:59",
)
_DATETIMES = (
    "0000-00-00 00:00:00",
    "2024-00-15 01:02:03",
    "2024-02-31 23:59:59.5",
    "1000-01-01 00:00:00",
    "2026-02-28 23:59:58.987654",
    "9999-12-31 23:59:59",
)
_TIMESTAMPS = (
    "0000-00-00 00:00:00",
    "1970-01-01 00:00:01",
    "2026-02-28 23:59:58.987654",
    "2038-01-19 03:14:07",
)
_DIGITS = range(7)

INTEGERS = [
    Case("TINYINT", ("-128", "-1", "0", "127")),
    Case("TINYINT UNSIGNED", ("0", "128", "255")),
    Case("SMALLINT", ("-32768", "-1", "0", "32767")),
    Case("SMALLINT UNSIGNED", ("0", "32768", "65535")),
    Case("MEDIUMINT", ("-8388608", "-1", "0", "8388607")),
    Case("MEDIUMINT UNSIGNED", ("0", "8388608", "16777215")),
    Case("INT", ("-2147483648", "-1", "0", "2147483647")),
    Case("INT UNSIGNED", ("0", "2147483648", "4294967295")),
    Case("BIGINT", ("-9223372036854775808", "-1", "0", "9223372036854775807")),
    Case("BIGINT UNSIGNED", ("0", "9223372036854775808", "18446744073709551615")),
    Case("YEAR", ("1901", "2026", "2155")),
    Case("YEAR", ("0",), "CAST(v AS UNSIGNED)"),
]
DECIMALS = [
    Case("DECIMAL(1,0)", ("-9", "0", "9")),
    Case("DECIMAL(5,2)", ("-999.99", "-0.01", "0", "-1.5", "999.99")),
    Case("DECIMAL(2,2)", ("-0.99", "0", "0.01")),
    Case("DECIMAL(18,9)", ("-999999999.999999999", "1", "0.000000001")),
    Case("DECIMAL(30,30)", ("-0.000000000000000000000000000001", "0.999999999999999999999999999999")),
    Case("DECIMAL(65,0)", ("-" + "9" * 65, "0", "1" + "0" * 64)),
    Case("DECIMAL(65,30)", ("-" + "9" * 35 + "." + "9" * 30, "0", "12345678901234567890.5")),
    *(Case(f"DECIMAL({digits},{digits // 2})", ("-7", "0.5", "0", "3.25", "0.1")) for digits in range(3, 40)),
]
FLOATS = [
    Case("FLOAT", ("-3.402823466e38", "1.175494351e-38", "1e-45", "0", "-0.1", "16777217"), "v + 0e0"),
    Case("DOUBLE", ("-1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "0", "0.1"), "v + 0e0"),
]
BITS = [Case(f"BIT({bits})", (f"b'{'1' * bits}'", "b'1'", "b'0'")) for bits in (1, 7, 8, 9, 16, 31, 32, 63, 64)]
TEMPORALS = [
    Case("DATE", ("'0000-00-00'", "'2024-00-15'", "'2024-02-31'", "'1000-01-01'", "'1969-12-31'", "'9999-12-31'")),
    *(_temporal("TIME", digits, *_TIMES) for digits in _DIGITS),
    *(_temporal("DATETIME", digits, *_DATETIMES) for digits in _DIGITS),
    *(_temporal("TIMESTAMP", digits, *_TIMESTAMPS) for digits in _DIGITS),
]
STRINGS = [
    Case("CHAR(1)", ("''", "'a'")),
    Case("CHAR(0)", ("''",)),
    Case("CHAR(10) CHARACTER SET latin1", ("''", "'ä  '", "'  x'")),
    Case("CHAR(255) CHARACTER SET utf8mb4", ("''", "REPEAT('€', 255)", "REPEAT('😀', 255)", "'a '")),
    Case("VARCHAR(0)", ("''",)),
    Case("VARCHAR(255) CHARACTER SET latin1", ("''", "REPEAT('ÿ', 255)", "'a '")),
    Case("VARCHAR(256) CHARACTER SET latin1", ("''", "REPEAT('ÿ', 256)")),
    Case("VARCHAR(16000) CHARACTER SET utf8mb4", ("''", "REPEAT('😀', 16000)")),
    Case("VARCHAR(20) CHARACTER SET utf16", ("''", "'ä😀'")),
    Case("VARCHAR(20) CHARACTER SET sjis", ("'日本語'",)),
    Case("CHAR(20) CHARACTER SET ucs2", ("'日本語 '",)),
    Case("TINYTEXT CHARACTER SET utf8mb4", ("''", "REPEAT('x', 255)")),
    Case("TEXT CHARACTER SET utf8mb4", ("''", "REPEAT('x', 300)")),
    Case("MEDIUMTEXT CHARACTER SET cp1251", ("''", "REPEAT('Ж', 70000)")),
    Case("LONGTEXT CHARACTER SET gbk", ("''", "'中文'")),
    Case("BINARY(5)", ("''", "0x00", "0x0100", "0x2020", "0x0102030405")),
    Case("BINARY(255)", ("''", "REPEAT(0xff, 255)")),
    Case("VARBINARY(5)", ("''", "0x00", "0x0100", "0x20")),
    Case("VARBINARY(300)", ("''", "REPEAT(0x00, 300)")),
    Case("TINYBLOB", ("''", "0xff00")),
    Case("BLOB", ("''", "REPEAT(0xfe, 1000)")),
    Case("MEDIUMBLOB", ("''", "REPEAT(0xfe, 70000)")),
    Case("LONGBLOB", ("''", "0x00")),
]
_MANY = [f"m{number}" for number in range(300)]
_SIXTY_FOUR = [f"s{number}" for number in range(64)]
CHOICES = [
    Case("ENUM('a','b','ä')", ("''", "'a'", "'ä'", "0", "3")),
    Case("ENUM(" + ",".join(f"'{member}'" for member in _MANY) + ")", ("'m0'", "'m255'", "'m299'", "0")),
    Case("SET('a','b','ä')", ("''", "'a,ä'", "7")),
    *(
        Case("SET(" + ",".join(f"'{member}'" for member in _SIXTY_FOUR[:count]) + ")", ("''", "1", f"'s{count - 1}'"))
        for count in (8, 9, 17, 25, 33, 64)
    ),
]
SHAPES = [
    Case("GEOMETRY", ("ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('LINESTRING(0 0, 1.5 -2)', 3857)")),
    Case("POINT", ("POINT(-1e300, 5e-324)",)),
]
COMMON = [*INTEGERS, *DECIMALS, *FLOATS, *BITS, *TEMPORALS, *STRINGS, *CHOICES, *SHAPES]

MYSQL_ONLY = [
    Case("JSON", ("'{}'", '\'[1, 2.5, "x", null, true, {"a": 1.10}]\'', "'\"ä\"'", "CAST(1.10 AS JSON)")),
    Case("VECTOR(3)", ("STRING_TO_VECTOR('[1, -2.5, 1e30]')", "STRING_TO_VECTOR('[0.1]')"), "HEX(v)"),
]
MARIADB_ONLY = [
    Case("INET6", ("'::'", "'2001:db8::'", "'::1'"), "INET6_ATON(v)"),
    Case("INET4", ("'0.0.0.0'", "'10.0.0.0'", "'1.2.3.4'"), "UNHEX(LPAD(HEX(INET_ATON(v)), 8, '0'))"),
    Case(
        "UUID",
        (
            "'00000000-0000-0000-0000-000000000000'",
            "'123e4567-e89b-12d3-a456-426655440000'",
            "'01234567-89ab-7def-8123-456789abcdef'",
        ),
        "UNHEX(REPLACE(v, '-', ''))",
    ),
    Case("JSON", ("'{}'", "'[1, 2.50]'")),
    Case("VARCHAR(255) COMPRESSED", ("''", "'x'", "REPEAT('a', 255)")),
    Case("VARCHAR(254) COMPRESSED CHARACTER SET latin1", ("''", "'short'", "REPEAT('ä', 254)")),
    Case("VARBINARY(1000) COMPRESSED", ("''", "0x00", "REPEAT(0xff, 1000)")),
    Case("TINYTEXT COMPRESSED", ("''", "REPEAT('a', 250)")),
    Case("TEXT COMPRESSED CHARACTER SET utf8mb4", ("''", "'short'", "REPEAT('€', 1000)")),
    Case("LONGBLOB COMPRESSED", ("''", "REPEAT(0x00, 100000)")),
]
OLD_TEMPORALS = [case for case in TEMPORALS if case.sql_type != "DATE"]
"""For MariaDB with mysql56_temporal_format=OFF."""
