"""Where mysqlbinlog prints a damaged event and continues, so does a dump, with the same text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from binspark.dump.mysql import frames
from binspark.event import Event, encode_body
from binspark.files.read import read_events
from tests.corpus.cases import case_logs
from tests.support.dump import Mysqlbinlog, find_mysqlbinlog

LOG = case_logs("mysql/format-row")[0]
Damage = Callable[[bytes, Event], bytes]


def with_wrong_gtid_count(log: bytes, event: Event) -> bytes:
    at = event.offset + 19 + 7
    return log[:at] + b"\x64" + log[at + 1 :]


def with_wrong_metadata_length(log: bytes, event: Event) -> bytes:
    before = encode_body(event.type_code, replace(event.body, metadata=()), event.frame.format)
    at = event.offset + 19 + len(before) + 1
    return log[:at] + b"\xf0" + log[at + 1 :]


def with_unknown_column_type(log: bytes, event: Event) -> bytes:
    at = event.offset + 19 + 8 + len(event.body.schema) + len(event.body.table) + 4 + 1
    assert log[at] == event.body.column_types[0]
    return log[:at] + b"\xe1" + log[at + 1 :]


def with_short_rows(log: bytes, event: Event) -> bytes:
    """End the log with an event that lacks the last bytes of its last value."""
    size = event.end_offset - event.offset - 3
    data = event.frame.data[:9] + size.to_bytes(4, "little") + event.frame.data[13:-7] + event.frame.data[-4:]
    return log[: event.offset] + data


@pytest.mark.mysql
@pytest.mark.parametrize("by_kernel", [False, True], ids=["reference", "kernel"])
@pytest.mark.parametrize(
    ("event_type", "damage"),
    [
        ("PREVIOUS_GTIDS", with_wrong_gtid_count),
        ("TABLE_MAP", with_wrong_metadata_length),
        ("TABLE_MAP", with_unknown_column_type),
        ("WRITE_ROWS", with_short_rows),
        ("UPDATE_ROWS", with_short_rows),
    ],
)
def test_what_is_damaged_is_printed_as_mysqlbinlog_prints_it(
    event_type: str, damage: Damage, by_kernel: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = next(event for event in read_events(LOG) if event.type == event_type)
    log = tmp_path / LOG.name
    log.write_bytes(damage(LOG.read_bytes(), event))
    monkeypatch.setattr(frames, "MIN_BULK_BYTES", 0 if by_kernel else 1 << 40)
    mysqlbinlog: Mysqlbinlog = find_mysqlbinlog(tmp_path / "load")
    for options in ((), ("-v",), ("-vv", "--base64-output=decode-rows")):
        mysqlbinlog.compare([log], *options)
