"""The format description, and what follows from the server version."""

from __future__ import annotations

import pytest

from binspark.errors import DecodeError, Malformed, Truncated
from binspark.frames import ChecksumAlgorithm, EventCode, Family, Framer, LogFormat
from binspark.frames.format import carries_checksum, event_codes_of, family_of, version_numbers
from binspark.testing.builder import (
    ALL_SERVERS,
    MARIADB_10_11,
    MYSQL_5_1_PRE_RELEASE,
    MYSQL_5_5,
    MYSQL_8_0,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
    integer,
    table,
)
from tests.support.event.decoding import read_log
from tests.support.frames.reading import read

E = EventCode
ALL_V4_SERVERS = [kind for kind in ALL_SERVERS if kind.binlog_version == 4]


@pytest.mark.parametrize(
    ("server_version", "expected"),
    [
        ("5.5.2-m2", False),
        ("5.6.0-m4", False),
        ("5.6.1-m5", True),
        ("5.7.44-log", True),
        ("8.0.40", True),
        ("9.7.4-2", True),
        ("10.0.0", True),
        ("", False),
        ("no version", False),
        ("5.1.67-MariaDB", False),
        ("5.2.14-MariaDB", False),
        ("5.3.0-MariaDB", True),
        ("5.5.68-MariaDB", True),
        ("10.11.18-MariaDB-0+deb12u1-log", True),
        ("12.3.1-mariadb", True),
    ],
)
def test_checksums_came_with_mysql_5_6_1_and_mariadb_5_3(server_version: str, expected: bool) -> None:
    assert carries_checksum(server_version) is expected


def test_the_family_follows_from_the_version_text() -> None:
    assert family_of("10.5.15-MariaDB-1:10.5.15+maria~focal-log") is Family.MARIADB
    assert family_of("8.0.40") is Family.MYSQL


@pytest.mark.parametrize(
    ("text", "numbers"), [("9.7.4-2", (9, 7, 4)), ("10.11", (10, 11, 0)), ("8", (8, 0, 0)), ("x", (0, 0, 0))]
)
def test_missing_version_numbers_are_zero(text: str, numbers: tuple[int, int, int]) -> None:
    assert version_numbers(text) == numbers


def test_post_header_lengths_come_from_the_log() -> None:
    log_format = MYSQL_9_7.with_post_header(E.TABLE_MAP, 6).log_format(ChecksumAlgorithm.NONE)
    assert log_format.post_header_length(E.TABLE_MAP) == 6
    assert log_format.post_header_length(E.WRITE_ROWS) == 10


def test_a_type_that_the_log_does_not_list_has_its_usual_length() -> None:
    log_format = MYSQL_5_5.log_format(ChecksumAlgorithm.NONE)
    assert len(log_format.post_header_lengths) == 27
    assert log_format.post_header_length(E.MARIADB_GTID) == 19
    assert log_format.post_header_length(200) == 0


def test_types_that_new_servers_list_with_0_keep_their_length() -> None:
    log_format = MYSQL_9_7.log_format(ChecksumAlgorithm.NONE)
    assert log_format.post_header_lengths[E.WRITE_ROWS_V1 - 1] == 0
    assert log_format.post_header_length(E.WRITE_ROWS_V1) == 8
    assert log_format.post_header_length(E.XID) == 0


def test_a_log_whose_table_maps_have_6_bytes_of_post_header_has_table_ids_of_4_bytes() -> None:
    kind = MYSQL_5_5
    for code in (E.TABLE_MAP, E.WRITE_ROWS_V1):
        kind = kind.with_post_header(code, 6)
    log = BinlogBuilder(kind)
    log.transaction(insert(table("shop.t", integer("id")), (7,)))
    table_map, rows = read_log(log.content)[2:4]
    assert table_map.frame.body.hex().startswith("6a000000" + "0100" + "04" + b"shop\0".hex())
    assert rows.frame.body.hex() == "6a000000" + "0100" + "01" + "01" + "00" + "07000000"
    assert (table_map.body.table_id, rows.body.table_id) == (106, 106)


def test_pre_releases_of_5_1_had_another_numbering() -> None:
    codes = event_codes_of("5.1.2-a_drop5p3", 22)
    assert codes is not None
    assert codes[15:] == (
        E.FORMAT_DESCRIPTION,
        E.TABLE_MAP,
        E.PRE_GA_WRITE_ROWS,
        E.PRE_GA_UPDATE_ROWS,
        E.PRE_GA_DELETE_ROWS,
        E.XID,
        E.BEGIN_LOAD_QUERY,
        E.EXECUTE_LOAD_QUERY,
    )


