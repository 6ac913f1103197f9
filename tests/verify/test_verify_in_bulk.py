"""Whether kernels skip the events that are sound or every event is checked by itself, the report is the same."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.frames import ChecksumAlgorithm, Frame
from binspark.gtid import GtidSet, GtidSetBuilder
from binspark.kernels import cache
from binspark.testing.builder import MARIADB_10_11, MYSQL_9_7, BinlogBuilder, ServerKind, insert
from binspark.verify import Report, verify_logs
from binspark.verify.log_checks import Checks
from tests.corpus.cases import corpus_logs, log_id
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.examples import examples
from tests.support.verify.logs import ITEMS, chain, codes, frames_of

SOURCE = "49f2f129-e178-11f1-bf54-02fc00000001"
SMALL_LOGS = ("mysql", "mysql-checksum-none", "mariadb", "mariadb-checksum-none")


@pytest.fixture(autouse=True, scope="module")
def _kept_kernels() -> None:
    cache.enable()


def test_numpy_is_not_imported_to_verify_a_log(tmp_path: Path) -> None:
    """Importing it takes longer than verifying most logs."""
    path = tmp_path / "binlog.000001"
    path.write_bytes(small_log("mysql"))
    code = (
        "import sys; from binspark.verify import verify_logs;"
        f"verify_logs({str(path)!r}, in_bulk=True); print(sorted({{'numpy', 'numba'}} & set(sys.modules)))"
    )
    verify_logs(path, in_bulk=True)  # compiles the kernel if it is not kept
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_kernel_is_loaded_for_a_small_log_on_standard_input() -> None:
    code = (
        "import sys; from binspark.verify import verify_logs;"
        "report = verify_logs('-'); print(report.summary.transactions, 'llvmlite' in sys.modules)"
    )
    content = small_log("mysql")
    done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=True)
    assert done.stdout.split() == [b"3", b"False"]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The type codes of the events that are checked by themselves."""
    codes_seen: list[int] = []
    check = Checks.check

    def spy(checks: Checks, frame: Frame) -> None:
        codes_seen.append(frame.type_code)
        check(checks, frame)

    monkeypatch.setattr(Checks, "check", spy)
    return codes_seen


def verify_twice(path: Path | list[Path]) -> Report:
    """Verify a log in both ways, and return the report if it is the same."""
    report = verify_logs(path, in_bulk=True)
    assert report == verify_logs(path, in_bulk=False)
    return report


def verify_content(content: bytes) -> Report:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "binlog.000001"
        path.write_bytes(content)
        return verify_twice(path)


def small_log(name: str) -> bytes:
    """Build a log of a few transactions."""
    server = MYSQL_9_7 if name.startswith("mysql") else MARIADB_10_11
    log = BinlogBuilder(server, checksum=ChecksumAlgorithm.NONE if "none" in name else ChecksumAlgorithm.CRC32)
    log.ddl("CREATE TABLE items (id INT)", "shop")
    log.transaction(insert(ITEMS, (1,), (2,)))
    log.transaction(insert(ITEMS, (3,)))
    return log.content


def with_checksum(content: bytearray, frame: Frame) -> bytes:
    """Return a log in which the checksum of an event matches again."""
    end = frame.end_offset - 4
    content[end : frame.end_offset] = struct.pack("<I", crc32(bytes(content[frame.offset : end])))
    return bytes(content)


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_reports_about_recorded_logs_are_the_same(log: Path) -> None:
    verify_twice(log)


@pytest.mark.parametrize("server", [MYSQL_9_7, MARIADB_10_11], ids=lambda server: server.server_version)
def test_only_the_frame_of_a_sound_log_is_checked_by_event(server: ServerKind, tmp_path: Path, seen: list[int]) -> None:
    log = BinlogBuilder(server)
    for number in range(100):
        log.transaction(insert(ITEMS, (number,)))
    log.stop()
    report = verify_logs(log.save(tmp_path), in_bulk=True)
    assert report.summary.transactions == 100
    assert report.summary.events - len(seen) > 390


