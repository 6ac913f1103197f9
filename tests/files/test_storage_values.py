"""Options of storage systems: secrets hidden, arguments of the right types, errors as one line."""

from __future__ import annotations

import pickle
from datetime import timedelta

import pytest

from binspark.files import LogSource, Storage
from binspark.files.storage.filesystems import (
    azure_arguments,
    gcs_arguments,
    hadoop_arguments,
    s3_arguments,
    typed_options,
    viewfs_arguments,
)
from binspark.files.storage.remote import describe_store_error
from binspark.files.storage.uri import hide_credentials, parse_uri

SECRET = "wJalrXUtnFEMI/K7MDENG"


def test_a_storage_is_a_value() -> None:
    storage = Storage.of({"region": "eu-west-1", "secret_key": SECRET})
    assert storage == Storage.of({"secret_key": SECRET, "region": "eu-west-1"})
    assert pickle.loads(pickle.dumps(storage)) == storage
    assert len({storage, Storage.of({"region": "eu-west-1", "secret_key": SECRET})}) == 1


def test_a_storage_shows_names_of_options_only() -> None:
    storage = Storage.of({"region": "eu-west-1", "secret_key": SECRET}).with_uri(f"key:{SECRET}", f"token={SECRET}")
    assert repr(storage) == str(storage) == "Storage(region=***, secret_key=***, user=***, query=***)"


@pytest.mark.parametrize(
    "storage",
    [
        Storage.of({"secret_key": SECRET}),
        Storage.of({"client_secret": SECRET}),
        Storage(user=f"key:{SECRET}"),
        Storage(user="key:" + SECRET.replace("/", "%2F")),
        Storage(query="sas_token=" + SECRET.replace("/", "%2F")),
    ],
)
def test_a_secret_is_hidden_in_any_text(storage: Storage) -> None:
    assert storage.redact(f"cannot log in with '{SECRET}'") == "cannot log in with '***'"


def test_a_short_secret_is_hidden_as_a_word_of_its_own() -> None:
    assert Storage.of({"password": "me"}).redact("some names: me") == "some names: ***"


def test_an_option_that_is_not_secret_stays() -> None:
    storage = Storage.of({"region": "eu-west-1", "blob_storage_authority": "localhost:10000"})
    assert storage.redact("nobody at localhost:10000 in eu-west-1") == "nobody at localhost:10000 in eu-west-1"


@pytest.mark.parametrize(
    ("name", "shown", "user", "query"),
    [
        ("s3://bucket/key", "s3://bucket/key", "", ""),
        ("s3://key:secret@bucket/a", "s3://bucket/a", "key:secret", ""),
        ("s3://key:se/cr@bucket/a@b", "s3://bucket/a@b", "key:se/cr", ""),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c", "", ""),
        ("s3://bucket/logs?region=x&scheme=http", "s3://bucket/logs", "", "region=x&scheme=http"),
        ("s3://bucket/logs?endpoint_override=http://h:1", "s3://bucket/logs", "", "endpoint_override=http://h:1"),
        ("s3://bucket/binlog.00000?", "s3://bucket/binlog.00000?", "", ""),
        ("s3://bucket/binlog.00000??region=x", "s3://bucket/binlog.00000?", "", "region=x"),
        ("sftp://user:pass@host/logs", "sftp://host/logs", "user:pass", ""),
        ("hdfs://host:8020/a@b", "hdfs://host:8020/a@b", "", ""),
        ("abfs://container@account/logs", "abfs://container@account/logs", "", ""),
        ("file:///logs?x=1", "file:///logs?x=1", "", ""),
        ("/logs/a?x=1", "/logs/a?x=1", "", ""),
    ],
)
def test_user_and_query_are_not_part_of_a_name(name: str, shown: str, user: str, query: str) -> None:
    assert hide_credentials(name) == (shown, user, query)
    source = LogSource(name)
    assert (source.name, source.storage.user, source.storage.query) == (shown, user, query)


@pytest.mark.parametrize(
    "name",
    ["binlog.000001", "C:/logs/binlog.000001", "C://logs", r"C:\logs", "a:b", "12:30/binlog.000001", "s3:/x", "-"],
)
def test_a_name_without_a_scheme_is_a_local_path(name: str) -> None:
    assert parse_uri(name) is None


