"""Every byte of every event is explained exactly once."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from binspark.event.registry import CODECS
from binspark.frames import EventCode
from binspark.render.explain.explanation import Explanation, Section
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.render.explain_logs import (
    FIRST,
    FORMAT_8_0_34_IN_USE,
    GTID_8_0_40,
    covered,
    event,
    explain_all,
    explain_one,
    meanings,
    start_v3,
    write_log,
)

PAYLOAD_CASES = (
    "mysql/compressed",
    "mysql/compressed-checksum-none",
    "mysql/compressed-large",
    "mysql/types-compressed",
)
BODY_OF_XID = (42).to_bytes(8, "little")
BODY_OF_QUERY_V3 = bytes(8) + b"\x04" + bytes(2) + b"shop\0BEGIN"
NOT_OF_THEMSELVES = (EventCode.FORMAT_DESCRIPTION, EventCode.START_V3)


def payload_event(inner: bytes, *, compressed: bool = True) -> bytes:
    """Return a TRANSACTION_PAYLOAD."""
    content = zstandard.compress(inner) if compressed else inner
    size, expanded = len(content).to_bytes(2, "little"), len(inner).to_bytes(2, "little")
    head = bytes((2, 1, 0)) if compressed else bytes((2, 3, 0xFC, 255, 0))
    fields = head + b"\x03\x03\xfc" + expanded + b"\x01\x03\xfc" + size + b"\x00"
    return event(EventCode.TRANSACTION_PAYLOAD, fields + content)


def outer(explanations: list[Explanation]) -> list[Explanation]:
    return [explanation for explanation in explanations if explanation.inner is None]


@pytest.mark.parametrize("log", corpus_logs(encrypted=True), ids=log_id)
def test_the_fields_of_a_recorded_log_are_the_log(log: Path) -> None:
    explanations = outer(explain_all(log))
    assert b"".join(covered(explanation) for explanation in explanations) == log.read_bytes()
    assert [explanation.pos for explanation in explanations][1:] == [e.end_pos for e in explanations][:-1]
    assert [explanation.fields[0].offset for explanation in explanations] == [e.pos for e in explanations]
    silent = {
        (explanation.type, field.name)
        for explanation in explanations
        for field in explanation.fields
        if field.data and not field.meaning and field.section is not Section.ROWS
    }
    assert silent == set(), "fields without a meaning"


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_a_recorded_log_is_explained_without_errors(log: Path) -> None:
    explanations = explain_all(log)
    assert [explanation for explanation in explanations if explanation.damaged] == []
    names = {field.name for explanation in explanations for field in explanation.fields}
    assert names & {"unclaimed", "undecoded", "header_rest"} == set()


@pytest.mark.parametrize("log", [log for case in PAYLOAD_CASES for log in case_logs(case)], ids=log_id)
def test_events_inside_a_payload_follow_one_another_from_offset_0(log: Path) -> None:
    explanations = explain_all(log)
    payloads = [e for e in explanations if e.type_code == EventCode.TRANSACTION_PAYLOAD]
    sizes = {e.pos: e.event.body.uncompressed_size for e in payloads if e.event}
    inside = [list(group) for _, group in groupby((e for e in explanations if e.inner is not None), lambda e: e.pos)]
    assert payloads
    assert {events[0].pos: sum(len(covered(event)) for event in events) for events in inside} == sizes
    assert [[event.inner for event in events] for events in inside] == [list(range(len(e))) for e in inside]
    begins = [[event.fields[0].offset for event in events] for events in inside]
    assert begins == [[0, *(event.fields[-1].end for event in events[:-1])] for events in inside]


@pytest.mark.parametrize("compressed", [True, False], ids=["zstd", "none"])
def test_events_inside_a_payload_are_the_payload(tmp_path: Path, compressed: bool) -> None:
    first = event(EventCode.XID, BODY_OF_XID, checksum=False)
    second = event(EventCode.ANNOTATE_ROWS, b"SELECT 1", checksum=False)
    log = write_log(tmp_path, payload_event(first + second, compressed=compressed))
    *_, outside, one, two = explain_all(log)
    assert [(e.type, e.inner) for e in (outside, one, two)] == [
        ("TRANSACTION_PAYLOAD", None),
        ("XID", 0),
        ("ANNOTATE_ROWS", 1),
    ]
    assert covered(one) + covered(two) == first + second
    assert two.fields[0].offset == len(first)


@pytest.mark.parametrize("version", [1, 3])
def test_logs_before_version_4_are_explained(tmp_path: Path, version: int) -> None:
    query = event(EventCode.QUERY, BODY_OF_QUERY_V3, checksum=False, version=version)
    log = write_log(tmp_path, query, first=start_v3(version))
    explanations = explain_all(log)
    assert b"".join(map(covered, explanations)) == log.read_bytes()
    assert [explanation.summary for explanation in explanations[1:]] == [
        f"binlog v{version}, server 4.1.22",
        "[shop] BEGIN",
    ]


def test_bytes_after_the_last_field_are_extra(tmp_path: Path) -> None:
    explanation = explain_one(tmp_path, event(EventCode.XID, BODY_OF_XID + b"new"))
    field = explanation.fields[-2]
    assert (field.name, field.section.value, field.data) == ("extra", "extra", b"new")
    assert not explanation.damaged


def test_a_longer_header_is_shown_as_it_is(tmp_path: Path) -> None:
    description = event(
        EventCode.FORMAT_DESCRIPTION, FORMAT_8_0_34_IN_USE[19:75] + bytes((21,)) + FORMAT_8_0_34_IN_USE[76:-4]
    )
    log = write_log(tmp_path, event(EventCode.XID, b"\xaa\xbb" + BODY_OF_XID), first=description)
    explanation = explain_all(log)[-1]
    field = explanation.fields[6]
    assert (field.name, field.section.value, field.data) == ("header_rest", "header", b"\xaa\xbb")
    assert explanation.summary == "42"


def test_type_codes_of_a_pre_release_are_named_as_in_that_version(tmp_path: Path) -> None:
    lengths = bytes((0, 13, 0, 8, *bytes(18)))
    body = b"\x04\x00" + b"5.1.1-a_drop5".ljust(50, b"\0") + bytes(4) + b"\x13" + lengths
    first = event(EventCode.FORMAT_DESCRIPTION, body, checksum=False)
    log = write_log(tmp_path, event(20, BODY_OF_XID, checksum=False), first=first)
    explanation = explain_all(log)[-1]
    assert explanation.type == "XID"
    assert meanings(explanation)["type_code"] == "XID, in the type codes of this server"


@given(type_code=st.sampled_from([*sorted(set(CODECS) - set(NOT_OF_THEMSELVES)), 199]), body=st.binary(max_size=80))
def test_the_fields_of_any_event_are_the_event(type_code: int, body: bytes) -> None:
    wanted = event(type_code, body)
    with TemporaryDirectory() as folder:
        explanation = explain_one(Path(folder), wanted)
    assert covered(explanation) == wanted
    assert explanation.fields[0].offset == FIRST
    assert (explanation.error is None) == (explanation.event is not None)


@given(cut=st.integers(min_value=0, max_value=FIRST + len(GTID_8_0_40)))
def test_the_fields_of_a_log_cut_anywhere_are_the_log(cut: int) -> None:
    with TemporaryDirectory() as folder:
        log = write_log(Path(folder), GTID_8_0_40)
        log.write_bytes(log.read_bytes()[:cut])
        explanations = explain_all(log)
        assert b"".join(map(covered, explanations)) == log.read_bytes()