@pytest.mark.parametrize(
    ("server_version", "listed"),
    [("5.1.2-a_drop5p3", 27), ("5.1.66", 22), ("5.1.6-a_drop5", 22), ("5.2.3-a_drop6", 22)],
)
def test_other_servers_use_the_current_type_codes(server_version: str, listed: int) -> None:
    assert event_codes_of(server_version, listed) is None


def test_the_post_header_of_a_pre_release_is_found_under_its_own_number() -> None:
    log_format = MYSQL_5_1_PRE_RELEASE.log_format(ChecksumAlgorithm.NONE)
    assert log_format.post_header_length(E.TABLE_MAP) == 6
    assert log_format.post_header_length(E.EXECUTE_LOAD_QUERY) == 26
    assert (log_format.current_code(16), log_format.current_code(200)) == (E.TABLE_MAP, 200)


def _with_description(body: bytes) -> DecodeError:
    log = BinlogBuilder()
    start = log.offset
    log.raw(E.FORMAT_DESCRIPTION, body)
    with pytest.raises(DecodeError) as caught:
        list(Framer().feed(log.content))
    assert (caught.value.position.offset, caught.value.position.event) == (start, "FORMAT_DESCRIPTION")
    return caught.value


def _description(version: int = 4, header_length: int = 19, algorithm: int = 1) -> bytes:
    lengths = MYSQL_8_0.post_header_lengths
    return (
        version.to_bytes(2, "little")
        + b"8.0.40".ljust(50, b"\0")
        + bytes(4)
        + bytes((header_length,))
        + lengths
        + bytes((algorithm,))
    )


def test_a_description_of_another_version_is_malformed() -> None:
    assert isinstance(_with_description(_description(version=3)), Malformed)


@pytest.mark.parametrize("header_length", [0, 13, 18])
def test_headers_cannot_be_shorter_than_19_bytes(header_length: int) -> None:
    assert isinstance(_with_description(_description(header_length=header_length)), Malformed)


@pytest.mark.parametrize("algorithm", [2, 127, 254])
def test_an_unknown_checksum_algorithm_is_malformed(algorithm: int) -> None:
    assert "unknown checksum algorithm" in _with_description(_description(algorithm=algorithm)).message


def test_an_undefined_checksum_algorithm_means_none() -> None:
    log = BinlogBuilder()
    log.raw(E.FORMAT_DESCRIPTION, _description(algorithm=255))
    frames = list(Framer().feed(log.content))
    assert frames[-1].format.checksum_length == 0


def test_a_wrong_byte_in_the_version_does_not_hide_the_checksums() -> None:
    log = BinlogBuilder()
    error = read(log.content.replace(b"9.7.4", b"1.7.4")).error
    assert isinstance(error, Malformed)
    assert error.message == ("server version '1.7.4' has no checksums, but the format description lists 47 event types")


@pytest.mark.parametrize("length", [0, 1, 2, 51, 56])
def test_a_short_description_is_truncated(length: int) -> None:
    assert isinstance(_with_description(_description()[:length]), Truncated)


@pytest.mark.parametrize("header_length", [20, 27, 255])
def test_longer_headers_are_stepped_over(header_length: int) -> None:
    log_format = LogFormat(4, "8.0.40", header_length, MYSQL_8_0.post_header_lengths)
    body = bytes(8)
    size = header_length + len(body)
    event = bytes(4) + bytes((E.XID,)) + bytes(4) + size.to_bytes(4, "little") + bytes(6) + bytes(header_length - 19)
    (frame,) = Framer(log_format).feed(event + body)
    assert (frame.body_start, frame.body) == (header_length, body)


def test_a_second_description_changes_the_format_from_itself_on() -> None:
    log = BinlogBuilder(MARIADB_10_11)
    plain = MYSQL_5_5.format_description(ChecksumAlgorithm.NONE, 0)
    log.event(E.FORMAT_DESCRIPTION, plain)
    log.format = MYSQL_5_5.log_format(ChecksumAlgorithm.NONE)
    log.file.format = log.format
    log.xid(1)
    events = read_log(log.content)
    assert [event.checksum.value for event in events] == ["ok", "ok", "ok", "none", "none"]
    assert events[-1].frame.format.server_version == "5.5.62-log"


@pytest.mark.parametrize("kind", ALL_V4_SERVERS, ids=lambda kind: kind.server_version)
def test_a_servers_list_gives_the_description_its_own_length(kind: ServerKind) -> None:
    assert kind.post_header_lengths[E.FORMAT_DESCRIPTION - 1] == (57 + len(kind.post_header_lengths)) % 256
