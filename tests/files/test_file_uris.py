"""Local files by their URIs."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark import events
from binspark.errors import OptionError, SourceError
from binspark.files import find_logs


@pytest.fixture
def logs(tmp_path: Path, log: bytes) -> Path:
    folder = tmp_path / "all logs #1"
    folder.mkdir()
    for name in ("binlog.000002", "binlog.000010"):
        (folder / name).write_bytes(log)
    (folder / "binlog.index").write_text("./binlog.000010\n/elsewhere/binlog.000002\n")
    return folder


def test_a_uri_refers_to_the_same_logs_as_its_path(logs: Path) -> None:
    uri = logs.as_uri()
    both = [f"{uri}/binlog.000002", f"{uri}/binlog.000010"]
    assert [source.name for source in find_logs(uri)] == both
    assert [source.name for source in find_logs(f"{uri}/")] == both
    assert [source.name for source in find_logs(f"{uri}/binlog.0*")] == both
    assert [source.name for source in find_logs(f"{uri}/binlog.index")] == both[::-1]
    assert [source.name for source in find_logs(both[1])] == both[1:]


def test_a_log_is_read_by_its_uri(logs: Path, log: bytes) -> None:
    source = find_logs(f"{logs.as_uri()}/binlog.000010")[0]
    assert source.size() == len(log)
    assert len(list(events(source))) == len(list(events(logs / "binlog.000010")))


def test_localhost_is_accepted_in_a_uri(logs: Path) -> None:
    assert len(find_logs(logs.as_uri().replace("file://", "file://localhost"))) == 2


def test_a_uri_of_another_host_is_refused() -> None:
    with pytest.raises(OptionError, match="another host"):
        find_logs("file://server/logs")


def test_the_error_for_a_missing_file_names_it(logs: Path) -> None:
    with pytest.raises(SourceError, match=r"binlog\.000003: no such file"):
        find_logs(f"{logs.as_uri()}/binlog.000003")


@pytest.mark.parametrize("name", ["2024-01-01T12:30:00.000001", "C:binlog.000001", "s3:x"])
def test_a_colon_does_not_make_a_uri(tmp_path: Path, log: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(log)
    assert [Path(source.name).name for source in find_logs(tmp_path / name)] == [name]
