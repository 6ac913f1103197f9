"""Archives in stores: a store that speaks S3's language on this machine, and one that fsspec keeps in memory."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from binspark import rows
from binspark.archive.archiver import open_archiver
from binspark.archive.remote import RemoteStore, default_spool
from binspark.archive.retention import Retention
from binspark.errors import OptionError, SourceError
from binspark.files import Storage, find_logs
from binspark.testing.servers import Family, MySQL, Server
from binspark.verify import verify_logs
from tests.support.archive.archiving import (
    archiving,
    files_of_server,
    insert,
    logs_in,
    make_table,
    quick,
    settle,
    wait_until,
)
from tests.support.servers import StartServer, config_of, every_family

pytestmark = pytest.mark.timeout(180)
_NUMBERS = itertools.count(1)
KEYS = {"access_key": "test-access-key", "secret_key": "test/secret+key", "region": "us-east-1"}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of the store. Credentials and region are set: nothing else is contacted for them."""
    from moto.server import ThreadedMotoServer

    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        try:
            yield "http://{}:{}".format(*server.get_host_and_port())
        finally:
            server.stop()


@pytest.fixture
def storage(endpoint: str) -> Storage:
    return Storage.of({"endpoint_override": endpoint, **KEYS})


@pytest.fixture
def target(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A folder of a bucket of its own, and a cache and a state folder of its own."""
    from pyarrow.fs import S3FileSystem

    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("BINSPARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BINSPARK_STATE", str(tmp_path / "state"))
    bucket = f"archive-{next(_NUMBERS)}"
    S3FileSystem(endpoint_override=endpoint, allow_bucket_creation=True, **KEYS).create_dir(bucket)
    return f"s3://{bucket}/logs"


def archive_to(server: Server, target: str, storage: Storage, spool: Path, **changes: Any) -> None:
    settings = quick(until_end=True, **changes)
    open_archiver(config_of(server.port), target, settings, storage=storage, spool=spool).run()


def files_of_store(target: str, storage: Storage) -> dict[str, bytes]:
    """Read the logs of a store, by the names that its index lists."""
    store = RemoteStore(target, storage)
    return {name: store.read(name) or b"" for name in (store.read("binlog.index") or b"").decode().split()}


def rotated(server: Server, logs: int) -> None:
    for _ in range(logs):
        insert(server, 3)
        server.query("FLUSH BINARY LOGS")
    settle(server)


@every_family
def test_a_store_has_the_servers_files(
    family: Family, start_server: StartServer, target: str, storage: Storage, tmp_path: Path
) -> None:
    server = start_server(family, {"binlog-row-metadata": "FULL"})
    make_table(server)
    rotated(server, 2)
    archive_to(server, target, storage, tmp_path)
    assert files_of_store(target, storage) == files_of_server(server)
    assert logs_in(tmp_path) == ["binlog.000003"]
    assert list(RemoteStore(target, storage).logs()) == [log.name for log in server.log_files()]
    logs = find_logs(target, storage)
    assert verify_logs(logs).ok
    assert [change.after["id"] for change in rows(logs) if change.after] == [1, 2, 3, 4, 5, 6]


@pytest.mark.mysql
def test_the_active_log_is_uploaded_regularly(
    start_server: StartServer, target: str, storage: Storage, tmp_path: Path
) -> None:
    server = start_server(MySQL)
    make_table(server)
    where = {"storage": storage, "spool": tmp_path}
    with archiving(server, target, upload_seconds=0.2, **where):
        for _ in range(2):
            insert(server, 5)
            wait_until(lambda: files_of_store(target, storage) == files_of_server(server))
            server.query("FLUSH BINARY LOGS")
            wait_until(lambda: files_of_store(target, storage) == files_of_server(server))


@pytest.mark.mysql
@pytest.mark.parametrize("lost", [False, True], ids=["spool is there", "spool is lost"])
def test_a_copy_is_continued_with_or_without_its_spool(
    lost: bool, start_server: StartServer, target: str, storage: Storage, tmp_path: Path
) -> None:
    server = start_server(MySQL)
    make_table(server)
    for number in range(3):
        spool = tmp_path / (str(number) if lost else "spool")
        archive_to(server, target, storage, spool)
        assert files_of_store(target, storage) == files_of_server(server)
        insert(server, 3)
        server.query("DO 0" if number % 2 else "FLUSH BINARY LOGS")


@pytest.mark.mysql
def test_a_spool_that_was_overtaken_catches_up(
    start_server: StartServer, target: str, storage: Storage, tmp_path: Path
) -> None:
    server = start_server(MySQL)
    make_table(server)
    archive_to(server, target, storage, tmp_path / "first")
    for changes in (1, 2):
        insert(server, 3)
        server.query("DO 0" if changes == 1 else "FLUSH BINARY LOGS")
        archive_to(server, target, storage, tmp_path / "second")
        insert(server, 3)
        archive_to(server, target, storage, tmp_path / "first")
        assert files_of_store(target, storage) == files_of_server(server)


@pytest.mark.mysql
def test_the_oldest_logs_of_a_store_are_dropped(
    start_server: StartServer, target: str, storage: Storage, tmp_path: Path
) -> None:
    server = start_server(MySQL)
    make_table(server)
    rotated(server, 4)
    last_two = dict(list(files_of_server(server).items())[-2:])
    archive_to(server, target, storage, tmp_path, keep=Retention(bytes=sum(map(len, last_two.values()))))
    assert files_of_store(target, storage) == last_two
    assert list(RemoteStore(target, storage).logs()) == list(last_two)


@pytest.mark.mysql
def test_another_archiver_that_is_at_work_is_respected(
    mysql: Server, target: str, storage: Storage, tmp_path: Path
) -> None:
    mysql.query("FLUSH BINARY LOGS")
    store = RemoteStore(target, storage)
    word = {"pid": 7, "host": "elsewhere", "since": "2026-11-15T09:30:00Z", "spool": "/spool", "seconds": 60}
    store.put("archive.lock", json.dumps({**word, "renewed": time.time() - 100}).encode())
    with pytest.raises(OptionError, match="process 7 on elsewhere, since 2026-11-15T09:30:00Z"):
        archive_to(mysql, target, storage, tmp_path, start="latest")
    store.put("archive.lock", json.dumps({**word, "renewed": time.time() - 200}).encode())
    archive_to(mysql, target, storage, tmp_path, start="latest")
    assert store.read("archive.lock") is None


@pytest.mark.mysql
def test_a_store_that_fails_for_a_while_is_tried_again(
    start_server: StartServer, target: str, storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_server(MySQL)
    make_table(server)
    failures = iter([SourceError("the store is away")] * 3)
    put_file = RemoteStore.put_file

    def put_or_fail(store: RemoteStore, name: str, source: Path, size: int) -> None:
        if failure := next(failures, None):
            raise failure
        put_file(store, name, source, size)

    monkeypatch.setattr(RemoteStore, "put_file", put_or_fail)
    with archiving(server, target, upload_seconds=0.2, storage=storage, spool=tmp_path):
        rotated(server, 2)
        wait_until(lambda: files_of_store(target, storage) == files_of_server(server))


@pytest.mark.mysql
def test_a_store_that_is_not_there_is_named(mysql: Server, storage: Storage, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="s3://no-such-bucket/logs") as error:
        archive_to(mysql, "s3://no-such-bucket/logs", storage, tmp_path, start="latest")
    assert "secret" not in str(error.value)


def test_a_spool_is_for_one_store(target: str, storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "archive.target").write_text("s3://another/logs")
    with pytest.raises(OptionError, match="this spool is for s3://another/logs"):
        open_archiver(config_of(1), target, quick(), storage=storage, spool=tmp_path).run()


def test_a_local_folder_needs_no_spool(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="spool is only valid with a remote target"):
        open_archiver(config_of(1), tmp_path, quick(), spool=tmp_path)


def test_a_spool_is_state_unless_an_earlier_version_had_it_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("BINSPARK_CACHE", "BINSPARK_STATE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    spool = default_spool("s3://bucket/logs")
    assert spool.parent == tmp_path / "state" / "binspark" / "archive"
    assert spool != default_spool("s3://bucket/others")
    earlier = tmp_path / "cache" / "binspark" / "archive" / spool.name
    earlier.mkdir(parents=True)
    assert default_spool("s3://bucket/logs") == earlier


@pytest.mark.mysql
def test_a_spool_that_an_earlier_version_left_is_uploaded(
    start_server: StartServer, target: str, storage: Storage, tmp_path: Path
) -> None:
    server = start_server(MySQL)
    make_table(server)
    archive_to(server, target, storage, tmp_path / "spool")
    earlier = tmp_path / "cache" / "archive" / default_spool(target).name
    earlier.parent.mkdir(parents=True)
    (tmp_path / "spool").rename(earlier)
    insert(server, 3)
    open_archiver(config_of(server.port), target, quick(until_end=True), storage=storage).run()
    assert files_of_store(target, storage) == files_of_server(server)
    assert logs_in(earlier) == ["binlog.000001"]
    assert not (tmp_path / "state").exists()


@pytest.mark.mysql
def test_a_uri_may_name_a_folder_of_this_machine(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL)
    open_archiver(config_of(server.port), tmp_path.as_uri(), quick(until_end=True)).run()
    assert (tmp_path / "binlog.000001").read_bytes() == server.log_files()[0].read_bytes()


@pytest.mark.mysql
def test_what_fsspec_writes_to_will_do(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL)
    make_table(server)
    target = f"memory://archive-{next(_NUMBERS)}/logs"
    for _ in range(2):
        rotated(server, 1)
        archive_to(server, target, Storage(), tmp_path)
        assert files_of_store(target, Storage()) == files_of_server(server)
