"""The corpus has the logs in its README, each with the output of the server's own reader."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.corpus.cases import CORPUS, TRUNCATED_CASES, case_logs, case_of, corpus_logs, log_id, witness

HEADER = struct.Struct("<IBIIIH")
MAGIC = b"\xfebin"
SIZE_LIMIT = 10_000_000  # logs, the text of their witnesses, and the JSON lines they decode to

every_log = pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
really_every_log = pytest.mark.parametrize("log", corpus_logs(encrypted=True, truncated=True), ids=log_id)


def end_of_last_event(content: bytes) -> int:
    offset = len(MAGIC)
    while offset + HEADER.size <= len(content):
        offset += HEADER.unpack_from(content, offset)[3]
    return offset


@every_log
def test_headers_chain_from_the_magic_to_the_end(log: Path) -> None:
    content = log.read_bytes()
    assert content.startswith(MAGIC)
    assert end_of_last_event(content) == len(content)


@pytest.mark.parametrize("case", TRUNCATED_CASES)
def test_a_log_cut_by_a_crash_ends_inside_an_event(case: str) -> None:
    (log,) = case_logs(case)
    content = log.read_bytes()
    assert end_of_last_event(content) != len(content)


@really_every_log
def test_every_log_has_the_output_of_mysqlbinlog(log: Path) -> None:
    assert "End of log file" in witness(log)


@really_every_log
def test_the_readme_names_its_case(log: Path) -> None:
    assert f"`{case_of(log)}`" in (CORPUS / "README.md").read_text()


def test_both_families_are_recorded() -> None:
    assert len(corpus_logs("mysql")) > 30
    assert len(corpus_logs("mariadb")) > 30


def test_an_encrypted_mysql_log_has_its_own_magic() -> None:
    assert {log.read_bytes()[:4] for log in case_logs("mysql/encrypted")} == {b"\xfdbin"}


def test_the_corpus_stays_small() -> None:
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < SIZE_LIMIT
