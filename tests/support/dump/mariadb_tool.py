"""`mariadb-binlog` and `binspark dump` with the same arguments, for tests that compare their output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from binspark.cli.main import main
from binspark.testing.servers import MariaDB, ServerUnavailable
from binspark.testing.servers.programs import Programs, find_programs

VERSION = "10.11."
"""The tool whose text binspark writes: that of other versions differs in details."""

OPTION_SETS = (
    (),
    ("-v",),
    ("-vv",),
    ("--hexdump",),
    ("--hexdump", "-vv"),
    ("--base64-output=never",),
    ("--base64-output=never", "-v"),
    ("--base64-output=decode-rows", "-vv"),
    ("--base64-output=unspec",),
    ("--short-form",),
    ("--short-form", "-v", "--print-row-count"),
    ("--short-form", "--print-row-event-positions"),
    ("--skip-print-row-count",),
    ("--skip-print-row-event-positions",),
    ("--print-table-metadata",),
    ("--database=shop", "-v"),
    ("--database=other",),
    ("--table=t",),
    ("--table=nope", "-v"),
    ("--rewrite-db=shop->boutique",),
    ("--rewrite-db=shop->boutique", "-v", "--hexdump"),
    ("--rewrite-db=shop->s", "--database=shop"),
    ("--offset=3",),
    ("--offset=7", "-v"),
    ("--disable-log-bin",),
    ("--set-charset=latin1",),
    ("--skip-annotate-row-events",),
    ("--server-id=1",),
    ("--server-id=2",),
    ("--ignore-server-ids=1",),
    ("--do-domain-ids=0",),
    ("--ignore-domain-ids=0",),
    ("--start-position=400",),
    ("--start-position=0-1-3",),
    ("--stop-position=0-1-4",),
    ("--start-position=0-1-2", "--stop-position=0-1-5", "-v"),
    ("--skip-gtid-strict-mode", "-vvv"),
    ("--verify-binlog-checksum",),
    ("--skip-force-if-open",),
)


@pytest.fixture(scope="session")
def mariadb_tool() -> Programs:
    """The programs of MariaDB, `mariadb-binlog` among them."""
    try:
        programs = find_programs(MariaDB)
    except ServerUnavailable as error:
        if os.environ.get("BINSPARK_REQUIRE_SERVERS") == "1":
            pytest.fail(f"mariadb-binlog is not available: {error}")
        pytest.skip(f"mariadb-binlog is not available: {error}")
    if not programs.version.startswith(VERSION):
        pytest.skip(f"mariadb-binlog is of version {programs.version}; its text is compared for {VERSION}x")
    return programs


def assert_same_text(programs: Programs, folder: Path, options: Sequence[str], *logs: Path) -> bytes:
    """Check that both print the same, and return it. Files of LOAD DATA have the same names in both."""
    arguments = [f"--local-load={folder}", *options, *map(str, logs)]
    expected = programs.run(MariaDB.log_reader, "--no-defaults", *arguments).stdout
    with _without_files(folder):
        printed = CliRunner().invoke(main, ["dump", "--timezone=UTC", *arguments], standalone_mode=False).stdout_bytes
    difference = next(_differences(expected, printed), "")
    assert not difference, f"{' '.join(options)}: {difference}"
    return printed


@contextmanager
def _without_files(folder: Path) -> Iterator[None]:
    """Remove the files of LOAD DATA that the tool wrote, so that binspark gives its own the same names."""
    for file in folder.glob("SQL_LOAD_MB-*"):
        file.unlink()
    yield
    for file in folder.glob("SQL_LOAD_MB-*"):
        file.unlink()


def _differences(expected: bytes, printed: bytes) -> Iterator[str]:
    if expected == printed:
        return
    lines, ours = expected.split(b"\n"), printed.split(b"\n")
    for number, (one, other) in enumerate(zip(lines, ours, strict=False), 1):
        if one != other:
            yield f"line {number}: expected {one!r}, got {other!r}"
    yield f"expected {len(lines)} lines, got {len(ours)}"
