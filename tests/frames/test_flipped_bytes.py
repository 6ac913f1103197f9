"""One wrong byte anywhere: a log with checksums refuses it, any other is read or refused, and nothing else happens."""

from __future__ import annotations

import pytest

from binspark.errors import Checksum
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_3_23,
    MYSQL_4_1,
    MYSQL_5_5,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
    integer,
    table,
    varchar,
)
from tests.corpus.cases import case_logs
from tests.support.frames.reading import Reading, read

IN_USE_FLAG = 4 + 17
TABLE = table("shop.t", integer("id"), varchar("note", 40))
MASKS = [0x01, 0x10, 0x80, 0xFF]
flips = pytest.mark.parametrize("mask", MASKS, ids=hex)
CHECKSUMMED = ["mysql/rotation", "mariadb/rotation", "mysql/gtid-tagged", "mysql/incident", "mariadb/incident"]
PLAIN = ["mysql/checksum-none", "mariadb/checksum-none", "mysql/compressed-checksum-none"]


def flipped(content: bytes, at: int, mask: int) -> bytes:
    return content[:at] + bytes((content[at] ^ mask,)) + content[at + 1 :]


def events_before(intact: Reading, at: int) -> list[int]:
    return [event.offset for event in intact.events if event.end_offset <= at]


@flips
@pytest.mark.parametrize("case", CHECKSUMMED)
def test_a_log_with_checksums_refuses_every_wrong_byte(case: str, mask: int) -> None:
    content = case_logs(case)[0].read_bytes()
    intact = read(content)
    for at in range(len(content)):
        reading = read(flipped(content, at, mask))
        only_the_in_use_flag = (at, mask) == (IN_USE_FLAG, 0x01)
        assert (reading.error is None) == only_the_in_use_flag, at
        before = events_before(intact, at)
        assert reading.offsets[: len(before)] == before


@flips
@pytest.mark.parametrize("case", PLAIN)
def test_a_log_without_checksums_is_read_or_refused(case: str, mask: int) -> None:
    content = case_logs(case)[0].read_bytes()
    intact = read(content)
    for at in range(mask % 3, len(content), 3):
        before = events_before(intact, at)
        assert read(flipped(content, at, mask)).offsets[: len(before)] == before


@flips
@pytest.mark.parametrize("case", ["mysql/compressed", "mariadb/compressed", "mysql/user-variables", "mysql/xa"])
def test_wrong_bytes_with_reported_checksums_are_read_or_refused(case: str, mask: int) -> None:
    content = case_logs(case)[0].read_bytes()
    for at in range(mask % 5, len(content), 5):
        read(flipped(content, at, mask), report_checksums=True)


@flips
@pytest.mark.parametrize("kind", [MYSQL_3_23, MYSQL_4_1, MYSQL_5_5], ids=lambda kind: kind.server_version)
def test_logs_of_servers_without_checksums_are_read_or_refused(kind: ServerKind, mask: int) -> None:
    log = BinlogBuilder(kind)
    log.load("shop", "t", "x.txt", ("a", "b"))
    log.create_file(1, b"block", "shop", "t", "x.txt", ("a",))
    log.query("INSERT INTO t VALUES (1)", "shop")
    log.user_var("v", 5)
    intact = read(log.content)
    for at in range(len(log.content)):
        before = events_before(intact, at)
        assert read(flipped(log.content, at, mask)).offsets[: len(before)] == before


@pytest.mark.parametrize("kind", [MYSQL_9_7, MARIADB_10_11], ids=lambda kind: kind.server_version)
def test_a_wrong_checksum_is_an_error_with_its_position_or_a_reported_state(kind: ServerKind) -> None:
    log = BinlogBuilder(kind)
    start = log.offset
    log.transaction(insert(TABLE, (1, "x")))
    content = flipped(log.content, start + 20, 0x40)
    reading = read(content)
    assert isinstance(reading.error, Checksum)
    assert reading.error.position.offset == start
    states = [event.checksum.value for event in read(content, report_checksums=True).events if event.offset >= start]
    assert states == ["bad", *["ok"] * (len(states) - 1)]
