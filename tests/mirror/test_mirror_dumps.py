"""A mirror that begins with a dump equals its source, whether the log comes from the server or from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.errors import OptionError
from binspark.mirror.run import Mirror
from binspark.mirror.settings import MirrorSettings, SnapshotMode
from binspark.mirror.source.change_source import ArchiveChanges, TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.support.mirror.dumps import dump_with
from tests.support.mirror.live_mirrors import assert_equal, make_mirror, run_mirror
from tests.support.servers import every_family


@pytest.fixture
def dump(shared: Server, database: str, tmp_path: Path) -> Path:
    """A dump of three tables, which are changed afterwards; another is created."""
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE orders (id INT PRIMARY KEY, amount DECIMAL(10,2), note TEXT);"
        "CREATE TABLE lines_ (order_id INT, line INT, what VARCHAR(20), PRIMARY KEY (order_id, line));"
        "CREATE TABLE log_ (what VARCHAR(20)); CREATE TABLE empty_ (id INT PRIMARY KEY);"
        "INSERT INTO orders VALUES (1, 1.5, 'a'), (2, 2.5, NULL), (3, 3.5, 'quote '' and ; end');"
        "INSERT INTO lines_ VALUES (1, 1, 'x'), (1, 2, 'y'), (2, 1, 'z'); INSERT INTO log_ VALUES ('same'), ('same')"
    )
    path = dump_with(shared, tmp_path / "dump.sql", "--databases", database)
    change(shared, database)
    return path


def change(server: Server, database: str) -> None:
    server.run_sql(
        f"USE {database}; UPDATE orders SET amount = amount + 1 WHERE id = 1; DELETE FROM orders WHERE id = 2;"
        "INSERT INTO orders SELECT MAX(id) + 1, 9, 'new' FROM orders; DELETE FROM log_ LIMIT 1;"
        "UPDATE lines_ SET line = line + 10 WHERE line = 1; INSERT INTO log_ VALUES ('other'), ('other');"
        "INSERT INTO empty_ SELECT MAX(id) FROM orders"
    )


def names(database: str) -> tuple[str, ...]:
    return tuple(f"{database}.{table}" for table in ("orders", "lines_", "log_", "empty_"))


@every_family
def test_a_mirror_that_begins_with_a_dump_equals_the_server(
    shared: Server, database: str, dump: Path, lake: Path, kind: Format
) -> None:
    shared.run_sql(f"CREATE TABLE {database}.later (id INT PRIMARY KEY); INSERT INTO {database}.later VALUES (7)")
    run_mirror(shared, lake, f"{database}.*", kind, from_dump=str(dump))
    assert_equal(shared, lake, *names(database), f"{database}.later", kind=kind)
    change(shared, database)
    run_mirror(shared, lake, f"{database}.*", kind, from_dump=str(dump))
    assert_equal(shared, lake, *names(database), kind=kind)


@every_family
def test_a_copy_of_a_dump_that_was_interrupted_is_completed(
    shared: Server, database: str, dump: Path, lake: Path
) -> None:
    class Killed(BaseException):
        pass

    mirror = make_mirror(shared, lake, f"{database}.*", from_dump=str(dump))
    copied: list[TableName] = []

    def kill(name: TableName, rows: int, expected: int) -> None:
        copied.append(name)
        if len(copied) == 2:
            raise Killed

    mirror.progress.copied = kill  # type: ignore[method-assign]
    with pytest.raises(Killed):
        mirror.run()
    run_mirror(shared, lake, f"{database}.*", from_dump=str(dump))
    assert_equal(shared, lake, *names(database))


@every_family
def test_a_dump_and_the_log_files_after_it_need_no_server(
    shared: Server, database: str, dump: Path, lake: Path
) -> None:
    patterns = TablePatterns(frozenset({f"{database}.*"}))
    source = ArchiveChanges(tuple(map(str, shared.log_files())), patterns)
    settings = MirrorSettings(
        once=True, from_dump=str(dump), snapshot=SnapshotMode.NEVER, retry_attempts=0, clean_up_seconds=0.0
    )
    Mirror(source, parse_target(str(lake), Format.DELTA), patterns, settings).run()
    assert_equal(shared, lake, *names(database))


@every_family
def test_a_dump_whose_log_the_server_does_not_have_is_refused(
    shared: Server, database: str, dump: Path, lake: Path
) -> None:
    text = dump.read_text()
    dump.write_text(text.replace("LOG_FILE='binlog.", "LOG_FILE='binlog.9"))
    with pytest.raises(OptionError, match=r"from_dump names binlog\.9\d+, which the server does not have"):
        run_mirror(shared, lake, f"{database}.*", from_dump=str(dump))


@every_family
def test_a_table_with_generated_columns_is_copied_from_the_server(
    shared: Server, database: str, tmp_path: Path, lake: Path
) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE a (id INT PRIMARY KEY, v INT AS (id + 1) STORED);"
        "CREATE TABLE b (id INT PRIMARY KEY); INSERT INTO a (id) VALUES (1), (2); INSERT INTO b VALUES (1)"
    )
    path = dump_with(shared, tmp_path / "dump.sql", "--databases", database)
    shared.run_sql(
        f"USE {database}; DELETE FROM a WHERE id = 1; INSERT INTO a (id) VALUES (5); INSERT INTO b VALUES (2)"
    )
    run_mirror(shared, lake, f"{database}.*", from_dump=str(path))
    assert_equal(shared, lake, f"{database}.a", f"{database}.b")
