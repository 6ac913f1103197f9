"""Logs in S3 are read in bounded memory, at any offset, and by other processes."""

from __future__ import annotations

import logging
import os
import pickle
import re
import subprocess
import sys

import pytest

from binspark import events
from binspark.errors import SourceError
from binspark.files import LogSource, find_logs
from binspark.testing.builder import BinlogBuilder
from tests.support.files.s3_store import Bucket

MEGABYTE = 1 << 20

READ_IN_BOUNDED_MEMORY = """
import pickle, sys, tracemalloc
import binspark, pyarrow
sources = pickle.load(sys.stdin.buffer)
tracemalloc.start()
print(sum(1 for _ in binspark.events(sources)))
print(tracemalloc.get_traced_memory()[1] + pyarrow.default_memory_pool().max_memory())
"""

READ_ELSEWHERE = """
import pickle, sys
source = pickle.load(sys.stdin.buffer)
with source.open() as file:
    sys.stdout.buffer.write(file.read())
"""


def run_elsewhere(script: str, sent: object) -> bytes:
    """Run a script in a new process, with its input and without the environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment["AWS_EC2_METADATA_DISABLED"] = "true"
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        input=pickle.dumps(sent),
        capture_output=True,
        check=True,
        env=environment,
    )
    assert result.stderr == b""
    return result.stdout


@pytest.fixture
def stored(bucket: Bucket, log: bytes) -> LogSource:
    return find_logs(bucket.put("binlog.000001", log), bucket.storage)[0]


@pytest.fixture(scope="module")
def large_log() -> bytes:
    """A log of 48 megabytes, in events of one megabyte."""
    builder = BinlogBuilder()
    for _ in range(48):
        builder.rows_query("x" * MEGABYTE)
    builder.stop()
    return builder.content


def test_events_are_those_of_the_local_file(bucket: Bucket, log: bytes, stored: LogSource, tmp_path: object) -> None:
    local = LogSource(f"{tmp_path}/binlog.000001")
    with open(local.name, "wb") as file:
        file.write(log)
    assert [event.body for event in events(stored)] == [event.body for event in events(local)]


def test_a_log_is_read_in_order_and_at_any_offset(log: bytes, stored: LogSource) -> None:
    with stored.open() as file:
        assert file.size == len(log)
        assert file.read(10) == log[:10]
        assert file.read_at(100, 20) == log[100:120]
        assert file.read_at(len(log) - 5, 20) == log[-5:]
        assert file.read_at(len(log), 20) == b""
        assert file.read(10) == log[10:20]
        file.seek(50)
        buffer = bytearray(30)
        assert file.readinto(buffer) == 30
        assert bytes(buffer) == log[50:80]


def test_size_and_existence_are_current(bucket: Bucket, log: bytes, stored: LogSource) -> None:
    assert stored.size() == len(log)
    bucket.put("binlog.000001", log + b"more")
    assert stored.size() == len(log) + 4
    bucket.files().delete_file(f"{bucket.name}/binlog.000001")
    assert not stored.exists()
    with pytest.raises(SourceError, match="no such file"):
        stored.size()


def test_a_log_that_is_replaced_has_another_identity(bucket: Bucket, log: bytes, stored: LogSource) -> None:
    before = stored.identity()
    assert stored.identity() == before
    bucket.put("binlog.000001", log[:-1])
    assert stored.identity() != before


def test_a_source_is_reopened_by_another_process(log: bytes, stored: LogSource) -> None:
    assert run_elsewhere(READ_ELSEWHERE, stored) == log


def test_a_source_with_credentials_in_its_uri_is_reopened_by_another_process(bucket: Bucket, log: bytes) -> None:
    uri = bucket.put("binlog.000001", log)
    query = f"?endpoint_override={bucket.endpoint}&region=us-east-1"
    source = LogSource(uri.replace("s3://", "s3://key:secret@") + query)
    assert run_elsewhere(READ_ELSEWHERE, source) == log


def test_a_large_log_is_read_in_bounded_memory(bucket: Bucket, large_log: bytes) -> None:
    found = find_logs(bucket.put("binlog.000001", large_log), bucket.storage)
    count, peak = map(int, run_elsewhere(READ_IN_BOUNDED_MEMORY, found).split())
    assert count == 51
    assert peak < 24 * MEGABYTE


def test_a_large_log_is_read_in_few_requests(
    bucket: Bucket, large_log: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    found = find_logs(bucket.put("binlog.000001", large_log), bucket.storage)
    caplog.clear()
    with caplog.at_level(logging.INFO, "werkzeug"):
        assert sum(1 for _ in events(found)) == 51
    requests = [record.getMessage() for record in caplog.records]
    assert len([request for request in requests if re.search(r"GET /bucket-\d+/binlog\.000001", request)]) <= 16
