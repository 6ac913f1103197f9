"""Targets in an object store: a server that speaks S3's language on this machine."""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from deltalake import DeltaTable

from binspark.errors import OptionError, SourceError
from binspark.files import Storage
from binspark.mirror.api import mirror
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import Commit, CommitConflict, Cut, Target
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.support.files.s3_store import ACCESS_KEY, SECRET_KEY, Bucket
from tests.support.mirror.tables import reached
from tests.support.mirror.target_files import ITEMS, SCHEMA, put, state_at, write_file

pytestmark = pytest.mark.timeout(120)
FIRST = {"id": 1, "name": "one"}
SECOND = {"id": 2, "name": "two"}
_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of a server in a process of its own: delta-rs keeps Python from running while it waits for it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(port, server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the server ended before it was reached")


@pytest.fixture
def bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return Bucket.create(endpoint, f"lake-{next(_NUMBERS)}")


@pytest.fixture
def target(kind: Format, bucket: Bucket, tmp_path: Path) -> Iterator[Target]:
    catalog = f"type=sql,uri=sqlite:///{tmp_path}/catalog.db" if kind is Format.ICEBERG else None
    opened = parse_target(bucket.uri("mirror"), kind, catalog, bucket.storage)
    yield opened
    opened.close()


def test_a_table_lives_in_a_store(target: Target) -> None:
    table = target.create(ITEMS, SCHEMA, state_at(4))
    first = put(table, [FIRST], 10)
    put(table, [SECOND], 20, first.files)
    assert target.tables() == [ITEMS]
    again = target.table(ITEMS)
    assert again is not None
    version = again.read()
    assert (version.state, [file.rows for file in version.files]) == (state_at(20), [1])
    with pytest.raises(CommitConflict):
        again.commit(Commit(first, state_at(30), [write_file(table.directory, SCHEMA, [FIRST])]))
    assert again.clean_up(0) == 2
    renamed = target.rename(ITEMS, TableName("shop", "goods"))
    assert (target.tables(), renamed.read().state) == ([TableName("shop", "goods")], state_at(20))
    target.drop(TableName("shop", "goods"))
    assert target.tables() == []


def test_cuts_live_in_a_store(target: Target) -> None:
    cut = Cut(1, "binlog.000001:4", "", 1, ((ITEMS, 3),), "m1")
    target.cuts.append(cut)
    assert (target.cuts.last(), target.cuts.all()) == (cut, [cut])


def test_delta_rs_reads_the_table_with_its_own_options(bucket: Bucket) -> None:
    target = parse_target(bucket.uri("mirror"), storage=bucket.storage)
    put(target.create(ITEMS, SCHEMA, state_at(4)), [FIRST], 10)
    options = {
        "aws_access_key_id": str(bucket.options["access_key"]),
        "aws_secret_access_key": str(bucket.options["secret_key"]),
        "aws_endpoint": bucket.endpoint,
        "aws_region": "us-east-1",
        "aws_allow_http": "true",
    }
    assert DeltaTable(bucket.uri("mirror/shop/items"), storage_options=options).count() == 1


def test_credentials_may_be_in_the_environment(
    bucket: Bucket, kind: Format, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)
    catalog = f"type=sql,uri=sqlite:///{tmp_path}/catalog.db" if kind is Format.ICEBERG else None
    target = parse_target(bucket.uri("mirror"), kind, catalog)
    put(target.create(ITEMS, SCHEMA, state_at(4)), [FIRST], 10)
    assert target.tables() == [ITEMS]
    target.close()


def test_a_bucket_that_is_not_there_is_named(kind: Format, bucket: Bucket, tmp_path: Path) -> None:
    catalog = f"type=sql,uri=sqlite:///{tmp_path}/catalog.db" if kind is Format.ICEBERG else None
    target = parse_target("s3://no-such-bucket/mirror", kind, catalog, bucket.storage)
    with pytest.raises(SourceError, match=r"no-such-bucket|shop\.items") as caught:
        target.create(ITEMS, SCHEMA, state_at(4))
    assert "test/secret" not in str(caught.value)
    target.close()


def test_iceberg_in_a_store_needs_a_catalog(bucket: Bucket) -> None:
    with pytest.raises(OptionError, match="catalog is required with s3://"):
        parse_target(bucket.uri("mirror"), Format.ICEBERG, storage=bucket.storage)


def test_a_store_that_cannot_be_reached_is_an_error() -> None:
    options = {"endpoint_override": "http://127.0.0.1:9", "access_key": "a", "secret_key": "geheim12345", "region": "x"}
    target = parse_target("s3://bucket/mirror", storage=Storage.of({**options, "connect_timeout": 1}))
    with pytest.raises(SourceError, match="s3://bucket/mirror") as caught:
        target.tables()
    assert "geheim12345" not in str(caught.value)


@pytest.mark.mysql
def test_a_server_is_mirrored_into_a_store(
    mysql: Server, database: str, bucket: Bucket, kind: Format, tmp_path: Path
) -> None:
    """The options of the store are in the URI, as on the command line."""
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {database}.items (id INT PRIMARY KEY, name VARCHAR(20))")
    mysql.query(f"INSERT INTO {database}.items VALUES (1, 'one'), (2, 'two')")
    catalog = f"type=sql,uri=sqlite:///{tmp_path}/catalog.db" if kind is Format.ICEBERG else None
    secret, endpoint = quote(SECRET_KEY, safe=""), bucket.endpoint.removeprefix("http://")
    options = f"endpoint_override={endpoint}&scheme=http&region=us-east-1"
    uri = f"s3://{ACCESS_KEY}:{secret}@{bucket.name}/mirror?{options}"
    for number in (3, 4):
        mirror(None, reached(mysql), uri, f"{database}.*", format=kind, catalog=catalog)
        mysql.query(f"INSERT INTO {database}.items VALUES ({number}, 'more')")
    target = parse_target(uri, kind, catalog)
    table = target.table(TableName(database, "items"))
    assert table is not None
    assert sum(file.rows for file in table.read().files) == 3
    cut = target.cuts.last()
    assert cut is not None
    assert cut.versions == ((TableName(database, "items"), table.read().version),)
    target.close()
