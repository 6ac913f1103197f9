"""Archives in object stores are served like those on disk: with the same packets and the same identity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from binspark.archive.archiver import open_archiver
from binspark.replication.commands import BinlogDump, DumpFlag
from binspark.server.connection import connect
from binspark.testing.servers import Server
from tests.corpus.cases import CORPUS, case_logs
from tests.support.archive.archiving import quick, settle
from tests.support.files.s3_store import Bucket
from tests.support.serve.clients import config_of as served_config
from tests.support.serve.clients import dumped, serving
from tests.support.servers import config_of

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """A bucket of a store on this machine that speaks S3's language."""
    from moto.server import ThreadedMotoServer

    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        yield Bucket.create("http://{}:{}".format(*server.get_host_and_port()), "served")
    finally:
        server.stop()


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_a_store_that_fsspec_reads_is_served_like_a_directory(family: str) -> None:
    logs = case_logs(f"{family}/rotation")
    store = f"memory://served_{family}"
    for log in logs:
        with fsspec.open(f"{store}/{log.name}", "wb") as file:
            file.write(log.read_bytes())
    command = BinlogDump(4, DumpFlag.NON_BLOCK, 4711, logs[0].name)
    with serving(CORPUS / family / "rotation") as local, serving(store) as remote:
        assert remote.identity == local.identity
        assert dumped(served_config(remote), command) == dumped(served_config(local), command)


@pytest.mark.mysql
def test_an_archive_in_s3_is_served_as_the_server_that_wrote_it(mysql: Server, bucket: Bucket, tmp_path: Path) -> None:
    mysql.query("FLUSH BINARY LOGS")
    first = mysql.log_files()[-1].name
    mysql.run_sql("CREATE DATABASE served_from_s3; CREATE TABLE served_from_s3.t (id INT PRIMARY KEY)")
    target = f"s3://{bucket.name}/logs"

    def archive() -> None:
        settle(mysql)
        settings = quick(until_end=True, start=first)
        open_archiver(config_of(mysql.port), target, settings, storage=bucket.storage, spool=tmp_path).run()

    archive()
    command = BinlogDump(4, DumpFlag.NON_BLOCK, 4711, first)
    with serving(target, storage=bucket.storage) as served:
        with connect(served_config(served)) as client:
            assert client.rows("SELECT @@server_uuid") == mysql.query("SELECT @@server_uuid")
        assert dumped(served_config(served), command) == dumped(config_of(mysql.port), command)
        mysql.run_sql(
            "INSERT INTO served_from_s3.t VALUES (1); FLUSH BINARY LOGS; INSERT INTO served_from_s3.t VALUES (2)"
        )
        archive()
        assert dumped(served_config(served), command) == dumped(config_of(mysql.port), command)
