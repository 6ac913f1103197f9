"""Dumps of MySQL's logs are byte for byte those of mysqlbinlog 9.7: all recorded logs, with all options."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

import pytest

from binspark.errors import DecodeError
from binspark.event import Event, GtidEvent, GtidTagged
from binspark.files.read import source_events
from binspark.files.sources import LogSource
from tests.corpus.cases import case_logs, corpus_logs, log_id, witness
from tests.support.dump import Mysqlbinlog, find_mysqlbinlog, first_difference, our_dump
from tools.record_corpus.recorder import WITNESS_OPTIONS

LOGS = corpus_logs("mysql", truncated=True)
OPTIONS = (
    (),
    ("-v",),
    ("-vv", "--print-table-metadata"),
    ("--hexdump", "-v"),
    ("--base64-output=never",),
    ("--base64-output=decode-rows", "-v"),
    ("--base64-output=unspec",),
    ("--short-form", "-v"),
    ("--database=shop", "-v"),
    ("--database=nothing",),
    ("--rewrite-db=shop->a longer name", "--rewrite-db=other->o", "-v"),
    ("--skip-gtids", "--database=shop"),
    ("--offset=12", "-v"),
    ("--idempotent", "--disable-log-bin", "--set-charset=utf8mb4", "--force-read"),
    ("--require-row-format", "-vv"),
    ("--verify-binlog-checksum", "--server-id=1"),
    ("--server-id=2", "--skip-force-if-open"),
    ("--short-form", "--skip-gtids", "-D", "-i", "--set-charset=latin1", "--require-row-format"),
    ("--base64-output=never", "--skip-gtids"),
)


@pytest.fixture
def mysqlbinlog(tmp_path: Path) -> Mysqlbinlog:
    return find_mysqlbinlog(tmp_path / "load")


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_the_dump_is_the_text_that_was_recorded_with_the_log(log: Path, tmp_path: Path) -> None:
    ours = our_dump([log], *WITNESS_OPTIONS, "--local-load", str(tmp_path))
    assert first_difference(without_load_files(ours), without_load_files(witness_bytes(log))) == ""


@pytest.mark.mysql
@pytest.mark.parametrize(("log", "options"), list(zip(LOGS, cycle(OPTIONS), strict=False)), ids=str)
def test_the_dump_of_a_log_with_options_is_that_of_mysqlbinlog(
    mysqlbinlog: Mysqlbinlog, log: Path, options: tuple[str, ...]
) -> None:
    mysqlbinlog.compare([log], *options)


@pytest.mark.slow
@pytest.mark.mysql
@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_the_dump_with_every_option_is_that_of_mysqlbinlog(mysqlbinlog: Mysqlbinlog, log: Path) -> None:
    for options in (*OPTIONS, *options_for(log)):
        mysqlbinlog.compare([log], *options)


@pytest.mark.mysql
@pytest.mark.parametrize("case", ["mysql/rotation", "mysql/restart-after-crash", "mysql/gtid-tagged"])
def test_several_logs_are_dumped_as_one(mysqlbinlog: Mysqlbinlog, case: str) -> None:
    logs = case_logs(case)
    mysqlbinlog.compare(logs, "-v")
    mysqlbinlog.compare(logs, "--start-position=198", "--stop-position=360")


@pytest.mark.mysql
@pytest.mark.parametrize("log", [case_logs("mysql/format-row")[0], case_logs("mysql/compressed")[0]], ids=log_id)
def test_positions_times_and_gtids_select_what_mysqlbinlog_selects(mysqlbinlog: Mysqlbinlog, log: Path) -> None:
    for options in options_for(log):
        mysqlbinlog.compare([log], *options)


def options_for(log: Path) -> Iterator[tuple[str, ...]]:
    """Yield options with positions, times and GTIDs of a log."""
    events = [event for event in readable_events(log) if event.inner is None]
    if len(events) < 3:
        return
    third, middle, last = (events[len(events) * part // 6] for part in (2, 3, 5))
    yield (f"--start-position={third.offset}", f"--stop-position={last.offset}", "-v")
    yield (f"--start-position={events[1].offset}", f"--stop-position={middle.offset + 1}")
    at = datetime.fromtimestamp(middle.header.timestamp, UTC).strftime("%Y-%m-%d %H:%M:%S")
    yield (f"--start-datetime={at}",)
    yield (f"--stop-datetime={at}",)
    gtids = [str(e.body.gtid) for e in events if isinstance(e.body, GtidEvent | GtidTagged) and e.body.gtid]
    if gtids:
        yield (f"--include-gtids={','.join(gtids[::2])}", "-v")
        yield (f"--exclude-gtids={gtids[0]}", "--skip-gtids")


def readable_events(log: Path) -> list[Event]:
    events: list[Event] = []
    try:
        events.extend(source_events(LogSource(str(log))))
    except DecodeError:
        return events
    return events


def witness_bytes(log: Path) -> bytes:
    return witness(log).encode("utf-8", "surrogateescape")


def without_load_files(text: bytes) -> bytes:
    """Return a dump without the lines that name local files."""
    return b"\n".join(line for line in text.split(b"\n") if b"LOCAL INFILE" not in line)
