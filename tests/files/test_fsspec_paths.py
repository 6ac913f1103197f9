"""Storage systems that only fsspec supports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from binspark import RepeatedLogWarning, events
from binspark.errors import OptionError, SourceError
from binspark.files import LogSource, Storage, find_logs


class CachingFileSystem(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Caches directory listings, as file systems of object stores do, until the cache is invalidated."""

    protocol = "remembering"
    cachable = True
    listings: dict[str, Any] = {}  # noqa: RUF012 (shared, like the contents of a store)

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        stripped = super()._strip_protocol(path.replace("remembering://", "memory://"))
        return str(stripped)

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        found = self.listings.setdefault(path, super().ls(path, detail=True, **options))
        return found if detail else [entry["name"] for entry in found]

    def invalidate_cache(self, path: str | None = None) -> None:
        self.listings.clear()


@pytest.fixture
def memory(log: bytes) -> Iterator[MemoryFileSystem]:
    """A store in memory with two logs, their index, and a note."""
    store = fsspec.filesystem("memory")
    for name in ("binlog.000002", "binlog.000010"):
        store.pipe(f"/db/logs/{name}", log)
    store.pipe("/db/logs/binlog.index", b"./binlog.000010\n/elsewhere/binlog.000002\n")
    store.pipe("/db/logs/notes.txt", b"not a log")
    yield store
    store.rm("/db", recursive=True)


@pytest.mark.parametrize("path", ["", "/", "/*.0000??", "/binlog.*"])
def test_logs_are_found(memory: MemoryFileSystem, path: str) -> None:
    found = [source.name for source in find_logs(f"memory://db/logs{path}")]
    assert found == ["memory://db/logs/binlog.000002", "memory://db/logs/binlog.000010"]


def test_logs_are_found_in_any_folder(memory: MemoryFileSystem) -> None:
    assert [source.name for source in find_logs("memory:///d?/*/binlog.000010")] == ["memory:///db/logs/binlog.000010"]


def test_a_store_without_hosts_is_a_directory(memory: MemoryFileSystem, log: bytes) -> None:
    memory.pipe("/binlog.000001", log)
    found = [source.name for path in ("memory://", "memory:///") for source in find_logs(path)]
    memory.rm("/binlog.000001")
    assert found == ["memory:///binlog.000001"] * 2


def test_a_log_that_is_named_twice_is_read_once(memory: MemoryFileSystem) -> None:
    names = [source.name for source in find_logs("memory://db/logs/")]
    with pytest.warns(RepeatedLogWarning, match="left out: memory://db/logs/binlog.000002, memory://db/logs/"):
        found = find_logs(["memory://db/logs/binlog.*", "memory://db/logs/", "memory://db/logs/binlog.000010"])
    assert [source.name for source in found] == names


def test_an_index_finds_logs_that_moved_with_it(memory: MemoryFileSystem) -> None:
    found = [source.name for source in find_logs("memory://db/logs/binlog.index")]
    assert found == ["memory://db/logs/binlog.000010", "memory://db/logs/binlog.000002"]


def test_a_log_is_read(memory: MemoryFileSystem, log: bytes, tmp_path: Path) -> None:
    (tmp_path / "binlog.000002").write_bytes(log)
    source = find_logs("memory://db/logs/binlog.000002")[0]
    assert [event.body for event in events(source)] == [event.body for event in events(tmp_path)]
    with source.open() as file:
        assert file.read(10) == log[:10]
        assert file.read_at(30, 5) == log[30:35]
        assert file.read(10) == log[10:20]


def test_size_and_identity_are_current(memory: MemoryFileSystem, log: bytes) -> None:
    source = LogSource("memory://db/logs/binlog.000002")
    before = source.identity()
    assert source.identity() == before
    memory.pipe("/db/logs/binlog.000002", log + log)
    assert source.identity() != before
    assert source.size() == 2 * len(log)


def test_chained_file_systems_are_read(memory: MemoryFileSystem, log: bytes) -> None:
    source = find_logs("simplecache::memory://db/logs")[1]
    assert source.name == "simplecache::memory://db/logs/binlog.000010"
    with source.open() as file:
        assert file.read() == log


def test_cached_directory_listings_are_not_used(log: bytes) -> None:
    fsspec.register_implementation("remembering", CachingFileSystem, clobber=True)
    store = fsspec.filesystem("remembering")
    store.pipe("/new/binlog.000001", log)
    assert len(find_logs("remembering://new")) == 1
    store.pipe("/new/binlog.000002", log)
    assert len(find_logs("remembering://new")) == 2
    store.rm("/new", recursive=True)


@pytest.mark.parametrize("path", ["memory://db/logs/gone", "memory://db/gone/*"])
def test_the_error_for_a_path_without_logs_names_it(memory: MemoryFileSystem, path: str) -> None:
    with pytest.raises(SourceError) as caught:
        find_logs(path)
    assert str(caught.value).startswith(f"{path}: no ")


def test_the_error_for_an_unknown_scheme_names_it() -> None:
    with pytest.raises(OptionError, match=r"neither pyarrow nor fsspec has a file system for nowhere://$"):
        find_logs("nowhere://logs")
    with pytest.raises(OptionError, match=r"for ftpx://; did you mean ftp\?"):
        find_logs("ftpx://host/logs")


def test_options_are_passed_to_the_file_system() -> None:
    with pytest.raises(OptionError, match=r"dbfs.*token"):
        find_logs("dbfs://logs", Storage.of({"instance": "example.org"}))


def test_a_scheme_that_needs_fsspec_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(OptionError, match=r"memory2:// requires fsspec: pip install fsspec"):
        find_logs("memory2://logs")


def test_the_error_for_a_missing_package_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paramiko", None)
    with pytest.raises(OptionError, match=r"sftp:// requires .*paramiko"):
        find_logs("sftp://user:password@host/logs")


def test_fsspec_serves_a_store_that_pyarrow_was_built_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("pyarrow.fs.AzureFileSystem")
    monkeypatch.setattr("pyarrow.fs._not_imported", ["AzureFileSystem"])
    monkeypatch.setitem(sys.modules, "adlfs", None)
    with pytest.raises(OptionError, match=r"abfs:// requires .*adlfs"):
        find_logs("abfs://container@account.dfs.core.windows.net/logs")


def test_local_logs_need_neither_pyarrow_nor_fsspec(tmp_path: Path, log: bytes) -> None:
    (tmp_path / "binlog.000001").write_bytes(log)
    script = f"""
import sys
from binspark.cli.main import exit_code
assert exit_code(["events", {str(tmp_path)!r}, {tmp_path.as_uri()!r}]) == 0
assert exit_code(["verify", {str(tmp_path)!r}]) == 0
assert not {{"pyarrow", "fsspec", "concurrent.futures"}} & set(sys.modules), sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
