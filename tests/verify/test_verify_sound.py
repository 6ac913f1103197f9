"""Logs of real servers are intact, except where something really happened to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.files import read_events
from binspark.frames import ChecksumAlgorithm, Framer
from binspark.frames import EventCode as E
from binspark.testing.builder import (
    ALL_SERVERS,
    MARIADB_11_8,
    MYSQL_9_7,
    BinlogBuilder,
    HeaderFields,
    Overrides,
    ServerKind,
    event_bytes,
)
from binspark.transactions import transactions
from binspark.verify import Verdict, verify_logs
from binspark.verify.checks import LogKind
from binspark.verify.event_check import EventCheck
from binspark.verify.findings import Findings
from tests.corpus.cases import CORPUS, ENCRYPTED_CASES, FAMILIES, case_of, corpus_logs, log_id
from tests.support.verify.logs import chain, codes, errors, infos, mariadb_chain, verify_built, warnings

LOG_FORMAT = MYSQL_9_7.log_format(ChecksumAlgorithm.CRC32)

CASES = sorted(folder.relative_to(CORPUS).as_posix() for family in FAMILIES for folder in (CORPUS / family).iterdir())
HAPPENED = {
    "mysql/crash": ["in-use"],
    "mariadb/crash": ["in-use"],
    "mysql/crash-truncated": ["in-use", "unfinished-transaction", "truncated"],
    "mariadb/crash-truncated": ["in-use", "unfinished-transaction", "truncated"],
    "mysql/still-open": ["in-use"],
    "mariadb/still-open": ["in-use"],
    "mysql/restart-after-crash": ["no-end"],
    "mariadb/restart-after-crash": ["no-end", "in-use"],
    "mysql/incident": ["incident"],
    "mariadb/incident": ["incident"],
    "mysql/encrypted": ["encrypted"] * 4,
    "mariadb/encrypted": ["encrypted"] * 4,
    "mysql/checksum-none": ["no-checksums"],
    "mariadb/checksum-none": ["no-checksums"],
    "mysql/compressed-checksum-none": ["no-checksums"],
    "mysql/group-replication": ["no-checksums"] * 2,
    "mysql/gtid-gaps": ["gtid-gap"],
    "mysql/gtid-tagged": ["gtid-gap"],
}
WHOLE_LOGS = [log for log in corpus_logs() if case_of(log).partition("/")[2] != "crash-truncated"]
BROKEN = {"crash-truncated", "incident", "encrypted"}


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_case_has_exactly_the_expected_findings(case: str) -> None:
    report = verify_logs(CORPUS / case)
    assert codes(report) == HAPPENED.get(case, [])
    assert report.ok == (case.partition("/")[2] not in BROKEN)


@pytest.mark.parametrize("case", sorted(set(CASES) - set(ENCRYPTED_CASES)))
def test_a_recorded_log_is_read_to_its_last_byte(case: str) -> None:
    for file in verify_logs(CORPUS / case).files:
        assert file.bytes == Path(file.file).stat().st_size
        assert file.events > 0


def test_a_file_report_has_the_contents_of_the_file() -> None:
    first = verify_logs(CORPUS / "mysql/rotation").files[0]
    assert (first.events, first.transactions, first.bytes, first.sound_bytes) == (12, 3, 924, 924)
    assert (first.server_version, first.server_id, first.checksum) == ("9.7.4-2", 1, "crc32")
    assert first.gtids.endswith(":1-3")
    assert first.verdict is Verdict.INTACT
    assert first.first_time is not None
    assert first.first_time <= (first.last_time or 0)


@pytest.mark.parametrize("log", WHOLE_LOGS, ids=log_id)
def test_as_many_transactions_are_counted_as_the_assembler_finds(log: Path) -> None:
    assert verify_logs(log).summary.transactions == len(list(transactions(read_events(log))))


def test_transactions_inside_payloads_are_counted() -> None:
    plain, compressed = (verify_logs(CORPUS / case).summary for case in ("mysql/format-row", "mysql/compressed"))
    assert plain.transactions == compressed.transactions == 10


def test_mariadb_reports_the_last_gtid_of_each_domain_and_server() -> None:
    first = verify_logs(CORPUS / "mariadb/gtid-domains").files[0]
    assert first.gtids == "0-1-4,1-5-2,1-1-3,2-1-1000000000000,4294967295-7-1"


@pytest.mark.parametrize("server", ALL_SERVERS, ids=lambda server: server.server_version)
def test_a_built_chain_of_every_server_is_intact(server: ServerKind, tmp_path: Path) -> None:
    report = verify_built(chain(server), tmp_path)
    assert errors(report) == warnings(report) == []
    assert report.summary.transactions == 6


def test_positions_of_zero_are_legal_in_a_log_of_mariadb(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_11_8)
    log.mariadb_gtid("0-1-1")
    log.raw(E.ANNOTATE_ROWS, b"INSERT INTO t VALUES (1)", overrides=Overrides(next_position=0))
    log.xid(1)
    log.stop()
    assert codes(verify_built(log, tmp_path)) == []


def test_positions_past_four_gibibytes_wrap() -> None:
    offset = (1 << 32) - 10
    event = event_bytes(E.STOP, b"", HeaderFields(1, 1), LOG_FORMAT, offset)
    frame = next(Framer(LOG_FORMAT, offset).feed(event))
    findings = Findings("large")
    EventCheck(LogKind.of(frame, relay=False), findings).decode(frame)
    assert frame.header.next_position == len(event) - 10
    assert findings.kept == []


def test_chains_of_both_families_need_no_rotation_to_be_the_first_file(tmp_path: Path) -> None:
    for number, log in enumerate((chain(), mariadb_chain())):
        folder = tmp_path / str(number)
        folder.mkdir()
        later = log.save(folder)[1:]
        assert codes(verify_logs(later)) == ["chain-begins-late"]


def test_the_last_file_given_may_continue_in_another(tmp_path: Path) -> None:
    report = verify_logs(chain().save(tmp_path)[:2])
    assert infos(report) == ["chain-continues"]
    assert "binlog.000003" in report.findings[0].message
    assert report.ok
