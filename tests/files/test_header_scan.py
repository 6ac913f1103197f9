"""Header scans find the same events as a full read, whatever the window, and around damage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from binspark.errors import SourceError
from binspark.event import Event, Query, TableMap, TransactionPayload
from binspark.files import header_scan
from binspark.files.header_scan import HeaderScanner, Look, open_scanner
from binspark.files.storage.local import LocalFile
from binspark.frames import Framer
from binspark.testing.builder import insert
from tests.corpus.cases import corpus_logs, log_id
from tests.support.files.split_logs import ITEMS, BuiltLog, overwritten, writer_of
from tests.support.files.split_reading import all_events, plan

SPLITTABLE = [path for path in corpus_logs() if not path.name.startswith("relay")]
FRAMES = (b"BEGIN", b"COMMIT")
windows = pytest.mark.parametrize("window", [64, 1000, 1 << 20], ids=str)


@contextmanager
def scanner_of(content: bytes, folder: Path) -> Iterator[HeaderScanner]:
    path = folder / "binlog.000001"
    path.write_bytes(content)
    with open_scanner(plan(path)) as scanner:
        yield scanner


def statements(events: list[Event]) -> list[Event]:
    """Return the statements of the file itself that are neither BEGIN nor COMMIT."""
    outer = [event for event in events if event.inner is None and isinstance(event.body, Query)]
    return [event for event in outer if event.body.query not in FRAMES]


def written(event: Event) -> bytes:
    names = (event.body.schema.encode(), event.body.table.encode())
    return b"".join(bytes((len(name),)) + name + b"\0" for name in names)


@windows
@pytest.mark.parametrize("path", SPLITTABLE[::4], ids=log_id)
def test_statements_are_those_of_a_full_read(path: Path, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_scan, "_WINDOW", window)
    log = plan(path)
    expected = statements(all_events(path.read_bytes()[: log.size], str(path)).events)
    with open_scanner(log) as scanner:
        found = list(scanner.events(Look.STATEMENTS))
    assert statements(found) == expected


@windows
@pytest.mark.parametrize("path", SPLITTABLE[1::9], ids=log_id)
def test_table_maps_of_one_table_and_payloads_are_those_of_a_full_read(
    path: Path, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(header_scan, "_WINDOW", window)
    log = plan(path)
    events = [event for event in all_events(path.read_bytes()[: log.size], str(path)).events if event.inner is None]
    names = {written(event) for event in events if isinstance(event.body, TableMap)}
    with open_scanner(log) as scanner:
        for name in (*sorted(names), b"\x04none\0\x01t\0"):
            wanted = [e for e in events if isinstance(e.body, TableMap) and written(e) == name]
            found = list(scanner.events(Look.TABLE_MAPS, name=name))
            assert [event for event in found if written(event) == name] == wanted
        payloads = [event for event in events if isinstance(event.body, TransactionPayload)]
        assert list(scanner.events(Look.PAYLOADS)) == payloads


def log_of_statements(kind: str) -> BuiltLog:
    writer = writer_of(kind)
    for number in range(6):
        writer.transaction(insert(ITEMS, (number,)), insert(ITEMS, (number,)))
        writer.ddl(f"ALTER TABLE items COMMENT '{number}'")
    writer.log.stop()
    return writer.made()


def test_only_events_between_two_offsets_are_found(tmp_path: Path) -> None:
    log = log_of_statements("named-crc32")
    with scanner_of(log.content, tmp_path) as scanner:
        everything = [event.offset for event in scanner.events(Look.STATEMENTS)]
        for first, last in ((0, 4), (2, 9), (5, 5), (7, -1)):
            start, end = log.starts[first], log.starts[last]
            found = [event.offset for event in scanner.events(Look.STATEMENTS, start, end)]
            assert found == [offset for offset in everything if start <= offset < end]


def sound_statements(log: BuiltLog, damaged: int) -> list[int]:
    """Return the offsets of the statements outside of the transaction that an offset is in."""
    part = next((part for part in log.parts() if damaged in part), range(0))
    return [event.offset for event in statements(all_events(log.content, "").events) if event.offset not in part]


@windows
@pytest.mark.parametrize("kind", ["named-crc32", "named-none", "anonymous-none", "mariadb-crc32", "mariadb-none"])
def test_a_wrong_size_hides_no_statement_of_another_transaction(
    kind: str, window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the wrong size leads: past the end, to bytes that are not an event, or to a later event."""
    monkeypatch.setattr(header_scan, "_WINDOW", window)
    log = log_of_statements(kind)
    frames = [frame for frame in Framer().feed(log.content) if frame.offset > 4]
    for frame, later in list(zip(frames, frames[11:], strict=False))[::3]:
        for size in (len(frame.data) + 3, later.offset - frame.offset, 60_000, (1 << 32) - 1, 7):
            content = overwritten(log.content, frame.offset + 9, size.to_bytes(4, "little"))
            with scanner_of(content, tmp_path) as scanner:
                found = [event.offset for event in scanner.events(Look.STATEMENTS)]
            assert set(sound_statements(log, frame.offset)) <= set(found)
            assert len(found) == len(set(found))


