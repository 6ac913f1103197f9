"""How a log begins: magic and version, and what is refused by name."""

from __future__ import annotations

import pytest

from binspark.errors import DecodeError, Encrypted, Malformed, Truncated
from binspark.event import StartV3
from binspark.frames import MAGIC
from binspark.frames import EventCode as E
from binspark.frames.magic import log_version
from binspark.testing.builder import MARIADB_10_11, MYSQL_3_23, MYSQL_4_1, BinlogBuilder
from tests.corpus.cases import case_logs
from tests.support.event.decoding import read_log
from tests.support.frames.reading import read


def refusal(content: bytes) -> DecodeError:
    error = read(content).error
    assert error is not None
    return error


def first_event(type_code: int, size: int) -> bytes:
    return bytes(4) + bytes((type_code,)) + bytes(4) + size.to_bytes(4, "little")


def test_an_empty_file_is_truncated() -> None:
    error = refusal(b"")
    assert (type(error), error.message, error.position.offset) == (Truncated, "the file is empty", 0)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_part_of_the_magic_is_truncated(length: int) -> None:
    error = refusal(MAGIC[:length])
    assert (type(error), error.message) == (Truncated, f"only {length} of the 4 bytes of the magic")


def test_the_magic_alone_is_truncated_where_the_first_event_should_be() -> None:
    error = refusal(MAGIC)
    assert (type(error), error.position.offset) == (Truncated, 4)


@pytest.mark.parametrize("start", [b"\xfebix", b"SQLite format 3", b"\x28\xb5\x2f\xfd", b"\0\0\0\0", b"x"])
def test_another_file_is_not_a_binary_log(start: bytes) -> None:
    error = refusal(start)
    assert (type(error), error.position.offset) == (Malformed, 0)
    assert error.message == f"not a binary log: begins with 0x{start[:4].hex()}, expected 0xfe62696e"


def test_an_encrypted_log_of_mysql_is_refused_by_name() -> None:
    error = refusal(case_logs("mysql/encrypted")[0].read_bytes())
    assert type(error) is Encrypted
    assert "the log is encrypted (binlog_encryption=ON)" in error.message


def test_an_encrypted_log_of_mariadb_is_refused_where_the_encryption_begins() -> None:
    content = case_logs("mariadb/encrypted")[0].read_bytes()
    reading = read(content)
    assert [event.type_code for event in reading.events] == [E.FORMAT_DESCRIPTION, E.START_ENCRYPTION]
    assert isinstance(reading.error, Encrypted)
    assert reading.error.message == (
        "the rest of the log is encrypted (MariaDB's encrypt_binlog=ON); give the server's keyring file "
        "(--keyring FILE, in Python and Spark the option keyring)"
    )
    assert reading.error.position.offset == reading.events[-1].end_offset


def test_a_log_that_ends_with_start_encryption_has_no_encrypted_event() -> None:
    log = BinlogBuilder(MARIADB_10_11)
    log.start_encryption(bytes(12))
    assert read_log(log.content)[-1].type_code == E.START_ENCRYPTION


@pytest.mark.parametrize(
    ("type_code", "size", "version"), [(1, 69, 1), (1, 75, 3), (15, 103, 4), (15, 0, 4), (4, 44, 3)]
)
def test_the_version_follows_from_the_first_event(type_code: int, size: int, version: int) -> None:
    assert log_version(first_event(type_code, size)) == version


@pytest.mark.parametrize(
    ("type_code", "size"), [(1, 68), (1, 70), (1, 74), (1, 76), (1, 0), (2, 69), (0, 75), (255, 69)]
)
def test_no_version_begins_otherwise(type_code: int, size: int) -> None:
    error = refusal(MAGIC + first_event(type_code, size))
    assert (type(error), error.position.offset) == (Malformed, 4)
    assert "unknown log version: the first event is a" in error.message


def test_version_1_is_read_with_short_headers() -> None:
    log = BinlogBuilder(MYSQL_3_23)
    log.query("SET @a = 1", "test")
    log.rotate()
    start, query, rotate = read_log(log.files[0].content)
    assert start.body == StartV3(1, "3.23.58-log", 1_750_000_000)
    assert (query.offset, query.header.next_position, query.header.flags) == (73, 0, 0)
    assert (query.body.schema, query.body.query) == ("test", b"SET @a = 1")
    assert (rotate.body.position, rotate.body.next_file, rotate.frame.body) == (4, "binlog.000002", b"binlog.000002")


def test_version_3_is_read_with_queries_that_have_no_status_variables() -> None:
    log = BinlogBuilder(MYSQL_4_1)
    log.query("SET @a = 1", "test")
    start, query = read_log(log.content)
    assert start.body.binlog_version == 3
    assert query.frame.body.hex() == "0800000000000000040000" + b"test\0SET @a = 1".hex()


def test_names_before_version_4_keep_every_byte() -> None:
    log = BinlogBuilder(MYSQL_4_1)
    log.query("SELECT 1", "caf\xe9")
    assert b"caf\xe9\0" in log.content
    assert read_log(log.content)[-1].body.schema == "caf\xe9"


def test_the_start_event_of_an_old_source_leaves_a_version_4_log_as_it_is() -> None:
    log = BinlogBuilder()
    log.start_v3()
    log.xid(5)
    events = read_log(log.content)
    assert [(event.type, event.checksum.value) for event in events[2:]] == [("START_V3", "ok"), ("XID", "ok")]
