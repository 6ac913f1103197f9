"""Any bytes are either parsed or refused with a BinlogError, never with anything else.

`fuzz/decode.py` tests the same rule with many more inputs.
"""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.errors import BinlogError
from binspark.event import decode_body, decode_event
from binspark.frames import ChecksumAlgorithm, Framer, type_name
from binspark.frames.payload import Limits
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_4_1,
    MYSQL_5_5,
    MYSQL_9_7,
    HeaderFields,
    ServerKind,
    event_bytes,
)
from binspark.wire import RecordingCursor
from tests.corpus.cases import corpus_logs
from tests.support.event.decoding import encode
from tests.support.event.event_strategies import EVENTS
from tests.support.examples import examples
from tests.support.frames.reading import read

LIMITS = Limits(payload_bytes=1 << 20, event_bytes=1 << 20)
LOGS = [log for log in corpus_logs() if log.stat().st_size < 5000]
KINDS = [MYSQL_9_7, MARIADB_10_11, MYSQL_5_5, MYSQL_4_1]
bounded = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def content_of(index: int) -> bytes:
    return LOGS[index].read_bytes()


@st.composite
def mutated_log(draw: st.DrawFn) -> bytes:
    """Change, drop, repeat or insert bytes in a recorded log."""
    content = bytearray(content_of(draw(st.integers(0, len(LOGS) - 1))))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        content[start:end] = draw(st.binary(max_size=12) | st.just(bytes(content[start:end]) * 2))
    return bytes(content)


def outcome_of(kind: ServerKind, type_code: int, body: bytes, *, recording: bool) -> object:
    """Return what a body decodes to, or the class of the error."""
    log_format = kind.log_format(ChecksumAlgorithm.NONE)
    event = event_bytes(type_code, body, HeaderFields(0, 1), log_format, 4)
    try:
        (frame,) = Framer(log_format, 4).feed(event)
        if not recording:
            return decode_event(frame, limits=LIMITS).body
        cursor = RecordingCursor(frame.data, frame.body_start, frame.body_end, log_format.encoding)
        return decode_body(cursor, frame, limits=LIMITS)
    except BinlogError as error:
        return type(error)


@settings(max_examples=examples(600), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated_log())
def test_a_mutated_log_is_read_or_refused(content: bytes) -> None:
    read(content, LIMITS)
    read(content, LIMITS, report_checksums=True)


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_after_a_magic_are_read_or_refused(content: bytes) -> None:
    read(b"\xfebin" + content, LIMITS)


@pytest.mark.parametrize("type_code", sorted(EVENTS), ids=type_name)
@bounded
@given(kind=st.sampled_from(KINDS), body=st.binary(max_size=80))
def test_any_body_is_decoded_or_refused_by_both_cursors_alike(type_code: int, kind: ServerKind, body: bytes) -> None:
    plain = outcome_of(kind, type_code, body, recording=False)
    recorded = outcome_of(kind, type_code, body, recording=True)
    assert plain == recorded or repr(plain) == repr(recorded)  # not a number is not equal to itself


@pytest.mark.parametrize("type_code", sorted(EVENTS), ids=type_name)
@bounded
@given(data=st.data())
def test_a_body_with_one_wrong_byte_is_decoded_or_refused(type_code: int, data: st.DataObject) -> None:
    body = bytearray(encode(type_code, data.draw(EVENTS[type_code])) + b"\0")
    body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    plain = outcome_of(MYSQL_9_7, type_code, bytes(body), recording=False)
    recorded = outcome_of(MYSQL_9_7, type_code, bytes(body), recording=True)
    assert plain == recorded or repr(plain) == repr(recorded)
