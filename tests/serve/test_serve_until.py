"""Where a dump ends for START SLAVE UNTIL master_gtid_pos: after a transaction, in each domain, while logs grow."""

from __future__ import annotations

from pathlib import Path

import pytest

import binspark
from binspark.event.mariadb import GtidListFlag
from binspark.files import LogSource
from binspark.frames import EventCode
from binspark.gtid import MariadbGtid, MariadbPosition, MariadbState
from binspark.replication.commands import BinlogDump, DumpFlag
from binspark.replication.packets import is_end
from binspark.serve.logs import ServedLog
from binspark.serve.until import MariadbUntil, TransactionEnd, find_end
from binspark.transactions import transactions
from tests.corpus.cases import case_logs
from tests.support.serve.clients import PLAIN, SECONDS, config_of, dumping, serving


def gtid(text: str) -> MariadbGtid:
    return MariadbGtid.parse(text)


def test_each_domain_ends_at_its_gtid_and_others_are_skipped() -> None:
    until = MariadbUntil(MariadbPosition("0-1-3,1-1-5"), MariadbState("0-1-1"))
    skipped = [until.skips(gtid(text)) for text in ("0-1-2", "2-1-1", "0-2-9", "0-1-3", "0-1-4", "1-1-4")]
    assert skipped == [False, True, False, False, True, False]
    assert not until.is_reached
    assert not until.skips(gtid("1-1-5"))
    assert until.is_reached
    assert gtid("0-2-9") in until.state
    assert gtid("2-1-1") in until.state


def test_a_gtid_that_the_log_lacks_ends_before_the_next_one() -> None:
    until = MariadbUntil(MariadbPosition("0-1-3"), MariadbState())
    assert [until.skips(gtid(text)) for text in ("0-1-2", "0-1-4")] == [False, True]
    assert until.is_reached


def test_what_is_before_the_log_is_reached() -> None:
    assert MariadbUntil(MariadbPosition("0-1-3"), MariadbState("0-1-7")).is_reached


@pytest.mark.parametrize(
    "case",
    ["rotation", "gtid-domains", "ddl", "format-statement", "load-data", "savepoints", "non-transactional", "types"],
)
def test_the_end_of_every_transaction_is_found(case: str) -> None:
    for log in case_logs(f"mariadb/{case}"):
        served = ServedLog(log.name, LogSource(str(log)))
        found = [each for each in transactions(binspark.events(log)) if each.gtid is not None and each.complete]
        assert [find_end(served, each.start) for each in found] == [TransactionEnd(each.end, True) for each in found]


def test_a_transaction_that_is_cut_off_is_not_complete(tmp_path: Path) -> None:
    log = case_logs("mariadb/rotation")[0]
    last = list(transactions(binspark.events(log)))[-1]
    events = [event.offset for event in binspark.events(log) if last.start < event.offset < last.end]
    copy = tmp_path / log.name
    for size in (events[-1], events[-1] + 5, events[-1] + 30):
        copy.write_bytes(log.read_bytes()[:size])
        assert find_end(ServedLog(copy.name, LogSource(str(copy))), last.start) == TransactionEnd(events[-1], False)


def test_a_dump_waits_for_the_rest_of_the_last_transaction(tmp_path: Path) -> None:
    log = case_logs("mariadb/rotation")[0]
    content = log.read_bytes()
    found = [each for each in transactions(binspark.events(log)) if each.gtid is not None]
    first, last = found[0], found[-1]
    cut = [event.offset for event in binspark.events(log) if last.start < event.offset < last.end][-1]
    copy = tmp_path / log.name
    copy.write_bytes(content[:cut])
    wanted = {**PLAIN, "slave_connect_state": str(first.gtid), "slave_until_gtid": str(last.gtid)}
    packets: list[bytes] = []
    with serving(tmp_path) as served, dumping(config_of(served), BinlogDump(4, DumpFlag(0), 4711, ""), wanted) as dump:
        while not packets or end_of(packets[-1]) < cut:
            packets.append(bytes(dump.read(SECONDS)))
        with open(copy, "ab") as file:
            file.write(content[cut:])
        while not is_end(packets[-1]):
            packets.append(bytes(dump.read(SECONDS)))
    *_, commit, reached, _end = packets
    assert (type_of(commit), end_of(commit)) == (EventCode.XID, last.end)
    assert (type_of(reached), end_of(reached)) == (EventCode.GTID_LIST, last.end)
    assert int.from_bytes(reached[20:24], "little") & GtidListFlag.UNTIL_REACHED


def type_of(packet: bytes) -> int:
    return packet[5]


def end_of(packet: bytes) -> int:
    """Return the next position of the event in a packet."""
    return int.from_bytes(packet[14:18], "little")
