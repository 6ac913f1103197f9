"""`dump --where` prints what the server's own tool prints of the log that `cut --where` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import binspark
from binspark.cli.dump import dump_command
from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder, insert, integer, table, update
from binspark.testing.servers import MariaDB, MySQL
from binspark.testing.servers.programs import Programs
from tests.corpus.cases import case_logs
from tests.support.dump import first_difference, our_dump
from tests.support.dump.mariadb_tool import mariadb_tool
from tests.support.event.log_readers import reader_of

__all__ = ["mariadb_tool"]

OPTIONS: tuple[tuple[str, ...], ...] = ((), ("-vv",), ("--hexdump", "--base64-output=decode-rows", "-v"))
FILTERS = ("--where", "id > 1"), ("--where", "id = 2", "--exclude-tables", "shop.no*")
ORDERS = table("shop.orders", integer("id"))


def cut(logs: list[Path], folder: Path, *filters: str) -> Path:
    new = folder / "new.000001"
    new.unlink(missing_ok=True)
    assert exit_code(["cut", *map(str, logs), "-o", str(new), *filters]) == 0
    return new


@pytest.mark.mysql
@pytest.mark.parametrize("case", ["format-row", "compressed", "rotation", "multi-table"])
def test_rows_of_mysql_are_printed_as_mysqlbinlog_prints_what_is_cut(case: str, tmp_path: Path) -> None:
    programs = reader_of(MySQL)
    if not programs.version.startswith("9.7."):
        pytest.skip(f"mysqlbinlog is of version {programs.version}, not 9.7")
    logs = case_logs(f"mysql/{case}")
    for filters in FILTERS:
        new = cut(logs, tmp_path, *filters)
        for options in OPTIONS:
            theirs = programs.run("mysqlbinlog", "--no-defaults", *options, str(new)).stdout
            assert first_difference(our_dump(logs, *options, *filters), theirs) == ""


@pytest.mark.mariadb
@pytest.mark.parametrize("case", ["format-row", "multi-table", "gtid-domains"])
def test_rows_of_mariadb_are_printed_as_its_tool_prints_what_is_cut(
    case: str, mariadb_tool: Programs, tmp_path: Path
) -> None:
    logs = case_logs(f"mariadb/{case}")
    for filters in FILTERS:
        new = cut(logs, tmp_path, *filters)
        for options in OPTIONS:
            theirs = mariadb_tool.run(MariaDB.log_reader, "--no-defaults", *options, str(new)).stdout
            assert first_difference(our_dump(logs, *options, *filters), theirs) == ""


def updates() -> BinlogBuilder:
    builder = BinlogBuilder()
    builder.transaction(insert(ORDERS, (1,), (2,), (3,)))
    builder.transaction(update(ORDERS, ((1,), (10,)), ((2,), (20,))))
    builder.transaction(insert(ORDERS, (2,)))
    builder.stop()
    return builder


def test_only_the_rows_that_match_are_printed(tmp_path: Path) -> None:
    logs = updates().save(tmp_path)
    text = our_dump(logs, "-v", "--where", "id = 20").decode()
    assert text.count("### UPDATE `shop`.`orders`") == 1
    assert "###   @1=20\n" in text
    assert "@1=10\n" not in text
    assert "### INSERT" not in text
    assert (
        text.count("SET @@SESSION.GTID_NEXT= 'b8ae2fd2") == 3
    )  # a replica does not miss those of which nothing is left


def test_what_precedes_damage_is_printed(tmp_path: Path) -> None:
    (log,) = updates().save(tmp_path)
    *_, last = [event for event in binspark.events(log) if event.type == "WRITE_ROWS"]
    content = bytearray(log.read_bytes())
    content[last.offset + 30] ^= 0xFF
    log.write_bytes(content)
    result = CliRunner().invoke(dump_command, ["-v", "--where", "id = 2", str(log)])
    assert result.exit_code == 1
    assert "checksum mismatch" in result.stderr
    assert result.stdout.count("### INSERT INTO `shop`.`orders`") == 1
    assert result.stdout.count("### UPDATE") == 0
    assert result.stdout.endswith("/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n")
