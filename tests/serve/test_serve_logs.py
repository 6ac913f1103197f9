"""Logs of many kinds through a served archive: a copy of them is the same, byte for byte, whatever they contain."""

from __future__ import annotations

import gzip
import resource
import shutil
import threading
from pathlib import Path

import pytest

import binspark
from binspark.errors import OptionError, Server, SourceError
from binspark.frames import EventCode, HeaderFlag
from binspark.gtid import GtidSet
from binspark.replication.commands import BinlogDump, BinlogDumpGtid, DumpFlag
from binspark.serve.server import ArchiveServer
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from tests.corpus.cases import CORPUS
from tests.support.serve.clients import SECONDS, config_of, dumped, dumping, refusal, serving

CASES = [
    *("mysql/big-row", "mysql/checksum-none", "mysql/compressed", "mysql/gtid-gaps", "mysql/gtid-off"),
    *("mysql/gtid-tagged", "mysql/incident", "mysql/load-data", "mysql/restart-after-crash", "mysql/rotation"),
    *("mariadb/annotate-off", "mariadb/checksum-none", "mariadb/compressed", "mariadb/format-statement"),
    *("mariadb/gtid-domains", "mariadb/large-transaction", "mariadb/restart-after-crash", "mariadb/rotation"),
]
FLAGS = 4 + 17


def logs_of(folder: Path) -> dict[str, bytes]:
    """Read logs, without the flag that a log is in use: an archiver sets it in the last one until it knows better."""
    logs = {path.name: bytearray(path.read_bytes()) for path in folder.iterdir() if path.suffix[1:].isdecimal()}
    for content in logs.values():
        content[FLAGS] &= ~HeaderFlag.BINLOG_IN_USE
    return {name: bytes(content) for name, content in logs.items()}


def copy_served(source: Path | str, target: Path) -> dict[str, bytes]:
    with serving(source) as served:
        binspark.open_archiver(target, config_of(served), until="end").run()
    return logs_of(target)


def built(folder: Path, log: BinlogBuilder) -> Path:
    folder.mkdir(exist_ok=True)
    for file in log.files:
        (folder / file.name).write_bytes(file.content)
    return folder


def two_logs() -> BinlogBuilder:
    orders = table("shop.orders", integer("id"))
    log = BinlogBuilder()
    for number in range(3):
        log.transaction(insert(orders, (number,)))
    log.rotate()
    for number in range(3):
        log.transaction(insert(orders, (10 + number,)))
    return log


@pytest.mark.parametrize("case", CASES)
def test_a_copy_of_a_served_log_is_the_log(case: str, tmp_path: Path) -> None:
    assert copy_served(CORPUS / case, tmp_path / "copy") == logs_of(CORPUS / case)


def test_events_that_need_several_packets_arrive(tmp_path: Path) -> None:
    log = BinlogBuilder()
    for size in ((1 << 18) - 130, (1 << 18) - 60, 1 << 18, 1 << 20, (1 << 24) - 130, 34 << 20):
        log.query("x" * size)
    source = built(tmp_path / "source", log)
    assert copy_served(source, tmp_path / "copy") == logs_of(source)


def test_an_event_of_exactly_16_mib_is_followed_by_an_empty_packet(tmp_path: Path) -> None:
    log = BinlogBuilder()
    before = len(log.files[-1].content)
    log.query("")
    overhead = len(log.files[-1].content) - before
    log.query("x" * (0xFFFFFF - len("\0") - overhead))
    log.query("after it")
    source = built(tmp_path / "source", log)
    assert copy_served(source, tmp_path / "copy") == logs_of(source)


