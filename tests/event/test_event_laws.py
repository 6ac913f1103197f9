"""What is encoded decodes to the same value; what is decoded encodes to the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.event import encode_body
from binspark.event.registry import CODECS
from binspark.frames import KNOWN_CODES, EventCode, type_name
from binspark.testing.builder import MARIADB_12_3, MYSQL_5_0, MYSQL_5_5, MYSQL_9_7, ServerKind
from tests.corpus.cases import corpus_logs, log_id
from tests.support.event.decoding import decode, encode, read_log
from tests.support.event.event_strategies import EVENTS
from tests.support.examples import examples

kinds = st.sampled_from([MYSQL_5_0, MYSQL_5_5, MYSQL_9_7, MARIADB_12_3])


def test_every_type_code_has_a_strategy_and_a_codec() -> None:
    assert set(EVENTS) == set(EventCode) == set(CODECS)


@pytest.mark.parametrize("type_code", sorted(EVENTS), ids=type_name)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), kind=kinds)
def test_an_encoded_event_decodes_to_the_same_value(type_code: int, kind: ServerKind, data: st.DataObject) -> None:
    body = data.draw(EVENTS[type_code])
    event = decode(type_code, encode(type_code, body, kind), kind)
    assert (event.body, event.extra) == (body, b"")


@settings(max_examples=examples(60), deadline=None)
@given(code=st.sampled_from(sorted(set(range(256)) - KNOWN_CODES)), body=st.binary(max_size=60))
def test_an_event_of_an_unknown_type_keeps_its_code_and_its_bytes(code: int, body: bytes) -> None:
    event = decode(code, body)
    assert (event.type, event.body.code, event.body.body) == (f"UNKNOWN_{code}", code, body)
    assert encode(code, event.body) == body


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_every_recorded_event_encodes_to_the_bytes_that_it_came_from(log: Path) -> None:
    for event in read_log(log.read_bytes()):
        assert encode_body(event.type_code, event.body, event.frame.format, event.extra) == event.frame.body
