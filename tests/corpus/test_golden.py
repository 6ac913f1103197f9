"""Every recorded log decodes to its golden JSON lines, and agrees with mysqlbinlog or mariadb-binlog."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from binspark.event import Event, GtidEvent, Query
from binspark.files import ReadOptions, read_events
from binspark.frames import Family
from tests.corpus.cases import corpus_logs, golden_lines, golden_path, log_id, witness

# `#261115  8:55:28 server id 1  end_log_pos 343 CRC32 0xb5c8b68c 	Query	thread_id=9 ...`
_WITNESSED = re.compile(
    r"^#\d{6} +[\d:]+ server id (?P<server_id>\d+) +end_log_pos (?P<next_position>\d+)"
    r"(?: CRC32 0x(?P<checksum>[0-9a-f]{8}))?[ \t]*(?P<kind>[\w-]*)(?P<rest>.*)$",
    re.MULTILINE,
)
_AT = re.compile(r"^# at (\d+)$", re.MULTILINE)
_OUTER_ONLY = ReadOptions(expand_payloads=False)


def witnessed(log: Path, *kinds: str) -> dict[int, re.Match[str]]:
    """Return what mysqlbinlog prints about events, by the end position of each."""
    matches = list(_WITNESSED.finditer(witness(log)))
    return {int(match["next_position"]): match for match in reversed(matches) if not kinds or match["kind"] in kinds}


def witnessed_events(log: Path, body: type, *kinds: str) -> list[tuple[Event, str]]:
    """Return our events of a class, each with the line that mysqlbinlog prints for it."""
    said = witnessed(log, *kinds)
    ours = [event for event in read_events(log, _OUTER_ONLY) if type(event.body) is body]
    return [(event, said[event.end_offset]["rest"]) for event in ours if event.end_offset in said]


def number_after(text: str, name: str) -> int | None:
    match = re.search(rf"\b{name}=(\d+)", text)
    return int(match[1]) if match else None


def checksum_text(event: Event) -> str:
    """Return the checksum as mysqlbinlog prints it, the highest byte first."""
    return event.frame.data[: event.frame.body_end - 1 : -1].hex()


@pytest.mark.parametrize("log", corpus_logs(encrypted=True, truncated=True), ids=log_id)
def test_a_log_decodes_to_its_golden_json_lines(log: Path) -> None:
    assert golden_lines(log) == golden_path(log).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_every_json_line_is_one_object_with_the_agreed_keys_in_order(log: Path) -> None:
    keys = [
        "file",
        "pos",
        "end_pos",
        "type",
        "type_code",
        "timestamp",
        "server_id",
        "size",
        "flags",
        "checksum",
        "body",
    ]
    for line in golden_lines(log):
        assert list(json.loads(line))[:11] == keys


# A relay log repeats positions: each event keeps the one that it had in the source's file.
SOURCE_LOGS = [log for log in corpus_logs() if not log.name.startswith("relay")]


@pytest.mark.parametrize("log", SOURCE_LOGS, ids=log_id)
def test_events_begin_at_the_positions_that_mysqlbinlog_prints(log: Path) -> None:
    said = {int(offset) for offset in _AT.findall(witness(log))}
    ours = {event.offset for event in read_events(log, _OUTER_ONLY)}
    assert said <= ours
    assert len(said) >= 0.9 * len(ours)


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_checksums_agree_with_mysqlbinlog(log: Path) -> None:
    matches = [match for match in _WITNESSED.finditer(witness(log)) if match["checksum"]]
    said = {(int(match["next_position"]), match["checksum"]) for match in matches}
    known = {position for position, _ in said}
    ours = {(event.header.next_position, checksum_text(event)) for event in read_events(log, _OUTER_ONLY)}
    assert {pair for pair in ours if pair[0] in known} <= said


@pytest.mark.parametrize("log", corpus_logs("mysql"), ids=log_id)
def test_logical_clock_commit_times_and_lengths_agree_with_mysqlbinlog(log: Path) -> None:
    for event, line in witnessed_events(log, GtidEvent, "GTID", "Anonymous_GTID"):
        body = event.body
        assert body.last_committed == number_after(line, "last_committed")
        assert body.sequence_number == number_after(line, "sequence_number")
        assert body.immediate_commit_timestamp == number_after(line, "immediate_commit_timestamp")
        assert body.original_commit_timestamp == number_after(line, "original_committed_timestamp")
        assert body.transaction_length == number_after(line, "transaction_length")


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_threads_and_error_codes_of_statements_agree_with_mysqlbinlog(log: Path) -> None:
    for event, line in witnessed_events(log, Query, "Query"):
        body = event.body
        assert body.thread_id == number_after(line, "thread_id")
        assert body.execution_time == number_after(line, "exec_time")
        assert body.error_code == number_after(line, "error_code")


@pytest.mark.parametrize("kind", [GtidEvent, Query])
def test_many_events_are_compared_with_mysqlbinlog(kind: type) -> None:
    pairs = [pair for log in corpus_logs() for pair in witnessed_events(log, kind, "GTID", "Anonymous_GTID", "Query")]
    assert len(pairs) > 500


def test_the_corpus_has_logs_of_both_families() -> None:
    families = {next(read_events(log)).frame.format.family for log in corpus_logs()}
    assert families == {Family.MYSQL, Family.MARIADB}
