"""A log that paths name more than once is read once, and that is said."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

import binspark
from binspark.cli.main import exit_code
from binspark.files import LogSource, find_logs
from binspark.server.connection import connect
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from binspark.verify import verify_logs
from tests.support.explore.running import running
from tests.support.serve.clients import config_of, serving

ITEMS = table("shop.items", integer("id"), key=("id",))
ALL = ["binlog.000001", "binlog.000002", "binlog.000003"]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three logs of one server and the index file beside them."""
    folder = tmp_path_factory.mktemp("original")
    log = BinlogBuilder()
    log.ddl("CREATE TABLE items (id INT PRIMARY KEY)", "shop")
    for number in range(3):
        log.transaction(insert(ITEMS, (number,)))
        log.rotate()
    paths = log.save(folder)
    paths[-1].unlink()
    (folder / "binlog.index").write_text("".join(f"./{name}\n" for name in ALL))
    return folder


@pytest.fixture
def logs(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "logs"))


def names(*paths: str | Path | LogSource) -> list[str]:
    """Return the names of the logs that are read; a log must be left out."""
    with pytest.warns(binspark.RepeatedLogWarning, match="each log is read once; named again and left out: "):
        return [Path(source.name).name for source in find_logs(paths)]


def shell_glob(folder: Path) -> list[str]:
    """Return what a shell makes of `binlog.*`."""
    return sorted(str(path) for path in folder.glob("binlog.*"))


def test_an_index_file_beside_its_logs_adds_none(logs: Path) -> None:
    assert names(*shell_glob(logs)) == ALL


def test_a_file_that_is_named_twice_is_read_once(logs: Path) -> None:
    assert names(logs / ALL[1], logs / ALL[1]) == ALL[1:2]


@pytest.mark.parametrize("spelling", ["{}", "{}/", "{}/../logs", "file://{}", "{}/binlog.0*", "{}/binlog.index"])
def test_a_glob_and_its_directory_are_the_same_logs(logs: Path, spelling: str) -> None:
    assert names(f"{logs}/binlog.*", spelling.format(logs)) == ALL


def test_a_relative_and_an_absolute_path_are_the_same_log(logs: Path) -> None:
    with chdir(logs):
        assert names(ALL[0], logs / ALL[0]) == ALL[:1]


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_is_its_log(logs: Path, link: Callable[[Path, Path], None]) -> None:
    link(logs / ALL[0], logs / "first")
    with pytest.warns(binspark.RepeatedLogWarning, match=rf"first \(the same file as .*{ALL[0]}\)$"):
        assert [source.name for source in find_logs([logs / ALL[0], logs / "first"])] == [str(logs / ALL[0])]


def test_a_log_and_its_compressed_copy_are_the_same_log(logs: Path) -> None:
    shutil.copy(logs / ALL[0], logs / f"{ALL[0]}.gz")  # what it contains does not matter here
    assert names(*shell_glob(logs)) == ALL
    assert names(logs / f"{ALL[0]}.gz", logs / ALL[0]) == ALL[:1]


@pytest.mark.parametrize(
    ("first", "expected"),
    [(ALL[1:2], ALL), (ALL[:1:-1], ALL), (["other", ALL[2], ALL[0]], ["other", *ALL])],
    ids=["one", "two", "another server"],
)
def test_a_path_with_several_logs_knows_their_order(logs: Path, first: list[str], expected: list[str]) -> None:
    shutil.copy(logs / ALL[0], logs.parent / "other")
    given = [next(path for path in (logs.parent / name, logs / name) if path.exists()) for name in first]
    assert names(*given, logs) == expected


def test_an_index_orders_what_a_shell_sorts_wrongly(logs: Path) -> None:
    for old, new in (("binlog.000001", "binlog.999999"), ("binlog.000002", "binlog.1000000")):
        (logs / old).rename(logs / new)
    (logs / ALL[2]).unlink()
    (logs / "binlog.index").write_text("./binlog.999999\n./binlog.1000000\n")
    assert names(*shell_glob(logs)) == ["binlog.999999", "binlog.1000000"]


def test_an_index_that_was_copied_with_its_logs_means_the_copies(original: Path, logs: Path) -> None:
    (logs / "binlog.index").write_text("".join(f"{original / name}\n" for name in ALL))
    with pytest.warns(binspark.RepeatedLogWarning):
        assert [source.name for source in find_logs(shell_glob(logs))] == [str(logs / name) for name in ALL]


def test_a_link_in_a_folder_does_not_change_the_order(logs: Path) -> None:
    (logs / "a-link").symlink_to(ALL[2])
    assert names(logs) == ALL
    assert names(logs / "a-link", logs) == [*ALL[:2], "a-link"]


def test_equal_logs_of_two_folders_are_two_logs(original: Path, logs: Path) -> None:
    assert len(find_logs([original, logs])) == 2 * len(ALL)


