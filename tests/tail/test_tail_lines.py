"""Chunks of logs as lines: kernels write what `change_json` writes, in the same order, under every filter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from binspark.changes import ChangeReader, change_json
from binspark.changes.selection_options import make_selection
from binspark.columns.selection import Selection
from binspark.documents.line_style import LineFormat, LineStyle
from binspark.errors import DecodeError
from binspark.files import read_events
from binspark.frames import Framer
from binspark.kernels.packet_layout import ODD_CODES
from binspark.replication.chunk import LogChunk
from binspark.schema.history import SchemaHistory
from binspark.tail import printer as change_printer
from binspark.tail.printer import ChunkPrinter
from binspark.testing.builder import BinlogBuilder, blob, delete, insert, integer, table, update, varchar
from tests.corpus.cases import case_logs, corpus_logs, log_id

LOGS = [log for log in corpus_logs() if not log.name.startswith("relay")]
JSON, TEXT = LineStyle(LineFormat.JSON), LineStyle(LineFormat.TEXT)
ITEMS = table("shop.items", integer("id"), varchar("name", 40))
ORDERS = table("shop.orders", integer("id"), integer("item"))


@pytest.fixture
def in_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every chunk be read in bulk, however small it is."""
    monkeypatch.setattr(change_printer, "BULK_BYTES", 0)


def chunk_of(content: bytes, name: str = "binlog.000001", start: int = 4, end: int | None = None) -> LogChunk:
    frames = list(Framer().feed(content))
    inside = [frame for frame in frames if start <= frame.offset < (end or len(content))]
    indirect_rows = any(frame.type_code in ODD_CODES for frame in inside)
    return LogChunk(name, start, inside[0].format, memoryview(content)[start:end], indirect_rows=indirect_rows)


def printed(chunks: Iterable[LogChunk], selection: Selection, history: SchemaHistory | None = None) -> list[str]:
    printer = ChunkPrinter(selection, history or SchemaHistory(), JSON)
    return b"".join(bytes(text) for chunk in chunks for text in printer.lines(chunk)).decode().splitlines()


def expected(paths: Iterable[Path], selection: Selection) -> list[str]:
    reader = ChangeReader(selection)
    return [change_json(change) for event in read_events(paths) for change in reader.feed(event)]


@pytest.mark.usefixtures("in_bulk")
@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_lines_in_bulk_are_the_lines_of_single_rows(log: Path) -> None:
    assert printed([chunk_of(log.read_bytes(), log.name)], Selection()) == expected([log], Selection())


SHOP = case_logs("mysql/multi-table")
CHOICES: list[dict[str, Any]] = [
    {"operations": ["update"]},
    {"operations": ["insert", "delete"]},
    {"tables": ["*.a*"]},
    {"exclude_tables": ["*.a*"]},
    {"server_id": 12345},
    {"start_datetime": "2100-01-01 00:00:00"},
    {"stop_datetime": "2100-01-01 00:00:00"},
    {"include_gtids": "00000000-0000-0000-0000-000000000001:1"},
    {"exclude_gtids": "00000000-0000-0000-0000-000000000001:1"},
]


@pytest.mark.usefixtures("in_bulk")
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: "-".join(choice))
def test_filters_choose_the_same_rows_in_bulk(choice: dict[str, Any]) -> None:
    selection = make_selection(choice)
    for log in SHOP:
        reader = ChangeReader(selection)
        wanted = [change_json(change) for event in read_events(log) for change in reader.feed(event)]
        assert printed([chunk_of(log.read_bytes(), log.name)], selection) == wanted


@pytest.mark.usefixtures("in_bulk")
def test_rows_of_several_tables_come_in_the_order_of_the_log() -> None:
    log = BinlogBuilder()
    for number in range(30):
        log.transaction(
            insert(ORDERS, (number, 1), (number + 100, 2)),
            insert(ITEMS, (number, "new")),
            update(ORDERS, ((number, 1), (number, 3))),
            delete(ITEMS, (number, "new")),
        )
    content = log.files[0].content
    positions = [(line["pos"], line["row"]) for line in map(_parsed, printed([chunk_of(content)], Selection()))]
    assert len(positions) == 150
    assert positions == sorted(positions)