@windows
def test_events_without_positions_are_followed(window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_scan, "_WINDOW", window)
    log = log_of_statements("mariadb-zero-none")
    with scanner_of(log.content, tmp_path) as scanner:
        assert [event.offset for event in scanner.events(Look.STATEMENTS)] == sound_statements(log, -1)


@windows
def test_events_with_wrong_positions_are_followed(window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers before 5.1 wrote positions inside transactions relative to the start of the transaction."""
    monkeypatch.setattr(header_scan, "_WINDOW", window)
    log = log_of_statements("5.5-plain")
    content = log.content
    for frame in [frame for frame in Framer().feed(content) if frame.type_code in (19, 23, 16)]:
        content = overwritten(content, frame.offset + 13, (frame.end_offset - 100).to_bytes(4, "little"))
    with scanner_of(content, tmp_path) as scanner:
        assert [event.offset for event in scanner.events(Look.STATEMENTS)] == sound_statements(log, -1)


def test_a_statement_with_a_wrong_checksum_is_skipped(tmp_path: Path) -> None:
    log = log_of_statements("named-crc32")
    damaged = sound_statements(log, -1)[2]
    content = overwritten(log.content, damaged + 40, b"\xff")
    with scanner_of(content, tmp_path) as scanner:
        found = [event.offset for event in scanner.events(Look.STATEMENTS)]
    assert found == sound_statements(log, damaged)


def test_the_sound_part_of_a_log_ends_before_the_event_with_a_wrong_size(tmp_path: Path) -> None:
    log = log_of_statements("named-none")
    frames = list(Framer().feed(log.content))
    with scanner_of(log.content, tmp_path) as scanner:
        assert scanner.sound_end(4, frames[9].offset) == frames[9].offset
    wrong = frames[5]
    content = overwritten(log.content, wrong.offset + 9, (len(wrong.data) + 30).to_bytes(4, "little"))
    with scanner_of(content, tmp_path) as scanner:
        assert scanner.sound_end(4, wrong.offset) == wrong.offset
        assert scanner.sound_end(4, wrong.end_offset + 30) == wrong.offset


def test_statements_cost_no_read_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In remote storage every read is a request."""
    read: list[int] = []
    with scanner_of(log_of_statements("named-crc32").content, tmp_path) as scanner:
        monkeypatch.setattr(LocalFile, "read_at", lambda _file, offset, _length: read.append(offset))
        assert len(list(scanner.events(Look.STATEMENTS))) == 6
    assert read == []


def test_a_missing_log_is_a_source_error(tmp_path: Path) -> None:
    path = tmp_path / "binlog.000001"
    path.write_bytes(log_of_statements("named-crc32").content)
    log = plan(path)
    path.unlink()
    with pytest.raises(SourceError, match="No such file"), open_scanner(log):
        pass