@pytest.mark.parametrize("name", SMALL_LOGS)
def test_reports_about_a_log_with_any_flipped_byte_are_the_same(name: str, tmp_path: Path) -> None:
    content = small_log(name)
    path = tmp_path / "binlog.000001"
    for offset in range(4, len(content)):
        damaged = bytearray(content)
        damaged[offset] ^= 0xFF if offset % 2 else 0x01
        path.write_bytes(damaged)
        verify_twice(path)


@pytest.mark.parametrize("name", [name for name in SMALL_LOGS if "none" not in name])
def test_reports_are_the_same_if_the_checksum_of_a_wrong_event_matches(name: str, tmp_path: Path) -> None:
    """As the bytes of a server with a bug would be, or of a later version."""
    content = small_log(name)
    path = tmp_path / "binlog.000001"
    path.write_bytes(content)
    for frame in frames_of(path)[1:]:
        for offset in range(frame.offset, frame.end_offset - 4):
            damaged = bytearray(content)
            damaged[offset] ^= 0x01 if offset % 2 else 0x80
            path.write_bytes(with_checksum(damaged, frame))
            verify_twice(path)


@settings(max_examples=examples(25))
@given(logs(damage=False), st.data())
def test_reports_about_random_and_cut_logs_are_the_same(log: RandomLog, data: st.DataObject) -> None:
    content = log.content
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 200)))
    verify_content(content[:start] + data.draw(st.binary(max_size=8)) + content[end:])


@settings(max_examples=examples(60))
@given(data=st.data())
def test_reports_about_logs_whose_events_are_shuffled_are_the_same(data: st.DataObject) -> None:
    """Events are lost, repeated and moved, and have their true positions again."""
    content = data.draw(st.sampled_from([chain(server, files=1).content for server in (MYSQL_9_7, MARIADB_10_11)]))
    verify_content(b"".join(_rearranged(content, data)))


def _rearranged(content: bytes, data: st.DataObject) -> Iterator[bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "binlog.000001"
        path.write_bytes(content)
        first, *others = frames_of(path)
    yield content[: first.end_offset]
    offset = first.end_offset
    for number in data.draw(st.lists(st.integers(0, len(others) - 1), max_size=30)):
        event = bytearray(others[number].data)
        offset += len(event)
        event[13:17] = struct.pack("<I", offset)
        event[-4:] = struct.pack("<I", crc32(bytes(event[:-4])))
        yield bytes(event)


def test_repeated_gtids_are_found_between_those_that_are_skipped(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    for number in (*range(2, 40), *range(10, 15), *range(40, 60), 7):
        log.transaction(insert(ITEMS, (number,)), gtid=f"{SOURCE}:{number}")
    log.stop()
    report = verify_twice(log.save(tmp_path))
    assert codes(report).count("gtid-duplicate") == 6


def test_skipped_numbers_of_mariadb_are_found_between_those_that_are_skipped(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_10_11)
    for number in (*range(1, 30), *range(32, 50), *range(45, 60)):
        log.transaction(insert(ITEMS, (number,)), gtid=f"0-1-{number}")
    log.stop()
    report = verify_twice(log.save(tmp_path))
    assert {"gtid-gap", "gtid-order"} <= set(codes(report))


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(1, 12)), max_size=20), st.integers(1, 60), st.integers(1, 12))
def test_intervals_are_added_as_their_numbers_would_be(
    intervals: list[tuple[int, int]], start: int, length: int
) -> None:
    one_by_one, at_once, source = set[int](), GtidSetBuilder(), (SOURCE, "")
    for first, count in intervals:
        at_once.add_interval(source, (first, first + count))
        one_by_one |= set(range(first, first + count))
    expected = GtidSet(f"{SOURCE}:{':'.join(map(str, sorted(one_by_one)))}" if one_by_one else "")
    assert at_once.freeze() == expected
    assert at_once.overlaps(source, (start, start + length)) == bool(one_by_one & set(range(start, start + length)))
