"""A stream of a served archive: what Spark reads of a server, it reads of its archive."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar
from tests.support.serve.clients import serving
from tests.support.spark.stream_queries import Stream

STOCK = table("shop.stock", integer("id"), varchar("item", 40))


def write(log: BinlogBuilder, archive: Path) -> None:
    """Write the files of a log as an archiver does: a log that is there grows."""
    archive.mkdir(exist_ok=True)
    for file in log.files:
        with (archive / file.name).open("ab") as opened:
            opened.write(file.content[opened.tell() :])


def items(stream: Stream) -> list[str]:
    """Return the second column of all rows."""
    return [list(after.toPython().values())[1] for (after,) in stream.values("_after")]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_stream_follows_a_served_archive_over_restarts(spark: SparkSession, tmp_path: Path) -> None:
    log, archive = BinlogBuilder(), tmp_path / "archive"
    log.ddl("CREATE TABLE stock (id INT, item VARCHAR(40))", schema="shop")
    log.transaction(insert(STOCK, (1, "a"), (2, "b")))
    write(log, archive)
    options = {"host": "127.0.0.1", "user": "repl", "startingOffsets": "earliest", "tables": "shop.stock"}
    with serving(archive) as served:
        stream = Stream(spark, tmp_path / "stream", {**options, "port": str(served.port)})
        stream.run()
        assert items(stream) == ["a", "b"]
        log.transaction(insert(STOCK, (3, "c")))
        log.rotate()
        log.transaction(insert(STOCK, (4, "d")))
        write(log, archive)
        stream.run()
    assert items(stream) == ["a", "b", "c", "d"]
    log.transaction(insert(STOCK, (5, "e")))
    write(log, archive)
    with serving(archive) as served:
        stream.options = {**options, "port": str(served.port)}
        stream.run()
    assert items(stream) == ["a", "b", "c", "d", "e"]
