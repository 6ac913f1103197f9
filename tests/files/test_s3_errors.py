"""Errors of storage systems name the path, give the reason in one line, and hide secrets."""

from __future__ import annotations

import socket
import threading
import traceback
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from binspark.errors import SourceError
from binspark.files import LogSource, Storage, find_logs, read_frames
from binspark.frames import MAGIC
from tests.support.files.s3_store import ACCESS_KEY, SECRET_KEY, Bucket

ACCOUNT_KEY = "bm8tc2VjcmV0"
SECRETS = (ACCESS_KEY, SECRET_KEY, ACCOUNT_KEY)


class ForbiddingHandler(BaseHTTPRequestHandler):
    """Answers every request with 403 Forbidden."""

    def do_GET(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def denied(bucket: Bucket) -> Iterator[Bucket]:
    """A bucket whose access keys are all wrong."""
    bucket.put("logs/binlog.000001", MAGIC)
    _require_keys(bucket, "0")
    yield bucket
    _require_keys(bucket, "inf")


def _require_keys(bucket: Bucket, after_requests: str) -> None:
    address, headers = f"{bucket.endpoint}/moto-api/reset-auth", {"Content-Type": "text/plain"}
    with urllib.request.urlopen(urllib.request.Request(address, after_requests.encode(), headers)):
        pass


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that no process listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def forbidding_host() -> Iterator[str]:
    """A host and port where every request is forbidden."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ForbiddingHandler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def reason(path: str, storage: Storage | None = None) -> str:
    """Return the reason why finding logs fails, without the path; not even the traceback may show a secret."""
    with pytest.raises(SourceError) as caught:
        find_logs(path, storage)
    traceback_text = "".join(traceback.format_exception(caught.value))
    assert not any(secret in traceback_text for secret in SECRETS)
    path, _, reason = str(caught.value).partition(": ")
    assert path == caught.value.position.file
    return reason


@pytest.mark.parametrize("path", ["binlog.000001", "logs/*"])
def test_the_error_for_a_missing_bucket_names_it(bucket: Bucket, path: str) -> None:
    assert reason(f"s3://no-such-bucket/{path}", bucket.storage).endswith(": there is no s3://no-such-bucket")


@pytest.mark.parametrize("path", ["logs", "logs/", "logs/*", "logs/binlog.000001", "binlog.index"])
def test_denied_access_is_reported(denied: Bucket, path: str) -> None:
    assert reason(denied.uri(path), denied.storage).startswith("access denied")


def test_denied_access_to_a_log_is_reported_when_it_is_opened(denied: Bucket) -> None:
    source = LogSource(denied.uri("logs/binlog.000001"), denied.storage)
    with pytest.raises(SourceError, match=r"logs/binlog\.000001: access denied"):
        next(read_frames(source))


def test_a_missing_log_is_reported_when_it_is_opened(bucket: Bucket) -> None:
    source = LogSource(bucket.uri("binlog.000001"), bucket.storage)
    with pytest.raises(SourceError, match=r"binlog\.000001: no such file"), source.open():
        pass
    with pytest.raises(SourceError, match=r"binlog\.000001: no such file"):
        source.identity()


def test_a_log_that_vanishes_while_it_is_read_is_reported_with_the_offset(bucket: Bucket) -> None:
    source = LogSource(bucket.put("binlog.000001", MAGIC + bytes(100)), bucket.storage)
    with source.open() as file:
        bucket.files().delete_file(f"{bucket.name}/binlog.000001")
        with pytest.raises(SourceError, match=r"binlog\.000001:50: "):
            file.read_at(50, 10)
        with pytest.raises(SourceError, match=r"binlog\.000001:0: "):
            file.read(10)


def test_an_s3_endpoint_that_does_not_answer_is_reported(bucket: Bucket, closed_port: int) -> None:
    storage = Storage.of({**bucket.options, "endpoint_override": f"http://127.0.0.1:{closed_port}"})
    assert reason("s3://bucket/logs", storage).startswith("network connection: Failed to connect to 127.0.0.1")


def test_denied_access_to_gcs_is_reported(forbidding_host: str) -> None:
    query = f"endpoint_override={forbidding_host}&scheme=http"
    assert reason(f"gs://anonymous@bucket/logs?{query}").startswith("permission denied")
    options = {"endpoint_override": forbidding_host, "scheme": "http", "retry_limit_seconds": "1"}
    assert reason("gcs://anonymous@bucket/logs", Storage.of(options)).startswith("permission denied")


@pytest.mark.parametrize("path", ["container@account.dfs.core.windows.net/logs", "account@container/logs"])
def test_denied_access_to_azure_is_reported(forbidding_host: str, path: str) -> None:
    options = {
        "account_key": ACCOUNT_KEY,
        "blob_storage_authority": forbidding_host,
        "dfs_storage_authority": forbidding_host,
        "blob_storage_scheme": "http",
        "dfs_storage_scheme": "http",
    }
    found = reason(f"abfs://{path}", Storage.of(options))
    assert f"{forbidding_host}/account/container" in found
    assert "403 Forbidden" in found


def test_denied_access_through_fsspec_is_reported(forbidding_host: str) -> None:
    assert reason(f"webhdfs://{forbidding_host}/logs/binlog.000001").startswith("403 Client Error: Forbidden")
