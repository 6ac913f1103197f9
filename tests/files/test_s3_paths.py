"""Which logs in S3 a path refers to: the same as for local files."""

from __future__ import annotations

import logging

import pytest

from binspark.errors import OptionError, SourceError
from binspark.files import LogSource, Storage, find_logs
from binspark.frames import MAGIC
from tests.support.files.s3_store import SECRET_KEY, Bucket

LOGS = ("binlog.000002", "binlog.000010", "binlog.999999", "binlog.1000000")
INDEX = b"./binlog.000010\n/somewhere/else/binlog.000002\n\n./gone/binlog.999999\n./binlog.000011\n"


@pytest.fixture
def logs(bucket: Bucket) -> Bucket:
    for name in LOGS:
        bucket.put(f"db1/{name}", MAGIC)
    bucket.put("db1/notes.txt", b"not a log")
    bucket.put("db1/deeper/binlog.000003", MAGIC)
    bucket.put("db1/binlog.index", INDEX)
    bucket.put("db2/binlog.000001", MAGIC)
    return bucket


def keys(bucket: Bucket, path: str) -> list[str]:
    """Return the keys of the logs that a path in a bucket refers to."""
    return [source.name.removeprefix(bucket.uri()) for source in find_logs(bucket.uri(path), bucket.storage)]


def test_an_object_is_one_log(logs: Bucket) -> None:
    assert find_logs(logs.uri("db1/binlog.000010"), logs.storage) == [
        LogSource(logs.uri("db1/binlog.000010"), logs.storage)
    ]


@pytest.mark.parametrize("path", ["db1", "db1/"])
def test_a_directory_is_its_logs_in_the_order_of_their_numbers(logs: Bucket, path: str) -> None:
    assert keys(logs, path) == [f"db1/{name}" for name in LOGS]


def test_a_bucket_is_a_directory(bucket: Bucket) -> None:
    bucket.put("binlog.000001", MAGIC)
    assert find_logs(f"s3://{bucket.name}", bucket.storage) == [LogSource(bucket.uri("binlog.000001"), bucket.storage)]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("db1/binlog.*", [f"db1/{name}" for name in LOGS]),
        ("db1/binlog.0000??", ["db1/binlog.000002", "db1/binlog.000010"]),
        ("db1/binlog.[0-8]*", ["db1/binlog.000002", "db1/binlog.000010", "db1/binlog.1000000"]),
        ("*/binlog.00000[12]", ["db1/binlog.000002", "db2/binlog.000001"]),
        ("db?/deeper/*", ["db1/deeper/binlog.000003"]),
        ("d*/deep*/binlog.000003", ["db1/deeper/binlog.000003"]),
    ],
)
def test_a_pattern_may_be_in_any_part_of_a_path(logs: Bucket, pattern: str, found: list[str]) -> None:
    assert keys(logs, pattern) == found


def test_a_pattern_does_not_match_hidden_files(bucket: Bucket) -> None:
    bucket.put("binlog.000001", MAGIC)
    bucket.put(".binlog.000001.part", MAGIC)
    assert keys(bucket, "*") == ["binlog.000001"]


def test_an_index_keeps_its_order_and_finds_logs_that_moved_with_it(logs: Bucket) -> None:
    expected = ["binlog.000010", "binlog.000002", "binlog.999999", "binlog.000011"]
    assert keys(logs, "db1/binlog.index") == [f"db1/{name}" for name in expected]


def test_an_index_may_name_logs_of_a_store(logs: Bucket) -> None:
    logs.put("all.index", f"{logs.uri('db2/binlog.000001')}\n{logs.uri('db1/binlog.000002')}\n".encode())
    assert keys(logs, "all.index") == ["db2/binlog.000001", "db1/binlog.000002"]


