"""Scripts of sessions and tables whose characters end with the byte of a backslash, a backtick or a bar."""

from __future__ import annotations

from pathlib import Path

import pytest

import binspark
from binspark.testing.servers import Family, MySQL, Server
from tests.support.restored import apply, archived, contents, drop_all, pair
from tests.support.servers import StartServer, database, every_family, shared
from tests.support.sql.round_trips import logs_of, script_of

__all__ = ["database", "shared"]

CODECS = {"gbk": "gbk", "big5": "big5", "sjis": "shift_jis", "cp932": "cp932", "gb18030": "gb18030"}
OF_MYSQL = ("gb18030",)
LAST_BYTES = b"\\`|"


def charsets_of(family: Family) -> list[str]:
    return [charset for charset in CODECS if family is MySQL or charset not in OF_MYSQL]


def odd_characters(codec: str) -> str:
    """Return a character for each byte that means something else in ASCII."""
    pairs = [[bytes([first, last]) for first in range(0x88, 0xF0)] for last in LAST_BYTES]
    decoded = ([pair.decode(codec, "ignore") for pair in some] for some in pairs)
    return "".join(next(text for text in some if len(text) == 1 and not text.isascii()) for some in decoded)


def statements(charset: str) -> bytes:
    """Return statements with odd characters in values, names and comments, in their character set.

    Names have no backtick in a character, which MariaDB writes wrong; those of routines and views are plain: MySQL
    writes them in UTF-8 into statements of any character set.
    """
    odd = odd_characters(CODECS[charset])
    escape, name = odd[0], odd[0] + odd[2]
    text = f"""
CREATE DATABASE `{charset}{name}` CHARACTER SET {charset};
CREATE TABLE `{charset}{name}`.`t{name}` (`c{name}` INT);
CREATE DATABASE `中{charset}` CHARACTER SET {charset};
USE `中{charset}`;
CREATE TABLE `t{name}` (
  id INT PRIMARY KEY AUTO_INCREMENT, `c{name}` VARCHAR(100) COMMENT 'a {escape}', w VARCHAR(9) CHARACTER SET utf8mb4
) COMMENT '{escape}';
INSERT INTO `t{name}` (`c{name}`, w) VALUES ('{escape}', '{odd}'), ('{odd};', ''), ('it''s {escape}', 'x');
INSERT INTO `t{name}` (`c{name}`) VALUES ('{escape}'), ('; DROP TABLE `t{name}`; -- {escape}');
INSERT INTO `t{name}` (`c{name}`) /* {escape} ; ' */ VALUES ('comment {escape} */ -- ') -- {escape}
;
SET @`v{name}` = '{odd}';
INSERT INTO `t{name}` (`c{name}`) VALUES (@`v{name}`);
CREATE TABLE plain (c VARCHAR(100));
SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES';
INSERT INTO "plain" ("c") VALUES ('\\'), ('{escape}\\'), ('{escape}');
SET sql_mode = DEFAULT;
INSERT INTO `t{name}` (`c{name}`) VALUES ('\\'{escape}\\\\'), ('a
{escape}
b');
UPDATE `t{name}` SET w = 'y{escape}' WHERE `c{name}` = '{escape}';
DELETE FROM `t{name}` WHERE `c{name}` = '{odd};';
DELIMITER //
CREATE PROCEDURE p() BEGIN INSERT INTO `t{name}` (`c{name}`) VALUES ('{escape}'); SELECT '{escape};'; END//
CREATE VIEW w AS SELECT '{odd}' AS `{name}`//
CREATE TRIGGER g BEFORE INSERT ON plain FOR EACH ROW SET @x = '{escape}'//
DELIMITER ;
CALL p();
"""
    return text.encode(CODECS[charset])


def run(server: Server, script: bytes, *options: str) -> None:
    reached = ("--no-defaults", f"--socket={server.socket}", "--user=root", *options)
    done = server.programs.run(server.family.client, *reached, stdin=script)
    assert not done.returncode, done.stderr.decode(errors="replace")[-2000:]


def routines(server: Server) -> list[tuple[object, ...]]:
    names = "SELECT routine_schema, routine_name, routine_definition FROM information_schema.routines"
    views = "SELECT table_schema, table_name, view_definition FROM information_schema.views"
    own = " WHERE {}_schema NOT IN ('sys', 'mysql') ORDER BY 1, 2"
    return [*server.query(names + own.format("routine")), *server.query(views + own.format("table"))]


@every_family
@pytest.mark.parametrize("binlog_format", ["STATEMENT", "ROW"])
def test_scripts_are_the_same_statements_in_any_character_set(
    family: Family, binlog_format: str, start_server: StartServer, tmp_path: Path
) -> None:
    options = {"binlog-format": binlog_format, "binlog-row-metadata": "FULL"}
    comments = "binlog-rows-query-log-events" if family is MySQL else "binlog-annotate-row-events"
    source, target = pair(family, start_server, {**options, comments: 1}, options)
    charsets = charsets_of(family)
    for charset in charsets:
        run(source, statements(charset), f"--default-character-set={charset}", "--comments")
    archive = archived(source, tmp_path / "archive")
    logs = sorted(map(str, archive.iterdir()))
    expected = contents(source), routines(source)
    script = b"".join(binspark.sql(logs))
    for reader in (*charsets, "utf8mb4", "latin1"):
        drop_all(target)
        run(target, script, f"--default-character-set={reader}", "--init-command=SET sql_mode='ANSI_QUOTES'")
        assert (contents(target), routines(target)) == expected, reader
    drop_all(target)
    apply(archive, target)
    assert (contents(target), routines(target)) == expected


@every_family
def test_rows_in_any_character_set_are_undone(shared: Server, family: Family) -> None:
    charsets = charsets_of(family)
    with logs_of(shared) as logs:
        for charset in charsets:
            run(shared, statements(charset), f"--default-character-set={charset}")
    script = script_of(logs, undo=True, skip_statements=True)
    run(shared, script, "--default-character-set=gbk", "--init-command=SET sql_mode='ANSI_QUOTES'")
    for charset in charsets:
        odd = odd_characters(CODECS[charset])
        for table in (f"t{odd[0]}{odd[2]}", "plain"):
            assert shared.query(f"SELECT COUNT(*) FROM `中{charset}`.`{table}`") == [(0,)]
        for schema in (f"中{charset}", f"{charset}{odd[0]}{odd[2]}"):
            shared.query(f"DROP DATABASE `{schema}`")


@every_family
def test_a_client_that_changes_line_ends_is_stopped(shared: Server, database: str) -> None:
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {database}.t (c VARBINARY(9))")
    with logs_of(shared) as logs, shared.connect() as connection:
        connection.query("SET SESSION binlog_format = STATEMENT")
        connection.query(f"INSERT INTO {database}.t VALUES ('a\r\nb')")
    shared.query(f"DELETE FROM {database}.t")
    script = script_of(logs, tables=f"{database}.*")
    with pytest.raises(AssertionError, match="run this script with --binary-mode"):
        run(shared, script)
    run(shared, script, "--binary-mode")
    assert shared.query(f"SELECT c FROM {database}.t") == [(b"a\r\nb",)]
