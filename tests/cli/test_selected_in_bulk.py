"""What `events` and `transactions` print of selected parts of logs: kernels find the same as one event at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.files import bulk_selection, find_logs, read_events
from binspark.files.contents import can_count_in_bulk
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from tests.corpus.cases import case_logs
from tests.support.files.selections import Options, selections_of

CASES = [
    *("mysql/compressed", "mysql/format-row", "mysql/format-statement", "mysql/xa", "mysql/gtid-tagged"),
    *("mysql/crash-truncated", "mariadb/crash", "mariadb/gtid-domains", "mariadb/compressed", "mariadb/format-row"),
]
COMMANDS = [["events"], ["transactions", "--parallelism", "--count-rows"]]
ORDERS = table("shop.orders", integer("id"))


def as_arguments(options: Options) -> list[str]:
    """Return options as they are typed."""
    arguments = []
    for name, value in options.items():
        texts = value if isinstance(value, list) else [value]
        shown = [text.isoformat() if isinstance(text, datetime) else str(text) for text in texts]
        if name in ("start_datetime", "stop_datetime"):
            shown = [datetime.fromtimestamp(value).astimezone().isoformat()]
        arguments += [f"--{name.replace('_', '-')}={text}" for text in shown]
    return arguments


class Printing:
    """Runs commands, with kernels or without."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def printed(self, arguments: Sequence[str], *, in_bulk: bool) -> tuple[int, str, str]:
        """Return the exit code, and what a command prints."""
        size = 0 if in_bulk else 1 << 60
        self._monkeypatch.setattr(bulk_selection, "BULK_BYTES", size)
        self._monkeypatch.setattr(bulk_selection, "COMPILING_BYTES", size)
        code = exit_code([*arguments, "--format", "jsonl"])
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err

    def assert_same(self, arguments: Sequence[str]) -> str:
        """Return what a command prints, with kernels and without."""
        found = self.printed(arguments, in_bulk=True)
        assert found[0] < 2
        assert found == self.printed(arguments, in_bulk=False), arguments
        return found[1]


@pytest.fixture
def printing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printing:
    return Printing(monkeypatch, capsys)


@pytest.mark.parametrize("command", COMMANDS, ids=["events", "transactions"])
@pytest.mark.parametrize("case", CASES)
def test_both_print_the_same_of_recorded_logs(printing: Printing, command: list[str], case: str) -> None:
    logs = case_logs(case)
    assert all(map(can_count_in_bulk, find_logs(logs)))
    for options in selections_of(logs)[CASES.index(case) % 3 :: 3]:
        printing.assert_same([*command, *map(str, logs), *as_arguments(options)])


def log_of(folder: Path, *, compressed: bool = False, count: int = 12) -> Path:
    log = BinlogBuilder()
    for number in range(count):
        log.transaction(
            insert(ORDERS, (number,), (100 + number,)),
            text="INSERT INTO orders …",
            compress=True if compressed else None,
        )
    log.stop()
    [path] = log.save(folder)
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=["events", "transactions"])
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
def test_both_print_what_a_condition_selects(
    printing: Printing, tmp_path: Path, command: list[str], compressed: bool
) -> None:
    path = log_of(tmp_path, compressed=compressed)
    found = printing.assert_same([*command, str(path), "--where", "id in (3, 107)"])
    assert len(found.splitlines()) == 2 + (command[0] == "transactions")  # that of parallelism


@pytest.mark.parametrize("types", ["XID", "TABLE_MAP", "TRANSACTION_PAYLOAD"])
def test_types_of_events_select_them_in_bulk_too(printing: Printing, tmp_path: Path, types: str) -> None:
    path = log_of(tmp_path, compressed=types == "TRANSACTION_PAYLOAD")
    assert printing.assert_same(["events", str(path), "--type", types])


@pytest.mark.parametrize("arguments", [["--tables", "shop.orders"], ["--type", "XID"], ["--where", "id = 3"]], ids=str)
@pytest.mark.parametrize("command", ["events", "transactions"])
def test_damage_is_reported_as_without_kernels(
    printing: Printing, tmp_path: Path, command: str, arguments: list[str]
) -> None:
    if command == "transactions" and "--type" in arguments:
        arguments = ["--operations", "insert"]
    path = log_of(tmp_path)
    content = bytearray(path.read_bytes())
    commit = [event for event in read_events(path) if event.type == "XID"][5]
    content[commit.end_offset - 1] ^= 0xFF  # its checksum does not match
    path.write_bytes(content[:-100])  # and the end is missing
    code, _, errors = printing.printed([command, str(path), *arguments], in_bulk=True)
    assert code == 1
    assert errors
    printing.assert_same([command, str(path), *arguments])
