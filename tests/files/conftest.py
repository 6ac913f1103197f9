"""An S3 server on this machine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from binspark.testing.builder import BinlogBuilder, insert, integer, table
from tests.support.files.s3_store import Bucket

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The endpoint of the server; no other credentials or regions are configured."""
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
def bucket(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """An empty bucket for one test."""
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return Bucket.create(s3_endpoint, f"bucket-{next(_NUMBERS)}")


@pytest.fixture(scope="session")
def log() -> bytes:
    """A small log."""
    builder = BinlogBuilder()
    builder.transaction(insert(table("shop.items", integer("id")), (1,), (2,)))
    builder.stop()
    return builder.content
