"""Worked bytes of published events, field by field: offsets, bytes, values, meanings."""

from __future__ import annotations

from pathlib import Path

from binspark.frames import ChecksumState, EventCode
from binspark.render.explain.explanation import Section
from binspark.render.explain.log import Selection
from tests.support.render.explain_logs import (
    FORMAT_8_0_34_IN_USE,
    GTID_8_0_40,
    PREVIOUS_GTIDS_TAGGED,
    PREVIOUS_GTIDS_UNTAGGED,
    ROTATE_8_0_40,
    event,
    explain_all,
    explain_one,
    meanings,
    rows_of,
    write_log,
)

SID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
TAGGED_SID = "55778904-0299-11f1-b1b8-4ef0c4956feb"


def test_gtid_event_of_8_0_40(tmp_path: Path) -> None:
    assert rows_of(explain_one(tmp_path, GTID_8_0_40)) == [
        (0, "2d103568", "timestamp", 1748308013),
        (4, "21", "type_code", 33),
        (5, "01000000", "server_id", 1),
        (9, "4f000000", "event_size", 79),
        (13, "14010000", "next_position", 276),
        (17, "0000", "flags", 0),
        (19, "01", "gtid_flags", 1),
        (20, "b8ae2fd2300511f08be80242ac150002", "sid", SID),
        (36, "0c00000000000000", "gno", 12),
        (44, "02", "logical_clock_typecode", 2),
        (45, "0000000000000000", "last_committed", 0),
        (53, "0100000000000000", "sequence_number", 1),
        (61, "c6551bae133606", "immediate_commit_timestamp", 1748308013569478),
        (68, "fc0501", "transaction_length", 261),
        (71, "a8380100", "immediate_server_version", 80040),
        (75, "68d62761", "checksum", 0x6127D668),
    ]


def test_gtid_event_says_what_its_numbers_mean(tmp_path: Path) -> None:
    said = meanings(explain_one(tmp_path, GTID_8_0_40))
    assert said["timestamp"] == "2025-05-27 01:06:53 UTC"
    assert said["type_code"] == "GTID"
    assert said["flags"] == "no flags"
    assert said["gtid_flags"] == "0x1 = MAY_HAVE_SBR"
    assert said["gno"] == f"{SID}:12"
    assert said["immediate_commit_timestamp"] == "2025-05-27 01:06:53.569478 UTC"
    assert said["transaction_length"].startswith("0xfc: the next 2 bytes are 0x0105 = 261; ")
    assert said["immediate_server_version"] == "8.0.40"
    assert said["checksum"] == "ok: stored 0x6127d668, computed 0x6127d668"


def test_gtid_event_has_a_post_header_of_42_and_a_body_of_14_bytes(tmp_path: Path) -> None:
    sections = explain_one(tmp_path, GTID_8_0_40).sections()
    assert [(section, sum(len(field.data) for field in fields)) for section, fields in sections] == [
        (Section.HEADER, 19),
        (Section.POST_HEADER, 42),
        (Section.BODY, 14),
        (Section.CHECKSUM, 4),
    ]


def test_rotate_event_of_8_0_40(tmp_path: Path) -> None:
    explanation = explain_one(tmp_path, ROTATE_8_0_40)
    assert rows_of(explanation)[6:] == [
        (19, "0400000000000000", "position", 4),
        (27, "62696e6c6f672e303030303235", "next_file", "binlog.000025"),
        (40, "de7e7110", "checksum", 0x10717EDE),
    ]
    assert explanation.summary == "binlog.000025:4"
    assert explanation.checksum is ChecksumState.OK


def test_previous_gtids_in_the_untagged_format(tmp_path: Path) -> None:
    explanation = explain_one(tmp_path, event(EventCode.PREVIOUS_GTIDS, PREVIOUS_GTIDS_UNTAGGED, flags=0x80))
    assert rows_of(explanation)[6:-1] == [
        (19, "0100000000000000", "source_count", 1),
        (27, "b8ae2fd2300511f08be80242ac150002", "source[0].uuid", SID),
        (43, "0100000000000000", "source[0].interval_count", 1),
        (51, "0100000000000000", "source[0].interval[0].first", 1),
        (59, "0c00000000000000", "source[0].interval[0].end", 12),
    ]
    assert meanings(explanation)["flags"] == "0x80 = IGNORABLE"
    assert meanings(explanation)["source[0].interval[0].end"] == "exclusive: the last is 11"
    assert explanation.summary == f"{SID}:1-11"


def test_previous_gtids_in_the_tagged_format(tmp_path: Path) -> None:
    explanation = explain_one(tmp_path, event(EventCode.PREVIOUS_GTIDS, PREVIOUS_GTIDS_TAGGED))
    assert rows_of(explanation)[6:-1] == [
        (19, "01", "format", 1),
        (20, "020000000000", "source_count", 2),
        (26, "01", "format_again", 1),
        (27, "55778904029911f1b1b84ef0c4956feb", "source[0].uuid", TAGGED_SID),
        (43, "00", "source[0].tag_length", 0),
        (44, "0100000000000000", "source[0].interval_count", 1),
        (52, "0100000000000000", "source[0].interval[0].first", 1),
        (60, "0e00000000000000", "source[0].interval[0].end", 14),
        (68, "55778904029911f1b1b84ef0c4956feb", "source[1].uuid", TAGGED_SID),
        (84, "0a", "source[1].tag_length", 5),
        (85, "6d79746167", "source[1].tag", "mytag"),
        (90, "0100000000000000", "source[1].interval_count", 1),
        (98, "0100000000000000", "source[1].interval[0].first", 1),
        (106, "0300000000000000", "source[1].interval[0].end", 3),
    ]
    assert meanings(explanation)["source[1].tag_length"] == "0x0a >> 1 = 5"
    assert explanation.summary == f"{TAGGED_SID}:1-13:mytag:1-2"


def test_a_format_description_in_use_is_checked_with_that_flag_clear(tmp_path: Path) -> None:
    (explanation,) = explain_all(write_log(tmp_path), Selection(at=4))
    said = meanings(explanation)
    assert explanation.checksum is ChecksumState.OK
    assert said["flags"] == "0x1 = BINLOG_IN_USE"
    assert said["checksum"] == "ok: stored 0xcde035a1, computed 0xcde035a1, with BINLOG_IN_USE clear"


def test_format_description_of_8_0_34(tmp_path: Path) -> None:
    (explanation,) = explain_all(write_log(tmp_path), Selection(at=4))
    assert rows_of(explanation)[6:] == [
        (19, "0400", "binlog_version", 4),
        (21, b"8.0.34".ljust(50, b"\0").hex(), "server_version", "8.0.34"),
        (71, "00000000", "create_timestamp", 0),
        (75, "13", "header_length", 19),
        (76, FORMAT_8_0_34_IN_USE[76:117].hex(), "post_header_lengths", FORMAT_8_0_34_IN_USE[76:117]),
        (117, "01", "checksum_alg", 1),
        (118, "a135e0cd", "checksum", 0xCDE035A1),
    ]
    assert "QUERY 13, ROTATE 8" in meanings(explanation)["post_header_lengths"]
    assert meanings(explanation)["checksum_alg"] == "CRC32"


def test_the_magic_comes_first(tmp_path: Path) -> None:
    magic, description = explain_all(write_log(tmp_path))
    assert (magic.type, magic.pos, magic.end_pos) == ("MAGIC", 0, 4)
    assert rows_of(magic) == [(0, "fe62696e", "magic", b"\xfebin")]
    assert description.pos == 4
