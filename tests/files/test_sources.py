"""Which logs a path refers to."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.errors import OptionError, SourceError
from binspark.files import find_logs
from binspark.frames import MAGIC


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("binlog.000002", "binlog.000010", "binlog.999999", "binlog.1000000"):
        (tmp_path / name).write_bytes(MAGIC)
    (tmp_path / "notes.txt").write_text("not a log")
    (tmp_path / "binlog.index").write_text("./binlog.000010\n/somewhere/else/binlog.000002\n./binlog.000011\n")
    return tmp_path


def names(path: str | Path | list[str]) -> list[str]:
    return [Path(source.name).name for source in find_logs(path)]


def test_a_file_is_one_log(logs: Path) -> None:
    assert names(logs / "binlog.000010") == ["binlog.000010"]


def test_a_directory_is_its_logs_in_the_order_of_their_numbers(logs: Path) -> None:
    assert names(logs) == ["binlog.000002", "binlog.000010", "binlog.999999", "binlog.1000000"]


def test_a_glob_is_sorted_by_number_and_skips_the_index(logs: Path) -> None:
    assert names(f"{logs}/binlog.*") == ["binlog.000002", "binlog.000010", "binlog.999999", "binlog.1000000"]


def test_an_index_keeps_its_order_and_finds_logs_that_moved_with_it(logs: Path) -> None:
    found = find_logs(logs / "binlog.index")
    assert [Path(source.name) for source in found[:2]] == [logs / "binlog.000010", logs / "binlog.000002"]


def test_an_index_may_list_missing_logs(logs: Path) -> None:
    assert names(logs / "binlog.index")[2] == "binlog.000011"


def test_several_paths_keep_their_order(logs: Path) -> None:
    assert names([f"{logs}/binlog.000010", f"{logs}/binlog.000002"]) == ["binlog.000010", "binlog.000002"]


@pytest.mark.parametrize("path", ["gone.000001", "gone.*"])
def test_the_error_for_a_path_without_logs_names_it(logs: Path, path: str) -> None:
    with pytest.raises(SourceError, match="gone"):
        find_logs(logs / path)


@pytest.mark.parametrize("path", ["x" * 5000, "\0"])
def test_the_error_for_an_impossible_path_names_it(path: str) -> None:
    with pytest.raises(SourceError, match="no such file"):
        find_logs(path)


def test_the_error_for_a_directory_without_permission_names_it(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    with monkeypatch.context() as patched:
        patched.setattr("binspark.files.storage.local.os.stat", refuse)
        with pytest.raises(SourceError, match=r"binlog\.000002: Permission denied"):
            find_logs(logs / "binlog.000002")


def test_sources_are_accepted_as_paths(logs: Path) -> None:
    found = find_logs(logs)
    assert find_logs(found) == find_logs([*found[:2], logs / "binlog.999999", found[3]]) == found


def test_the_error_for_an_empty_directory_names_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no binary log in this directory"):
        find_logs(tmp_path)


def test_no_path_is_an_option_error() -> None:
    with pytest.raises(OptionError):
        find_logs([])


def test_the_error_for_a_log_that_cannot_be_opened_names_it(logs: Path) -> None:
    source = find_logs(logs / "binlog.index")[2]
    with pytest.raises(SourceError, match=r"binlog\.000011"), source.open():
        pass