@pytest.mark.parametrize(
    "name", ["s3://bucket", "S3://bucket/x", "abfss://c@a/x", "simplecache::memory://x", "git+ssh://x"]
)
def test_a_name_with_a_scheme_is_a_uri(name: str) -> None:
    assert parse_uri(name) is not None


def test_text_is_converted_to_the_type_of_an_option() -> None:
    assert typed_options({"anonymous": "True", "port": "9000", "connect_timeout": "1.5", "region": "1", "x": 7}) == {
        "anonymous": True,
        "port": 9000,
        "connect_timeout": 1.5,
        "region": "1",
        "x": 7,
    }


@pytest.mark.parametrize(
    ("host", "user", "options", "expected"),
    [
        ("c@acc.dfs.core.windows.net", "", {}, {"account_name": "acc"}),
        ("acc.blob.core.windows.net", ":k%2Fey", {}, {"account_name": "acc", "account_key": "k/ey"}),
        ("container", "acc:key", {}, {"account_name": "acc", "account_key": "key"}),
        ("acc@container", "", {"sas_token": "t"}, {"account_name": "acc", "sas_token": "t"}),
        ("c@acc.dfs.core.windows.net", "", {"account_name": "other"}, {"account_name": "other"}),
    ],
)
def test_the_account_of_azure_is_taken_from_the_host(
    host: str, user: str, options: dict[str, str], expected: dict[str, str]
) -> None:
    assert azure_arguments(host, user, options) == expected


@pytest.mark.parametrize(
    ("host", "options", "expected"),
    [
        ("node", {}, {"host": "node", "port": 0}),
        ("me@node:8020", {"kerb_ticket": "/t"}, {"host": "node", "port": 8020, "user": "me", "kerb_ticket": "/t"}),
        ("", {"user": "me"}, {"host": "default", "port": 0, "user": "me"}),
    ],
)
def test_the_host_of_hadoop_may_include_port_and_user(
    host: str, options: dict[str, str], expected: dict[str, object]
) -> None:
    assert hadoop_arguments(host, "", options) == expected


def test_viewfs_has_the_name_of_a_mount_table() -> None:
    assert viewfs_arguments("me@cluster", "", {}) == {"host": "viewfs://cluster", "port": 0, "user": "me"}


def test_credentials_of_s3_come_from_the_uri_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    expected = {"access_key": "key", "secret_key": "a/b", "endpoint_override": "http://localhost:9"}
    assert s3_arguments("bucket", "key:a%2Fb", {}) == {**expected, "region": "eu-north-1"}
    assert s3_arguments("bucket", "key:x", {"secret_key": "a/b", "region": "r"}) == {**expected, "region": "r"}


def test_no_region_is_requested_from_another_endpoint_of_s3(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    options = {"endpoint_override": "http://localhost:9"}
    assert s3_arguments("bucket", "", options) == {**options, "region": "us-east-1"}


def test_gcs_is_retried_for_one_minute_by_default() -> None:
    assert gcs_arguments("anonymous@bucket", "", {}) == {"anonymous": True, "retry_time_limit": timedelta(seconds=60)}
    assert gcs_arguments("bucket", "", {"retry_limit_seconds": 5.0, "anonymous": True}) == {
        "anonymous": True,
        "retry_time_limit": timedelta(seconds=5),
    }


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError("[Errno 2] Path does not exist 'a/b'. Detail: x"), "no such file"),
        (OSError("Unable to load libjvm: \ndlopen(/usr/lib) failed\ndlopen(/lib) failed"), "Unable to load libjvm: "),
        (OSError(), "OSError"),
        (OSError("x" * 500), "x" * 240 + "…"),
        (
            OSError("When reading 'k': AWS Error SLOW_DOWN during GetObject operation: Please wait. (Request ID: 7a)"),
            "slow down: Please wait.",
        ),
    ],
)
def test_a_store_error_is_described_in_one_short_line(error: OSError, reason: str) -> None:
    assert describe_store_error(error, Storage()) == reason