def test_compressed_logs_are_served_as_what_they_contain(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for path in (CORPUS / "mysql/rotation").iterdir():
        if path.suffix[1:].isdecimal():
            (source / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert copy_served(source, tmp_path / "copy") == logs_of(CORPUS / "mysql/rotation")


@pytest.mark.parametrize(("family", "keys"), [("mysql", "keyring"), ("mariadb", "keys.txt")])
def test_encrypted_logs_are_served_decrypted(family: str, keys: str, tmp_path: Path) -> None:
    case = CORPUS / family / "encrypted"
    with serving(case, keyring=case / keys) as served:
        binspark.open_archiver(tmp_path / "copy", config_of(served), until="end").run()
    copied = [(event.type, event.offset, event.body) for event in binspark.events(tmp_path / "copy")]
    assert copied == [(event.type, event.offset, event.body) for event in binspark.events(case, keyring=case / keys)]
    assert len(copied) > 10


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_encrypted_logs_without_their_keys_are_refused(family: str) -> None:
    with pytest.raises(binspark.BinlogError, match=r"log is encrypted.*keyring|keyring is required.*encrypted"):
        binspark.open_server(CORPUS / family / "encrypted", port=0)


def test_a_log_that_grows_is_followed_into_the_next_one(tmp_path: Path) -> None:
    first, second = (file.content for file in two_logs().files)
    archive = tmp_path / "archive"
    archive.mkdir()
    active = archive / "binlog.000001"
    active.write_bytes(first[:300])  # inside an event
    command = BinlogDump(4, DumpFlag.NONE, 9, "binlog.000001")
    with serving(archive) as served, dumping(config_of(served), command) as channel:
        packets = [bytes(channel.read(SECONDS)) for _ in range(3)]
        active.write_bytes(first)
        (archive / "binlog.000002").write_bytes(second)
        sent = b"".join(packet[1:] for packet in packets[1:])
        while not sent.endswith(second[4:]):
            sent += bytes(channel.read(SECONDS))[1:]
    assert sent.startswith(first[4:])


def test_a_missing_log_is_an_error_and_nothing_is_left_out(tmp_path: Path) -> None:
    log = two_logs()
    log.rotate()
    source = built(tmp_path / "source", log)
    (source / "binlog.000002").unlink()
    with serving(source) as served:
        error = refusal(config_of(served), BinlogDump(4, DumpFlag.NON_BLOCK, 9, "binlog.000001"))
    assert error.message == "could not find next log; binlog.000002 is missing in the archive, later logs are there"


def test_damage_is_an_error_that_says_where(tmp_path: Path) -> None:
    source = built(tmp_path / "source", two_logs())
    path = source / "binlog.000001"
    content = bytearray(path.read_bytes())
    content[-50] ^= 1  # in the last XID
    path.write_bytes(content)
    with serving(source) as served:
        error = refusal(config_of(served), BinlogDump(4, DumpFlag.NON_BLOCK, 9, "binlog.000001"))
        with pytest.raises(Server, match="event read from binlog did not pass crc check"):
            binspark.open_archiver(tmp_path / "copy", config_of(served), until="end").run()
    assert error.code == 1236
    assert error.message.startswith("event read from binlog did not pass crc check; the first event 'binlog.000001'")


def test_a_position_inside_an_event_is_an_error(tmp_path: Path) -> None:
    source = built(tmp_path / "source", two_logs())
    with serving(source) as served:
        for offset in (5, 200):
            error = refusal(config_of(served), BinlogDump(offset, DumpFlag.NON_BLOCK, 9, "binlog.000001"))
            assert error.message.startswith(f"bogus data in log event; the first event 'binlog.000001' at {offset}")


def test_a_reader_that_does_not_know_checksums_is_refused(tmp_path: Path) -> None:
    source = built(tmp_path / "source", two_logs())
    with serving(source) as served:
        error = refusal(config_of(served), BinlogDump(4, DumpFlag.NON_BLOCK, 9, "binlog.000001"), {})
    assert "can not handle replication events with the checksum" in error.message


def test_a_reader_that_does_not_know_gtids_of_mariadb_is_refused() -> None:
    with serving(CORPUS / "mariadb/rotation") as served:
        command = BinlogDump(4, DumpFlag.NON_BLOCK, 9, "")
        error = refusal(config_of(served), command, {"master_binlog_checksum": "CRC32"})
    assert "SET @mariadb_slave_capability = 4" in error.message


def test_gtids_that_the_reader_has_are_not_sent() -> None:
    case = CORPUS / "mysql/gtid-tagged"
    with serving(case) as served:
        everything = dumped(config_of(served), BinlogDumpGtid(DumpFlag.NON_BLOCK, 9, GtidSet()))
        with binspark.connect(config_of(served)) as connection:
            executed = GtidSet(str(connection.rows("SELECT @@GLOBAL.gtid_executed")[0][0]))
        nothing = dumped(config_of(served), BinlogDumpGtid(DumpFlag.NON_BLOCK, 9, executed))
    assert executed.tagged
    codes = [packet[5] for packet in nothing[:-1]]
    assert EventCode.GTID_TAGGED not in codes
    assert EventCode.QUERY not in codes
    assert EventCode.GTID_TAGGED in [packet[5] for packet in everything[:-1]]


def test_gtids_in_many_intervals_and_with_tags_are_skipped_one_by_one(tmp_path: Path) -> None:
    log = BinlogBuilder()
    orders = table("shop.orders", integer("id"))
    for number in range(300):
        log.transaction(insert(orders, (number,)))
    source = built(tmp_path / "source", log)
    uuid = log.executed.uuids[0]
    every_second = GtidSet(",".join(f"{uuid}:{number}" for number in range(1, 300, 2)))
    for had in (every_second, GtidSet(f"{uuid}:1-5:9-10:290-295"), GtidSet(f"{uuid}:tag:1-5")):
        with serving(source) as served:
            sent = dumped(config_of(served), BinlogDumpGtid(DumpFlag.NON_BLOCK, 9, had))
        numbers = [int.from_bytes(packet[37:45], "little") for packet in sent if packet[5:6] == bytes([EventCode.GTID])]
        assert numbers == [number for number in range(1, 301) if f"{uuid}:{number}" not in had]


def test_many_readers_at_once_get_everything(tmp_path: Path) -> None:
    source = CORPUS / "mysql/large-transaction"
    copies: dict[int, dict[str, bytes]] = {}
    with serving(source) as served:

        def copy(number: int) -> None:
            binspark.open_archiver(tmp_path / str(number), config_of(served), until="end").run()
            copies[number] = logs_of(tmp_path / str(number))

        threads = [threading.Thread(target=copy, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert list(copies.values()) == [logs_of(source)] * 8


def test_a_reader_that_takes_nothing_costs_no_memory_and_can_be_left(tmp_path: Path) -> None:
    log = BinlogBuilder()
    for _ in range(64):
        log.query("x" * (1 << 20))
    source = built(tmp_path / "source", log)
    del log
    with serving(source) as served:
        read_some(served, 1)  # whatever is loaded once is loaded now
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with dumping(config_of(served), BinlogDump(4, DumpFlag.NONE, 9, "binlog.000001")):
            read_some(served, 2)
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10  # kilobytes


def read_some(served: ArchiveServer, server_id: int) -> None:
    """Read the beginning of a dump."""
    with dumping(config_of(served), BinlogDump(4, DumpFlag.NONE, server_id, "binlog.000001")) as channel:
        for _ in range(5):
            channel.read(SECONDS)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["a.000001", "b.000001"], r"logs of several servers \(a, b\), expected one base name"),
        (["one", "two"], "no binary log here has a number"),
        ([], "no binary log in this directory"),
    ],
)
def test_what_is_not_an_archive_of_one_server_is_refused(files: list[str], message: str, tmp_path: Path) -> None:
    for name in files:
        shutil.copy(CORPUS / "mysql/rotation/binlog.000001", tmp_path / name)
    with pytest.raises((OptionError, SourceError), match=message):
        binspark.open_server(tmp_path, port=0)


def test_a_relay_log_is_refused(tmp_path: Path) -> None:
    relay = next(path for path in (CORPUS / "mysql/replica").glob("relay.0*") if path.suffix[1:].isdecimal())
    shutil.copy(relay, tmp_path)
    with pytest.raises(OptionError, match="a relay log cannot be served"):
        binspark.open_server(tmp_path, port=0)


def test_a_log_that_is_removed_is_no_longer_served(tmp_path: Path) -> None:
    source = built(tmp_path / "source", two_logs())
    with serving(source) as served, binspark.connect(config_of(served)) as connection:
        assert [row[0] for row in connection.rows("SHOW BINARY LOGS")] == ["binlog.000001", "binlog.000002"]
        (source / "binlog.000001").unlink()
        assert [row[0] for row in connection.rows("SHOW BINARY LOGS")] == ["binlog.000002"]
        error = refusal(config_of(served), BinlogDump(4, DumpFlag.NON_BLOCK, 9, "binlog.000001"))
        assert error.message == "Could not find first log file name in binary log index file"
        purged = refusal(config_of(served), BinlogDumpGtid(DumpFlag.NON_BLOCK, 9, GtidSet()))
        assert "purged required binary logs" in purged.message
