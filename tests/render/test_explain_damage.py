"""Damage is shown at its position, and the events before it are explained."""

from __future__ import annotations

from pathlib import Path

from binspark.frames import ChecksumState, EventCode
from binspark.render.explain.log import Selection
from tests.corpus.cases import case_logs
from tests.support.render.explain_logs import (
    FIRST,
    GTID_8_0_40,
    ROTATE_8_0_40,
    covered,
    event,
    explain_all,
    explain_one,
    meanings,
    write_log,
)

BAD_GTID = GTID_8_0_40[:19] + b"\x00" + GTID_8_0_40[20:]


def test_an_event_with_a_wrong_checksum_is_explained(tmp_path: Path) -> None:
    explanation = explain_one(tmp_path, BAD_GTID)
    assert explanation.checksum is ChecksumState.BAD
    assert explanation.damaged
    assert meanings(explanation)["gno"].endswith(":12")
    assert meanings(explanation)["checksum"].startswith("bad: stored 0x6127d668, computed 0x")


def test_events_after_a_wrong_checksum_are_explained(tmp_path: Path) -> None:
    explanations = explain_all(write_log(tmp_path, BAD_GTID, ROTATE_8_0_40))
    assert [(e.type, e.checksum.value) for e in explanations[2:]] == [("GTID", "bad"), ("ROTATE", "ok")]


def test_a_malformed_body_is_explained_up_to_its_fault(tmp_path: Path) -> None:
    explanation = explain_one(tmp_path, event(EventCode.XID, b"\x01\x02\x03"))
    *_, undecoded, checksum = explanation.fields
    assert explanation.error == "xid needs 8 bytes, only 3 remain (byte 19 of the event)"
    assert (undecoded.name, undecoded.data, undecoded.meaning) == ("undecoded", b"\x01\x02\x03", explanation.error)
    assert checksum.name == "checksum"


def test_a_log_that_ends_inside_an_event_ends_with_the_bytes_it_has(tmp_path: Path) -> None:
    *_, last = explain_all(write_log(tmp_path, GTID_8_0_40[:30]))
    assert (last.type, last.pos, last.end_pos) == ("GTID", FIRST, FIRST + 30)
    assert last.error == "the log ends 30 bytes into a 79-byte event"
    assert covered(last) == GTID_8_0_40[:30]


def test_an_event_smaller_than_its_header_ends_the_log(tmp_path: Path) -> None:
    broken = GTID_8_0_40[:9] + b"\x05\0\0\0" + GTID_8_0_40[13:]
    *_, last = explain_all(write_log(tmp_path, broken, ROTATE_8_0_40))
    assert last.error == "event size is 5, expected at least the 19 bytes of the header"
    assert covered(last) == broken + ROTATE_8_0_40


def test_damage_before_a_position_is_shown_when_the_position_cannot_be_reached(tmp_path: Path) -> None:
    broken = GTID_8_0_40[:9] + b"\x05\0\0\0" + GTID_8_0_40[13:]
    (shown,) = explain_all(write_log(tmp_path, broken), Selection(at=10_000))
    assert shown.pos == FIRST
    assert shown.damaged


def test_a_payload_that_cannot_be_decompressed_is_followed_by_the_error(tmp_path: Path) -> None:
    body = bytes((2, 1, 0, 3, 1, 9, 1, 1, 4, 0)) + b"zstd"
    *_, payload, inside = explain_all(write_log(tmp_path, event(EventCode.TRANSACTION_PAYLOAD, body)))
    assert not payload.damaged
    assert inside.fields == ()
    assert "is not valid zstd" in str(inside.error)


def test_a_payload_inside_a_payload_is_an_error(tmp_path: Path) -> None:
    deep = event(EventCode.TRANSACTION_PAYLOAD, bytes((2, 3, 0xFC, 255, 0, 1, 1, 0, 0)), checksum=False)
    body = bytes((2, 3, 0xFC, 255, 0, 1, 1, len(deep), 0)) + deep
    *_, inside = explain_all(write_log(tmp_path, event(EventCode.TRANSACTION_PAYLOAD, body)))
    assert (inside.inner, inside.error) == (0, "a transaction payload inside a transaction payload")
    assert covered(inside) == deep


def test_a_file_that_is_not_a_log_is_shown_as_bytes(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_bytes(b"root:x:0:0")
    (shown,) = explain_all(text)
    assert (shown.type, shown.type_code, covered(shown)) == ("DAMAGED", None, b"root:x:0:0")
    assert "not a binary log" in str(shown.error)


def test_the_encrypted_rest_of_a_log_is_not_taken_for_a_header(tmp_path: Path) -> None:
    start = event(EventCode.START_ENCRYPTION, b"\x01" + bytes(4) + bytes(12))
    *_, last = explain_all(write_log(tmp_path, start, bytes(range(64))))
    assert [field.name for field in last.fields] == ["undecoded"]
    assert "encrypted" in str(last.error)


def test_an_invalid_tag_is_an_error_of_an_explained_event(tmp_path: Path) -> None:
    first, *_ = case_logs("mysql/gtid-tagged")
    tagged = next(explanation for explanation in explain_all(first) if explanation.type == "GTID_TAGGED")
    tag = next(field for field in tagged.fields if field.name == "tag")
    log = tmp_path / "binlog.000001"
    log.write_bytes(first.read_bytes()[: tag.offset] + b"\0" + first.read_bytes()[tag.offset + 1 :])
    (explanation,) = explain_all(log, Selection(at=tagged.pos))
    assert "expected a UUID and a tag in normal form, got" in str(explanation.error)
    names = [field.name for field in explanation.fields]
    assert names == [field.name for field in tagged.fields if field.data]
