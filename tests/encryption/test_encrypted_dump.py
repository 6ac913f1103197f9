"""Encrypted logs are dumped with their keyring: byte for byte what the servers' own tools print for them in clear."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.files import LogSource
from binspark.files.keyring_file import keyring_storage, load_keyring
from binspark.testing.servers.programs import Programs
from tests.corpus.cases import CORPUS, case_logs, log_id
from tests.support.dump import find_mysqlbinlog, first_difference, our_dump
from tests.support.dump.mariadb_tool import assert_same_text, mariadb_tool
from tests.support.encryption import encrypting
from tools.record_corpus.recorder import WITNESS_OPTIONS

__all__ = ["mariadb_tool"]

KEYRINGS = {
    "mysql": str(CORPUS / "mysql/encrypted/keyring"),
    "mariadb": str(CORPUS / "mariadb/encrypted/keys.txt"),
}
LOGS = {family: case_logs(f"{family}/encrypted") for family in KEYRINGS}
_METADATA = {"mysql": ("--print-table-metadata",), "mariadb": ()}
_START_ENCRYPTION = re.compile(rb"CRC32 0x\w+ \tIgnorable\n# Ignorable event type \d+ \([\w ]+\)")
"""In clear it is an event of another type, because what follows is not encrypted."""
_END = re.compile(rb"(?:SET @@SESSION.GTID_NEXT= 'AUTOMATIC'[^\n]*\n)?DELIMITER ;\n")
"""The last log was kept after its server was stopped, its text before: it may have more events."""


@pytest.mark.parametrize("log", [log for logs in LOGS.values() for log in logs], ids=log_id)
def test_the_dump_is_the_text_of_what_the_server_sent(log: Path) -> None:
    family = log.parent.parent.name
    ours = our_dump([log], "--keyring", KEYRINGS[family], *WITNESS_OPTIONS[:3], *_METADATA[family])
    ours, theirs = (_START_ENCRYPTION.sub(b"", text) for text in (ours, log.with_name(f"{log.name}.txt").read_bytes()))
    if log == LOGS[family][-1]:
        theirs = _END.split(theirs)[0]
        ours = ours[: len(theirs)]
    assert theirs.count(b"# at") > 2
    assert first_difference(ours, theirs) == ""


@pytest.mark.mysql
def test_a_log_of_mysql_is_dumped_as_mysqlbinlog_prints_it_in_clear(tmp_path: Path) -> None:
    mysqlbinlog = find_mysqlbinlog(tmp_path / "load")
    for log in LOGS["mysql"]:
        plain = in_clear(log, KEYRINGS["mysql"], tmp_path)
        mysqlbinlog.compare([plain], "-vv", "--hexdump")
        encrypted = our_dump([log], "-vv", "--hexdump", "--keyring", KEYRINGS["mysql"])
        assert first_difference(encrypted, our_dump([plain], "-vv", "--hexdump")) == ""


@pytest.mark.mariadb
def test_a_log_of_mariadb_is_dumped_as_its_tool_prints_it_in_clear(mariadb_tool: Programs, tmp_path: Path) -> None:
    for log in LOGS["mariadb"]:
        plain = in_clear(log, KEYRINGS["mariadb"], tmp_path)
        theirs = assert_same_text(mariadb_tool, tmp_path, ["-vv", "--hexdump"], plain)
        assert b"Ignorable event type 28" in theirs
        assert first_difference(our_dump([log], "-vv", "--hexdump", "--keyring", KEYRINGS["mariadb"]), theirs) == ""


@pytest.mark.parametrize("family", KEYRINGS)
def test_a_large_log_is_dumped_in_bulk_as_it_is_in_clear(family: str, tmp_path: Path) -> None:
    log = encrypting.mysql_log(600, size=6_000) if family == "mysql" else encrypting.mariadb_log(600, size=6_000)
    encrypted, plain = tmp_path / "binlog.000001", tmp_path / "clear.000001"
    assert len(log) > 1 << 20
    if family == "mysql":
        keyring = encrypting.save_mysql_keyring(tmp_path)
        encrypted.write_bytes(encrypting.encrypt_mysql(log))
        plain.write_bytes(log)
    else:
        keyring = encrypting.save_mariadb_keys(tmp_path)
        encrypted.write_bytes(encrypting.encrypt_mariadb(log))
        plain.write_bytes(encrypting.in_clear(log))
    ours = our_dump([encrypted], "-v", "--keyring", str(keyring))
    assert first_difference(ours, our_dump([plain], "-v")) == ""
    assert ours.count(b"### INSERT INTO") == 600


@pytest.mark.parametrize("family", KEYRINGS)
def test_a_dump_with_the_wrong_keyring_or_none_ends_with_the_reason(
    capsys: pytest.CaptureFixture[str], family: str
) -> None:
    other = KEYRINGS["mariadb" if family == "mysql" else "mysql"]
    for options, reason in ((["--keyring", other], other), ([], "--keyring FILE")):
        assert exit_code(["dump", str(LOGS[family][0]), *options]) == 1
        captured = capsys.readouterr()
        assert "binlog.000001" in captured.err
        assert reason in captured.err
        assert "Traceback" not in captured.err


def in_clear(log: Path, keyring: str, folder: Path) -> Path:
    """Write what is encrypted in a log."""
    storage = keyring_storage(load_keyring(keyring))
    assert storage is not None
    with LogSource(str(log), storage=storage).open() as file:
        (folder / log.name).write_bytes(file.read())
    return folder / log.name