def test_two_parts_of_a_log_are_both_read(logs: Path) -> None:
    parts = [LogSource(str(logs / ALL[0]), stop=200), LogSource(str(logs / ALL[0]), start=200)]
    assert find_logs(parts) == parts
    assert names(*parts, parts[0]) == [ALL[0]] * 2


def test_standard_input_is_one_log() -> None:
    assert names("-", "-") == ["-"]


def test_a_warning_names_the_first_five(logs: Path) -> None:
    for number in range(4, 9):
        shutil.copy(logs / ALL[0], logs / f"binlog.{number:06}")
    with pytest.warns(binspark.RepeatedLogWarning, match=r"binlog\.000005 and 3 more$"):
        find_logs([f"{logs}/binlog.0*", logs])


# --- Python -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "count",
    [
        lambda paths: len(list(binspark.rows(paths))),
        lambda paths: sum(batch.num_rows for batch in binspark.batches(paths, table="shop.items")),
        lambda paths: binspark.stat(paths).tables["shop", "items", "insert"].rows,
        lambda paths: binspark.report(paths).numbers.contents.tables["shop", "items", "insert"].rows,
        lambda paths: b"".join(binspark.sql(paths)).count(b"INSERT INTO"),
        lambda paths: sum(event.type == "WRITE_ROWS" for event in binspark.events(paths)),
        lambda paths: len(verify_logs(paths).files),
    ],
    ids=["rows", "batches", "stat", "report", "sql", "events", "verify"],
)
def test_functions_read_each_log_once(logs: Path, count: Callable[[list[str]], int]) -> None:
    with pytest.warns(binspark.RepeatedLogWarning) as caught:
        assert count(shell_glob(logs)) == len(ALL)
    assert {warning.filename for warning in caught} == {__file__}


# --- Command line -----------------------------------------------------------------------------------------------------

COMMANDS: dict[str, tuple[str, ...]] = {
    "events": ("--format", "jsonl"),
    "transactions": ("--format", "jsonl"),
    "rows": ("--format", "jsonl"),
    "sql": (),
    "sql --undo": ("--undo", "--skip-statements"),
    "dump": (),
    "explain": ("--format", "json"),
    "stat": ("--format", "jsonl"),
    "verify": ("--format", "jsonl"),
    "report": ("--format", "json"),
    "restore": ("--format", "jsonl"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_read_each_log_once_and_say_so_once(
    command: str, logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [command.split()[0], *COMMANDS[command]]
    assert exit_code([*arguments, *(str(logs / name) for name in ALL)]) == 0
    expected = capsys.readouterr()
    assert exit_code([*arguments, *shell_glob(logs)]) == 0
    found = capsys.readouterr()
    assert found.out == expected.out
    left_out = ", ".join(str(logs / name) for name in ALL)
    said = f"binspark: each log is read once; named again and left out: {left_out}\n"
    assert found.err == said + expected.err


def test_an_export_has_each_row_once(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["export", "--format", "jsonl", "-o", str(tmp_path / "out"), *shell_glob(logs), str(logs)]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out.splitlines()[0])["rows"] == len(ALL)
    assert printed.err.count("each log is read once") == 1


def test_a_cut_log_has_each_transaction_once(logs: Path, tmp_path: Path) -> None:
    assert exit_code(["cut", "-o", str(tmp_path / "cut.000001"), *shell_glob(logs)]) == 0
    assert len(list(binspark.rows(tmp_path / "cut.000001"))) == len(ALL)


def test_each_side_of_a_difference_is_read_once(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (logs / "again.000002").symlink_to(logs / ALL[1])
    assert exit_code(["diff", str(logs), f"{logs}/binlog.0*"]) == 0
    assert capsys.readouterr().err.count("again.000002 (the same file as") == 1


def test_a_page_has_each_log_once(logs: Path) -> None:
    with running(*shell_glob(logs), str(logs)) as page:
        assert [log["name"] for log in page.ask("logs")["logs"]] == ALL
        page.process.send_signal(signal.SIGINT)
        _, said = page.process.communicate(timeout=60)
    assert said.count("each log is read once") == 1


@pytest.mark.parametrize("archive", ["", "/*.*", "/binlog.index"], ids=["directory", "glob", "index"])
def test_an_archive_is_served_with_each_log_once(logs: Path, archive: str, tmp_path: Path) -> None:
    (logs / "again.000002").symlink_to(ALL[1])
    shutil.copy(logs / ALL[0], logs / f"{ALL[0]}.gz")
    (logs / "binlog.index").write_text("".join(f"./{name}\n" for name in [*ALL, "again.000002", f"{ALL[0]}.gz"]))
    left_out = pytest.warns(binspark.RepeatedLogWarning, match=r"again\.000002 .*, .*\.000001\.gz ")
    with left_out, serving(f"{logs}{archive}") as served:
        with connect(config_of(served)) as connection:
            assert [row[0] for row in connection.rows("SHOW BINARY LOGS")] == ALL
        binspark.open_archiver(tmp_path / "copy", config_of(served), until="end").run()
    assert len(list(binspark.rows(tmp_path / "copy"))) == len(ALL)
