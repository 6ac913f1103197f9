"""Files with data of others are for their user and group, and are not written through links."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import binspark
from binspark.archive.directory import ArchiveFolder, FolderLock
from binspark.archive.writer import ActiveLog
from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from binspark.errors import SourceError
from binspark.private_files import create_again, create_file, create_folder, open_output, replace_file

LOGS = str(SHOP / "mysql")


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    """A process that leaves all modes to binspark."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def write_output(path: Path) -> None:
    with open_output(path) as file:
        file.write(b"new")


def write_again(path: Path) -> None:
    with create_again(path) as file:
        file.write(b"new")


WAYS: list[Callable[[Path], None]] = [write_output, write_again, lambda path: replace_file(path, b"new")]


@pytest.mark.parametrize("write", WAYS)
def test_a_new_file_is_for_its_user_and_group(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o640


@pytest.mark.parametrize("write", WAYS)
def test_the_umask_can_take_more_away(write: Callable[[Path], None], tmp_path: Path) -> None:
    os.umask(0o077)
    write(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o600


@pytest.mark.parametrize("write", WAYS)
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_replaced_and_its_target_is_not_touched(
    write: Callable[[Path], None], exists: bool, tmp_path: Path
) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    [target.write_bytes(b"mine") for _ in range(exists)]
    link.symlink_to(target)
    write(link)
    assert link.read_bytes() == b"new"
    assert not link.is_symlink()
    assert [path.read_bytes() for path in tmp_path.glob("target")] == [b"mine"] * exists


@pytest.mark.parametrize("name", ["file.new", "file.1"])
def test_a_link_under_the_name_of_an_unfinished_file_is_not_followed(name: str, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"mine")
    (tmp_path / name).symlink_to("target")
    replace_file(tmp_path / "file", b"new", unfinished=Path(name).suffix)
    assert (tmp_path / "target").read_bytes() == b"mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "target"]


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(b"old")
    (tmp_path / "page.html").chmod(0o644)
    write_output(tmp_path / "page.html")
    assert mode(tmp_path / "page.html") == 0o644
    assert (tmp_path / "page.html").read_bytes() == b"new"


def test_devices_are_written_to_also_through_links(tmp_path: Path) -> None:
    (tmp_path / "nowhere").symlink_to(os.devnull)
    write_output(tmp_path / "nowhere")
    assert (tmp_path / "nowhere").is_symlink()


def test_a_file_is_created_only_if_nothing_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "link")


def test_all_folders_that_are_created_are_for_user_and_group(tmp_path: Path) -> None:
    create_folder(tmp_path / "a" / "b")
    assert [mode(path) for path in (tmp_path / "a", tmp_path / "a" / "b")] == [0o750, 0o750]


# --- Who writes such files --------------------------------------------------------------------------------------------


def test_an_archive_is_for_its_user_and_group(tmp_path: Path) -> None:
    folder = ArchiveFolder(tmp_path / "archive")
    with FolderLock(folder.path):
        log = ActiveLog.create(folder.path / "binlog.000001", memoryview(bytes(100)))
        log.close()
        folder.write_index(["binlog.000001"])
        folder.note_server("server")
    assert mode(folder.path) == 0o750
    assert {path.name: mode(path) for path in folder.path.iterdir()} == dict.fromkeys(
        ("archive.json", "archive.lock", "binlog.000001", "binlog.index"), 0o640
    )


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"mine")
    (tmp_path / "archive.lock").symlink_to("target")
    with pytest.raises(SourceError), FolderLock(tmp_path):
        pass
    assert (tmp_path / "target").read_bytes() == b"mine"


def test_an_export_is_for_its_user_and_group(tmp_path: Path) -> None:
    assert exit_code(["export", LOGS, "-o", str(tmp_path / "out")]) == 0
    files = list((tmp_path / "out").rglob("*.parquet"))
    assert {mode(file) for file in files} == {0o640}
    assert {mode(file.parent) for file in files} == {0o750}


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", LOGS, "-o", "{}"),
        ("report", LOGS, "--format", "json", "-o", "{}"),
        ("dump", LOGS, "--result-file", "{}"),
        ("cut", LOGS, "-o", "{}"),
    ],
    ids=["report", "json", "dump", "cut"],
)
def test_what_commands_write_is_for_its_user_and_group(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert exit_code([argument.format(tmp_path / "output.000001") for argument in arguments]) == 0
    assert mode(tmp_path / "output.000001") == 0o640
    assert len(list(tmp_path.iterdir())) == 1


def test_a_report_of_python_is_for_its_user_and_group(tmp_path: Path) -> None:
    binspark.report(LOGS).write_html(tmp_path / "report.html")
    assert mode(tmp_path / "report.html") == 0o640