def test_s3a_is_s3(logs: Bucket) -> None:
    name = f"s3a://{logs.name}/db2/binlog.000001"
    assert find_logs(name, logs.storage)[0].name == name
    assert find_logs(name, logs.storage)[0].size() == len(MAGIC)


@pytest.mark.parametrize("folder", ["a b", "a%20b", "a#b", "ä+ö", "a:b@c", "what?", "[x]"])
def test_a_key_is_not_percent_decoded(bucket: Bucket, folder: str) -> None:
    bucket.put(f"{folder}/binlog.000001", MAGIC)
    assert keys(bucket, folder) == keys(bucket, f"{folder}/binlog.000001") == [f"{folder}/binlog.000001"]


def test_a_file_too_small_for_a_log_is_not_requested(bucket: Bucket, caplog: pytest.LogCaptureFixture) -> None:
    bucket.put("binlog.000001", MAGIC)
    bucket.put("tiny", MAGIC[:3])
    caplog.clear()
    with caplog.at_level(logging.INFO, "werkzeug"):
        assert keys(bucket, "") == ["binlog.000001"]
    requests = [record.getMessage() for record in caplog.records]
    assert any("binlog.000001" in request for request in requests)
    assert not any("/tiny" in request for request in requests)


def test_many_objects_keep_their_order(bucket: Bucket) -> None:
    names = [f"binlog.{number:06}" for number in range(1, 41)]
    for name in reversed(names):
        bucket.put(name, MAGIC)
    assert keys(bucket, "") == names


def test_options_in_the_uri_are_not_part_of_the_name(logs: Bucket) -> None:
    user = "test-access-key:" + SECRET_KEY
    path = f"s3://{user}@{logs.name}/db2?endpoint_override={logs.endpoint}&region=us-east-1"
    found = find_logs(path)
    assert [source.name for source in found] == [logs.uri("db2/binlog.000001")]
    assert found[0].size() == len(MAGIC)
    assert SECRET_KEY not in repr(found)


def test_an_option_overrides_the_uri(logs: Bucket) -> None:
    path = f"{logs.uri('db2')}?endpoint_override=http://127.0.0.1:9"
    assert len(find_logs(path, logs.storage)) == 1


def test_the_endpoint_is_taken_from_the_environment(logs: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in logs.environment.items():
        monkeypatch.setenv(name, value)
    assert len(find_logs(logs.uri("db1"))) == len(LOGS)
    assert len(find_logs(logs.uri("db1"), Storage.of({"region": "us-east-1"}))) == len(LOGS)


def test_options_may_be_text(logs: Bucket) -> None:
    options = {**logs.options, "anonymous": "false", "connect_timeout": "3.5", "load_frequency": "60"}
    assert len(find_logs(logs.uri("db2"), Storage.of(options))) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regoin": "eu-west-1"}, "s3:// has no option 'regoin'; did you mean 'region'"),
        ({"region": "eu-west-1", "connect_timeout": "soon"}, "connect_timeout must be a number"),
    ],
)
def test_the_error_for_a_wrong_option_names_it(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        find_logs("s3://bucket/logs", Storage.of(options))


def test_the_error_for_a_wrong_option_in_a_uri_names_it() -> None:
    with pytest.raises(OptionError, match="regoin"):
        find_logs("s3://bucket/logs?regoin=eu-west-1")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("gone/binlog.000001", "no such file"),
        ("gone/*", "no file matches"),
        ("db1/deeper/[x]/binlog.*", "no file matches"),
    ],
)
def test_the_error_for_a_path_without_logs_names_it(logs: Bucket, path: str, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        find_logs(logs.uri(path), logs.storage)
    assert str(caught.value) == f"{logs.uri(path)}: {reason}"


def test_the_error_for_a_directory_without_logs_names_it(bucket: Bucket) -> None:
    bucket.put("docs/notes.txt", b"not a log")
    with pytest.raises(SourceError, match="no binary log in this directory"):
        find_logs(bucket.uri("docs"), bucket.storage)