def _parsed(line: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(line)
    return record


def renamed_log() -> tuple[bytes, list[int]]:
    """Return a log in which the columns of a table get other names, and where its transactions begin."""
    log, starts = BinlogBuilder(), []
    log.full_metadata = False
    log.ddl("CREATE TABLE shop.orders (id INT PRIMARY KEY, item INT)")
    for number, name in enumerate(("item", "item1", "item2", "item3")):
        starts.append(len(log.files[0].content))
        log.transaction(insert(ORDERS, (number, number)))
        starts.append(len(log.files[0].content))
        log.ddl(f"ALTER TABLE shop.orders RENAME COLUMN {name} TO item{number + 1}")
    return log.files[0].content, starts


@pytest.mark.parametrize("bulk", [(), range(9), (1, 3, 5, 7), (2, 4, 6, 8), (1, 4, 5, 8), (0, 1, 7)], ids=str)
def test_readers_in_bulk_and_by_row_share_what_they_learn(bulk: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    content, starts = renamed_log()
    cuts = [4, *starts, len(content)]
    printer = ChunkPrinter(Selection(), SchemaHistory(), JSON)
    lines: list[str] = []
    for number, (start, end) in enumerate(pairwise(cuts)):
        monkeypatch.setattr(change_printer, "BULK_BYTES", 0 if number in bulk else 1 << 30)
        for text in printer.lines(chunk_of(content, start=start, end=end)):
            lines += bytes(text).decode().splitlines()
    assert [list(_parsed(line)["after"])[1] for line in lines] == ["item", "item1", "item2", "item3"]


@pytest.mark.usefixtures("in_bulk")
def test_what_came_before_damage_is_shown_before_the_error() -> None:
    log = BinlogBuilder()
    for number in range(3):
        log.transaction(insert(ORDERS, (number, 1)))
    content = bytearray(log.files[0].content)
    content[-40] ^= 1
    damaged = replace(chunk_of(log.files[0].content), data=memoryview(bytes(content))[4:])
    printer = ChunkPrinter(Selection(), SchemaHistory(), JSON)
    shown: list[str] = []
    with pytest.raises(DecodeError):
        shown.extend(bytes(text).decode() for text in printer.lines(damaged))
    lines = "".join(shown).splitlines()
    assert [_parsed(line)["after"]["id"] for line in lines] == [0, 1]


@pytest.mark.usefixtures("in_bulk")
def test_names_are_written_as_json() -> None:
    odd = table('shop."orders"', integer("id"), blob("n", 2))
    log = BinlogBuilder()
    log.transaction(insert(odd, (1, b"x")))
    assert _parsed(printed([chunk_of(log.files[0].content)], Selection())[0])["table"] == '"orders"'


@pytest.mark.parametrize("bulk_bytes", [0, 1 << 30], ids=["in-bulk", "by-row"])
def test_text_is_the_same_in_bulk_and_by_row(bulk_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_printer, "BULK_BYTES", bulk_bytes)
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1, 2), (3, 4)))
    log.transaction(update(ORDERS, ((1, 2), (1, 3))))
    printer = ChunkPrinter(Selection(), SchemaHistory(), TEXT)
    lines = b"".join(map(bytes, printer.lines(chunk_of(log.files[0].content)))).decode().splitlines()
    assert [line.split("  ")[-1] for line in lines] == [lines[0].split("  ")[-1], "id=1 item=2", "id=3 item=4",
                                                       lines[3].split("  ")[-1], "item: 2 → 3"]  # fmt: skip
    assert [line.startswith("# ") for line in lines] == [True, False, False, True, False]
