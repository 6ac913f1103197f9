"""Folders of logs: names, locks, indexes, active logs, and which of them are removed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.archive.directory import (
    ArchiveFolder,
    FolderLock,
    base_name,
    checked_name,
    is_log_name,
    next_name,
)
from binspark.archive.recovery import recover_log
from binspark.archive.retention import KeptLog, Retention
from binspark.archive.writer import ActiveLog
from binspark.errors import Malformed, OptionError, Purged, SourceError
from binspark.files import find_logs
from binspark.frames import Family, Framer
from binspark.private_files import replace_file
from binspark.testing.builder import MARIADB_10_11, MYSQL_9_7, BinlogBuilder, ServerKind, insert, integer, table

ORDERS = table("shop.orders", integer("id"))
IN_USE = 21


def built(*, server: ServerKind = MYSQL_9_7) -> BinlogBuilder:
    log = BinlogBuilder(server)
    log.transaction(insert(ORDERS, (1,)))
    log.transaction(insert(ORDERS, (2,)))
    return log


def events_of(content: bytes) -> list[bytes]:
    return [frame.data for frame in Framer().feed(content)]


@pytest.mark.parametrize("name", ["binlog.000001", "mysql-bin.999999", "my.log.1", "журнал.000001", "a b.1"])
def test_names_of_logs_are_taken(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../binlog.000001",
        "/etc/cron.d/x.1",
        "a/binlog.000001",
        "a\\binlog.000001",
        "binlog.000001\0",
        "binlog\n.000001",
        ".binlog.000001",
        "binlog.index",
        "archive.lock",
        "binlog",
        "x" * 255 + ".000001",
    ],
)
def test_names_that_lead_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(Malformed, match="expected a base name, a dot and a number"):
        checked_name(name)


@given(st.text(max_size=30))
def test_a_name_that_is_taken_stays_in_its_folder(name: str) -> None:
    path = os.path.normpath(os.path.join("/folder", name))
    assert not is_log_name(name) or path == f"/folder/{name}"


def test_the_next_log_has_the_next_number() -> None:
    assert next_name("binlog.000009") == "binlog.000010"
    assert next_name("binlog.999999") == "binlog.1000000"
    assert base_name("my.log.000001") == "my.log"


def test_a_locked_folder_is_refused_with_who_has_locked_it(tmp_path: Path) -> None:
    with (
        FolderLock(tmp_path),
        pytest.raises(OptionError, match=f"process {os.getpid()} on ") as error,
        FolderLock(tmp_path),
    ):
        pass
    assert str(tmp_path) in str(error.value)


def test_a_lock_does_not_outlive_its_process(tmp_path: Path) -> None:
    script = "import os, sys; from pathlib import Path; from binspark.archive.directory import FolderLock\n"
    script += "FolderLock(Path(sys.argv[1])).__enter__(); os.kill(os.getpid(), 9)"
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert ended.returncode == -9
    with FolderLock(tmp_path):
        assert str(os.getpid()) in (tmp_path / "archive.lock").read_text()


def test_a_lock_of_which_nothing_is_known_is_a_lock(tmp_path: Path) -> None:
    with FolderLock(tmp_path):
        (tmp_path / "archive.lock").write_text("?")
        with pytest.raises(OptionError, match="an unknown process"), FolderLock(tmp_path):
            pass


def test_an_index_lists_logs_by_number(tmp_path: Path) -> None:
    folder = ArchiveFolder(tmp_path / "new" / "folder")
    for number in (1000000, 999999, 2):
        (folder.path / f"binlog.{number:06}").write_bytes(b"\xfebin")
    folder.write_index(folder.logs())
    assert (folder.path / "binlog.index").read_text() == "binlog.000002\nbinlog.999999\nbinlog.1000000\n"
    assert [Path(log.name).name for log in find_logs(folder.path / "binlog.index")] == folder.logs()


def test_an_index_that_is_right_is_left_alone(tmp_path: Path) -> None:
    folder = ArchiveFolder(tmp_path)
    folder.write_index(["binlog.000001"])
    inode = (tmp_path / "binlog.index").stat().st_ino
    folder.write_index(["binlog.000001"])
    assert (tmp_path / "binlog.index").stat().st_ino == inode
    folder.write_index(["binlog.000001", "binlog.000002"])
    assert (tmp_path / "binlog.index").stat().st_ino != inode


def test_an_index_no_longer_lists_what_is_removed(tmp_path: Path) -> None:
    folder = ArchiveFolder(tmp_path)
    for number in (1, 2, 3):
        (tmp_path / f"binlog.00000{number}").write_bytes(b"\xfebin")
    folder.remove(["binlog.000001", "binlog.000002"])
    assert folder.logs() == ["binlog.000003"]
    assert (tmp_path / "binlog.index").read_text() == "binlog.000003\n"


def test_a_folder_contains_logs_of_one_base_name(tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").touch()
    (tmp_path / "other.000001").touch()
    with pytest.raises(OptionError, match="several base names"):
        ArchiveFolder(tmp_path).logs()


def test_other_files_of_a_folder_are_none_of_its_logs(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    (tmp_path / "binlog.000001").mkdir()
    assert ArchiveFolder(tmp_path).logs() == []


def test_a_folder_remembers_its_server(tmp_path: Path) -> None:
    folder = ArchiveFolder(tmp_path)
    assert folder.server == ""
    folder.note_server("3e11fa47")
    assert ArchiveFolder(tmp_path).server == "3e11fa47"
    (tmp_path / "archive.json").write_text("{")
    assert folder.server == ""


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match=str(tmp_path / "file" / "archive")):
        ArchiveFolder(tmp_path / "file" / "archive")


def test_a_file_is_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "index"
    replace_file(path, b"old")
    with path.open("rb") as reader:
        replace_file(path, b"new")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["index"]


def test_an_active_log_says_that_it_is_in_use(tmp_path: Path) -> None:
    content = built().files[0].content
    events = events_of(content)
    log = ActiveLog.create(tmp_path / "binlog.000001", memoryview(events[0]))
    log.append(log.size, memoryview(b"".join(events[1:])))
    on_disk = log.path.read_bytes()
    assert on_disk[IN_USE] == 1
    assert on_disk[:IN_USE] + b"\0" + on_disk[IN_USE + 1 :] == content
    log.mark(in_use=False)
    log.sync()
    log.close()
    assert log.path.read_bytes() == content


def test_a_log_is_never_begun_over_another(tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").write_bytes(b"precious")
    with pytest.raises(SourceError, match="exists"):
        ActiveLog.create(tmp_path / "binlog.000001", memoryview(events_of(built().files[0].content)[0]))
    assert (tmp_path / "binlog.000001").read_bytes() == b"precious"


def reopened(path: Path, content: bytes) -> ActiveLog:
    path.write_bytes(content)
    found = recover_log(path)
    assert found is not None
    return ActiveLog.reopen(found)


def test_a_log_is_continued_after_its_last_valid_event(tmp_path: Path) -> None:
    content = built().files[0].content
    events = events_of(content)
    cut = len(content) - len(events[-1])
    log = reopened(tmp_path / "binlog.000001", content[: cut + 5])
    assert log.size == cut
    assert log.path.stat().st_size == cut + 5
    log.append(cut - len(events[-2]), memoryview(events[-2] + events[-1]))
    log.mark(in_use=False)
    log.close()
    assert log.path.read_bytes() == content


def test_what_the_server_sends_again_must_be_the_same(tmp_path: Path) -> None:
    content = built().files[0].content
    events = events_of(content)
    log = reopened(tmp_path / "binlog.000001", content)
    other = events[-1][:-1] + b"?"
    with pytest.raises(Purged, match="differs from its copy"):
        log.append(len(content) - len(other), memoryview(other))
    log.append(4, memoryview(b"".join(events)))
    log.close()


def test_events_that_do_not_follow_are_refused(tmp_path: Path) -> None:
    content = built().files[0].content
    log = reopened(tmp_path / "binlog.000001", content)
    with pytest.raises(Malformed, match="the copy ends at"):
        log.append(len(content) + 1, memoryview(b"x"))
    log.close()


def test_a_log_is_read_up_to_its_first_wrong_byte(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    content = built().files[0].content
    starts = [4]
    for event in events_of(content):
        starts.append(starts[-1] + len(event))
    for at in range(starts[1], len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        found = recover_log(path)
        assert found is not None
        assert (found.end, found.size) == (max(start for start in starts if start <= at), len(content))
        assert found.last == max(start for start in starts if start < found.end)


@pytest.mark.parametrize("size", [0, 3, 4, 22, 100])
def test_a_log_without_its_first_event_is_none(size: int, tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").write_bytes(built().files[0].content[:size])
    assert recover_log(tmp_path / "binlog.000001") is None


def test_a_log_says_what_follows_it(tmp_path: Path) -> None:
    log = built(server=MARIADB_10_11)
    log.rotate()
    log.stop()
    log.start_file()
    found = []
    for file in log.files:
        (tmp_path / file.name).write_bytes(file.content)
        found.append(recover_log(tmp_path / file.name))
    assert [log.following for log in found if log] == ["binlog.000002", "binlog.000003", None]
    assert [log.is_finished for log in found if log] == [True, True, False]
    assert {log.family for log in found if log} == {Family.MARIADB}


LOGS = [KeptLog(f"binlog.00000{number}", 100, 86_400 * number) for number in range(1, 6)]


@pytest.mark.parametrize(
    ("keep", "gone"),
    [
        (Retention(), 0),
        (Retention(bytes=500), 0),
        (Retention(bytes=499), 1),
        (Retention(bytes=250), 3),
        (Retention(bytes=1), 4),
        (Retention(days=100), 0),
        (Retention(days=3), 2),
        (Retention(days=0.1), 4),
        (Retention(days=3, bytes=150), 4),
    ],
)
def test_the_oldest_logs_are_removed(keep: Retention, gone: int) -> None:
    now = 86_400 * 6.5
    assert keep.outdated(LOGS, now) == [log.name for log in LOGS[:gone]]


def test_nothing_is_no_limit() -> None:
    for wrong in ({"days": 0.0}, {"bytes": 0}, {"days": -1.0}):
        with pytest.raises(OptionError):
            Retention(**wrong)


def test_a_file_is_no_folder_for_an_archive(tmp_path: Path) -> None:
    (tmp_path / "archive").write_text("not a folder")
    with pytest.raises(OptionError, match=r"must be a directory, got the file .*archive"):
        ArchiveFolder(tmp_path / "archive")


def test_a_lock_on_a_full_disk_is_an_error_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", fail)
    with pytest.raises(SourceError, match=r"archive\.lock: No space left on device"), FolderLock(tmp_path):
        pass
