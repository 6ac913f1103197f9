"""Compressed logs: opened by content wherever a log can be opened, and the same as the log itself."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

import binspark
from binspark.errors import DecodeError, Malformed, Truncated
from binspark.files import find_logs
from binspark.files.sources import LogSource, log_order
from binspark.files.splits import UNKNOWN_SIZE, plan_logs, split_logs
from binspark.position import log_name
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar

ORDERS = table("shop.orders", integer("id"), varchar("note", 2000))


def lz4(data: bytes) -> bytes:
    """Compress as the program lz4 does."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "zst": zstandard.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "lz4": lz4,
}
kinds = pytest.mark.parametrize("kind", COMPRESSORS)


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    """Three logs of a server, some megabytes together."""
    folder = tmp_path / "logs"
    folder.mkdir()
    log = BinlogBuilder()
    for number in range(600):
        log.transaction(insert(ORDERS, *((number * 10 + row, f"{number:04}" * 100) for row in range(10))))
        if number in (200, 400):
            log.rotate()
    log.stop()
    return log.save(folder)


def compressed(logs: list[Path], folder: Path, kind: str, *, suffix: bool = True) -> list[Path]:
    """Write compressed copies of logs into a folder."""
    folder.mkdir(exist_ok=True)
    copies = []
    for log in logs:
        copies.append(folder / (f"{log.name}.{kind}" if suffix else log.name))
        copies[-1].write_bytes(COMPRESSORS[kind](log.read_bytes()))
    return copies


def rows(paths: object) -> list[tuple[str, int, int, object]]:
    return [(log_name(change.file), change.pos, change.row, change.after) for change in binspark.rows(paths)]  # type: ignore[arg-type]


@kinds
def test_a_compressed_log_has_the_rows_and_events_of_the_log(logs: list[Path], tmp_path: Path, kind: str) -> None:
    copies = compressed(logs, tmp_path / "copies", kind)
    assert rows(copies) == rows(logs)
    assert rows(copies[0].parent) == rows(logs)
    plain = [(log_name(event.file), event.offset, event.body) for event in binspark.events(logs)]
    assert [(log_name(event.file), event.offset, event.body) for event in binspark.events(copies)] == plain
    batches = [batch.to_pylist() for batch in binspark.batches(copies, table="shop.orders")]
    assert batches == [batch.to_pylist() for batch in binspark.batches(logs, table="shop.orders")]


@kinds
def test_the_content_decides_not_the_name(logs: list[Path], tmp_path: Path, kind: str) -> None:
    copies = compressed(logs, tmp_path / "copies", kind, suffix=False)
    assert rows(copies) == rows(logs)
    misnamed = tmp_path / "binlog.000001.gz"
    misnamed.write_bytes(logs[0].read_bytes())
    assert rows(misnamed) == rows(logs[0])


def test_names_and_order_are_those_of_the_logs(tmp_path: Path) -> None:
    assert log_name("backup/binlog.000003.gz") == "binlog.000003"
    assert log_name("binlog.000003.ZST") == "binlog.000003"
    names = ["a/binlog.1000000.gz", "a/binlog.999999", "a/binlog.000002.xz"]
    assert sorted(names, key=log_order) == ["a/binlog.000002.xz", "a/binlog.999999", "a/binlog.1000000.gz"]


def test_a_log_and_its_copy_in_one_folder_are_read_once(logs: list[Path]) -> None:
    expected = rows(logs)
    folder = logs[0].parent
    compressed(logs[:1], folder, "gz")
    (folder / "dump.sql.gz").write_bytes(gzip.compress(b"CREATE TABLE t (id INT)" * 10))
    with pytest.warns(binspark.RepeatedLogWarning, match=r"left out: \S*binlog\.000001\.gz \(a copy of "):
        assert rows(folder) == expected


def test_an_index_finds_logs_that_were_compressed_since(logs: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    compressed(logs[:2], folder, "zst")
    (folder / logs[2].name).write_bytes(logs[2].read_bytes())
    (folder / "binlog.index").write_text("".join(f"/var/lib/mysql/{log.name}\n" for log in logs))
    assert rows(folder / "binlog.index") == rows(logs)


@kinds
def test_a_compressed_log_that_is_cut_off_is_reported(logs: list[Path], tmp_path: Path, kind: str) -> None:
    [copy] = compressed(logs[:1], tmp_path / "copies", kind)
    copy.write_bytes(copy.read_bytes()[:-30])
    with pytest.raises(DecodeError) as caught:
        list(binspark.events(copy))
    assert isinstance(caught.value, Truncated | Malformed)
    assert caught.value.position.file == str(copy)


def test_bytes_that_are_wrong_are_reported(logs: list[Path], tmp_path: Path) -> None:
    [copy] = compressed(logs[:1], tmp_path / "copies", "gz")
    data = bytearray(copy.read_bytes())
    data[len(data) // 2] ^= 0xFF
    copy.write_bytes(data)
    with pytest.raises(DecodeError, match=r"gzip|checksum"):
        list(binspark.events(copy))


@kinds
def test_any_part_can_be_read(logs: list[Path], tmp_path: Path, kind: str) -> None:
    [copy] = compressed(logs[:1], tmp_path / "copies", kind)
    content = logs[0].read_bytes()
    with LogSource(str(copy)).open() as file:
        assert file.is_compressed
        for offset in (0, 500_000, 4, 499_990, len(content) - 10, 100):
            assert file.read_at(offset, 50) == content[offset : offset + 50]
        assert file.size == len(content)
        file.seek(100_000)
        assert file.read(7) == content[100_000:100_007]
        file.seek(5)
        assert file.read(7) == content[5:12]


def test_a_compressed_log_is_one_split(logs: list[Path], tmp_path: Path) -> None:
    copies = compressed(logs, tmp_path / "copies", "gz")
    planned = plan_logs(find_logs(copies))
    assert [log.size for log in planned] == [UNKNOWN_SIZE] * 3
    assert [str(split) for split in split_logs(planned, 10_000)] == [str(copy) for copy in copies]


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_standard_input_may_be_compressed(logs: list[Path], kind: str) -> None:
    command = [sys.executable, "-m", "binspark", "rows", "--format", "jsonl", "-"]
    data = COMPRESSORS[kind](logs[0].read_bytes())
    done = subprocess.run(command, input=data, capture_output=True, check=True, env=os.environ)
    assert done.stdout.count(b"\n") == len(rows(logs[0]))
