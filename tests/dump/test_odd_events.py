"""Events that current servers do not write: old ones, and ones with values that are not known."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from binspark.dump.mariadb import dumper as mariadb_dumper
from binspark.dump.mysql import frames
from binspark.event import Intvar, UserVar
from binspark.event.column_types import ColumnType
from binspark.event.status_vars import Charsets, StatusCode, StatusVariable
from binspark.frames import EventCode as E
from binspark.testing.builder import BinlogBuilder
from binspark.testing.builder.server_kinds import MARIADB_10_11, MYSQL_5_6, MYSQL_5_7, MYSQL_8_0, MYSQL_9_7, ServerKind
from binspark.testing.builder.tables import Column, insert, integer, table
from binspark.testing.servers.programs import Programs
from tests.support.dump import find_mysqlbinlog
from tests.support.dump.mariadb_tool import assert_same_text, mariadb_tool

__all__ = ["mariadb_tool"]

Writes = Callable[[BinlogBuilder], None]
OPTIONS = ((), ("-v",), ("--short-form",), ("--hexdump",))
MICROSECONDS = 1_500_000_000_000_000


def gtid_body(number: int, *, fields: int) -> bytes:
    """Return a GTID event as each version added fields: 5.6, 5.7, 8.0.1."""
    sid = bytes(range(16)) if number else bytes(16)
    body = b"\x01" + sid + struct.pack("<q", number)
    body += (b"\x02" + struct.pack("<QQ", 3, 4)) * (fields > 0)
    return body + (MICROSECONDS.to_bytes(7, "little") + b"\xc8") * (fields > 1)


def gtids(fields: int) -> Writes:
    def write(log: BinlogBuilder) -> None:
        for code, number in ((E.ANONYMOUS_GTID, 0), (E.GTID, 5)):
            log.raw(code, gtid_body(number, fields=fields))
            log.query("BEGIN")
            log.query("INSERT INTO t VALUES (1)", "d")
            log.xid(7)
        log.stop()

    return write


def client_charset(number: int) -> Writes:
    def write(log: BinlogBuilder) -> None:
        flags, variable = StatusVariable(StatusCode.FLAGS2, 0), UserVar("x", 0, number, b"ab", flags=0)
        for charsets in (Charsets(number, 33, 8), Charsets(33, number, number)):
            status = (flags, StatusVariable(StatusCode.CHARSET, charsets))
            log.event(E.USER_VAR, variable)
            log.query("INSERT INTO t VALUES (@x)", "d", status_vars=status)

    return write


def intvar(kind: int) -> Writes:
    def write(log: BinlogBuilder) -> None:
        log.event(E.INTVAR, Intvar(kind, 7))
        log.query("INSERT INTO t VALUES (1)", "d")

    return write


def incident(kind: int) -> Writes:
    def write(log: BinlogBuilder) -> None:
        log.incident("lost", kind)
        log.query("INSERT INTO t VALUES (1)", "d")

    return write


def xa_prepare(gtrid: int, bqual: int) -> Writes:
    def write(log: BinlogBuilder) -> None:
        log.raw(E.XA_PREPARE, b"\0" + struct.pack("<iII", 1, gtrid, bqual) + b"g" * gtrid + b"b" * bqual)
        log.query("INSERT INTO t VALUES (1)", "d")

    return write


def xa_gtid(gtrid: int, bqual: int) -> Writes:
    def write(log: BinlogBuilder) -> None:
        xid = struct.pack("<iBB", 1, gtrid, bqual) + b"g" * gtrid + b"b" * bqual
        log.raw(E.MARIADB_GTID, struct.pack("<QIB", 5, 0, 64) + xid)
        log.query("INSERT INTO t VALUES (1)", "d")

    return write


def column_without_text(type_code: int) -> Writes:
    """Write rows with a column that no tool can print."""

    def write(log: BinlogBuilder) -> None:
        odd = table("d.t", integer("a"), Column("b", type_code, 0, lambda value: value))
        log.transaction(insert(odd, (1, b"  1.50")), insert(odd, (2, b"  2.50")))

    return write


def unknown_compression(log: BinlogBuilder) -> None:
    log.raw(E.TRANSACTION_PAYLOAD, bytes([2, 1, 5, 1, 1, 4, 3, 1, 4, 0]) + b"abcd")
    log.stop()


COMMON = [
    *(pytest.param(intvar(kind), id=f"intvar-{kind}") for kind in (0, 1, 2, 3, 255)),
    *(pytest.param(incident(kind), id=f"incident-{kind}") for kind in (0, 1, 66, 65535)),
    *(pytest.param(client_charset(number), id=f"charset-{number}") for number in (0, 76, 245, 254, 608, 1270, 9999)),
    *(pytest.param(xa_prepare(*parts), id=f"xa-{parts}") for parts in ((64, 64), (65, 0), (0, 65), (100, 20))),
    pytest.param(column_without_text(ColumnType.DECIMAL), id="old-decimal"),
]


def built(kind: ServerKind, write: Writes, folder: Path) -> Path:
    builder = BinlogBuilder(kind)
    write(builder)
    path = folder / "binlog.000001"
    path.write_bytes(builder.content)
    return path


@pytest.mark.mysql
@pytest.mark.parametrize("by_kernel", [False, True], ids=["reference", "kernel"])
@pytest.mark.parametrize("fields", [0, 1, 2], ids=["5.6", "5.7", "8.0.1"])
@pytest.mark.parametrize("kind", [MYSQL_5_6, MYSQL_5_7, MYSQL_8_0], ids=lambda kind: kind.server_version)
def test_gtids_of_old_versions_are_printed_as_by_mysqlbinlog(
    kind: ServerKind, fields: int, by_kernel: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "MIN_BULK_BYTES", 0 if by_kernel else 1 << 40)
    log = built(kind, gtids(fields), tmp_path)
    for options in OPTIONS:
        find_mysqlbinlog(tmp_path / "load").compare([log], *options)


@pytest.mark.mysql
@pytest.mark.parametrize("write", [*COMMON, pytest.param(unknown_compression, id="compression")])
def test_what_mysqlbinlog_does_not_know_is_printed_as_by_it(write: Writes, tmp_path: Path) -> None:
    log = built(MYSQL_9_7, write, tmp_path)
    for options in OPTIONS:
        find_mysqlbinlog(tmp_path / "load").compare([log], *options)


@pytest.mark.mariadb
@pytest.mark.parametrize("by_kernel", [False, True], ids=["reference", "kernel"])
@pytest.mark.parametrize(
    "write",
    [
        *COMMON,
        pytest.param(xa_prepare(0, 0), id="xa-empty"),
        *(pytest.param(xa_gtid(*parts), id=f"xa-gtid-{parts}") for parts in ((64, 64), (65, 0), (0, 65), (255, 255))),
    ],
)
def test_what_mariadb_binlog_does_not_know_is_printed_as_by_it(
    write: Writes, by_kernel: bool, tmp_path: Path, mariadb_tool: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mariadb_dumper, "MIN_BULK_BYTES", 0 if by_kernel else 1 << 40)
    log = built(MARIADB_10_11, write, tmp_path)
    for options in OPTIONS:
        assert_same_text(mariadb_tool, tmp_path, options, log)
