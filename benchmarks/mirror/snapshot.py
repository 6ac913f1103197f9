"""`python -m benchmarks.mirror.snapshot`: rows of a table, read from a server by binspark, PyMySQL and connectorx.

    --rows N       rows of each table (default 300,000)
    --family NAME  mysql or mariadb (default mysql)

Each reads `SELECT *` of the same table over loopback, in this process, in turn. Rows per CPU second (user and system,
of all threads; the server's are not counted) are those of the best of three repeats, after one to warm up. PyMySQL
makes tuples of Python's objects, row by row as they arrive; connectorx makes Arrow tables, of types that are not those
of the log. "as leaves" is binspark with the Parquet files that a mirror begins with, sorted by key. A peer that is not
installed is reported.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from binspark.kernels import cache
from binspark.mirror.files.data_file import TableDirectory
from binspark.mirror.schema.mirrored_table import MirroredTable, mirrored_table
from binspark.mirror.snapshot.chunk import COMPLETE
from binspark.mirror.snapshot.copy import ChunkCopier
from binspark.mirror.snapshot.read import read_chunk
from binspark.replication.find import end_of_log
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig, connection_config
from binspark.server.connection import connect
from binspark.testing.servers import MariaDB, MySQL, Server, start

REPEATS = 3
FETCHED = 10_000


@dataclass(frozen=True, slots=True)
class Mix:
    """A mix of types: the columns of a table after its key, and the expressions that fill them."""

    name: str
    columns: str
    values: str


MIXES = (
    Mix(
        "orders",
        "customer INT, status ENUM('new', 'paid', 'sent'), amount DECIMAL(12, 2), created DATETIME(6), "
        "updated TIMESTAMP(3) NULL, name VARCHAR(60), note TEXT, weight DOUBLE, active TINYINT",
        "RAND() * 1000, 1 + FLOOR(RAND() * 3), RAND() * 100000, NOW(6) - INTERVAL RAND() * 100000 SECOND, NOW(3), "
        "CONCAT('name ', RAND()), REPEAT('note ', 5), RAND() * 1000, 1",
    ),
    Mix(
        "numbers",
        "a INT, b BIGINT, c SMALLINT UNSIGNED, d DOUBLE, e FLOAT, f DECIMAL(20, 6), g DECIMAL(10, 2), "
        "h BIGINT UNSIGNED",
        "RAND() * 1000, RAND() * 1e15, RAND() * 60000, RAND(), RAND(), RAND() * 1e9, RAND() * 1e6, RAND() * 1e15",
    ),
    Mix(
        "dates",
        "a DATE, b DATETIME, c DATETIME(6), d TIMESTAMP NULL, e TIMESTAMP(6) NULL, f TIME(3), g YEAR",
        "NOW() - INTERVAL RAND() * 9999 DAY, NOW() - INTERVAL RAND() * 99999 SECOND, NOW(6), "
        "NOW() - INTERVAL RAND() * 99999 SECOND, NOW(6), SEC_TO_TIME(RAND() * 80000), 2024",
    ),
    Mix(
        "text",
        "a VARCHAR(100), b VARCHAR(100) CHARACTER SET latin1, c TEXT, d CHAR(10), e VARBINARY(40)",
        "CONCAT('name ', RAND()), CONCAT('name ', RAND()), REPEAT('text ', RAND() * 60), 'char', SHA2(RAND(), 0)",
    ),
)


class Reader:
    """Something that reads a table; `read` returns how many rows it has."""

    def __init__(self, name: str, read: Callable[[], int]) -> None:
        self.name = name
        self.read = read
        self.best = float("inf")

    def measure(self, rows: int) -> None:
        """Read once, and keep the CPU seconds if they are the fewest so far."""
        before = time.process_time()
        found = self.read()
        seconds = time.process_time() - before
        assert found == rows, f"{self.name} has read {found} rows of {rows}"
        self.best = min(self.best, seconds)


def create(server: Server, mix: Mix, rows: int) -> None:
    """Create a table of a mix: again and again, as many rows are added as there are, each with values of its own."""
    columns = ", ".join(column.split()[0] for column in _columns(mix.columns))
    head = f"INSERT INTO {mix.name} ({columns}) SELECT {mix.values}"
    lines = [
        "CREATE DATABASE IF NOT EXISTS bench; USE bench; SET sql_mode = '';",
        f"CREATE TABLE {mix.name} (id BIGINT PRIMARY KEY AUTO_INCREMENT, {mix.columns}) DEFAULT CHARSET utf8mb4;",
        f"{head};",
    ]
    filled = 1
    while filled < rows:
        added = min(filled, rows - filled)
        lines.append(f"{head} FROM {mix.name} LIMIT {added};")
        filled += added
    server.run_sql("\n".join(lines))


def _columns(text: str) -> list[str]:
    """Divide definitions of columns at the commas outside parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def table_of(config: ConnectionConfig, name: str) -> MirroredTable:
    """Return how a table is mirrored."""
    with connect(config) as connection:
        definition = from_server(connection.rows).tables[TableName("bench", name)]
    assert definition is not None
    return mirrored_table(definition.table_schema("bench", name), lambda kind: kind)


def by_binspark(config: ConnectionConfig, table: MirroredTable) -> int:
    """Read record batches."""
    return sum(batch.num_rows for batch in read_chunk(config, table, COMPLETE))


def as_leaves(config: ConnectionConfig, table: MirroredTable) -> int:
    """Read record batches, and write them."""
    with connect(config) as connection:
        copier = ChunkCopier(config, end_of_log(connection))
    with tempfile.TemporaryDirectory() as folder:
        return copier.copy(table, TableDirectory(folder), COMPLETE).rows


def by_pymysql(server: Server, name: str) -> int:
    """Read tuples."""
    cursors = importlib.import_module("pymysql.cursors")
    rows = 0
    session = server.connect(database="bench", cursorclass=cursors.SSCursor, ssl_disabled=True)
    with session, session.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {name}")
        while fetched := cursor.fetchmany(FETCHED):
            rows += len(fetched)
    return rows


def by_connectorx(server: Server, name: str) -> int:
    """Read an Arrow table."""
    connectorx = importlib.import_module("connectorx")
    found = connectorx.read_sql(
        f"mysql://root@127.0.0.1:{server.port}/bench", f"SELECT * FROM {name}", return_type="arrow"
    )
    return int(found.num_rows)


def measure(server: Server, mix: Mix, rows: int) -> None:
    """Measure all readers of a table, and print their rates."""
    config = connection_config(host=f"127.0.0.1:{server.port}", user="root", ssl_mode="disabled", environ={})
    table = table_of(config, mix.name)
    readers = [
        Reader("binspark", lambda: by_binspark(config, table)),
        Reader("binspark, as leaves", lambda: as_leaves(config, table)),
        Reader("PyMySQL", lambda: by_pymysql(server, mix.name)),
        Reader("connectorx", lambda: by_connectorx(server, mix.name)),
    ]
    for reader in list(readers):
        try:
            reader.measure(rows)
        except Exception as error:
            print(f"{mix.name}: {reader.name} is not measured: {str(error).splitlines()[0]}")
            readers.remove(reader)
        reader.best = float("inf")
    for _ in range(REPEATS):
        for reader in readers:
            reader.measure(rows)
    slowest = next(reader.best for reader in readers if reader.name == "PyMySQL")
    for reader in readers:
        print(f"{mix.name:8} {reader.name:20} {rows / reader.best:12,.0f} rows/CPU s {slowest / reader.best:6.1f} x")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--family", choices=("mysql", "mariadb"), default="mysql")
    arguments = parser.parse_args()
    cache.enable()
    family = {"mysql": MySQL, "mariadb": MariaDB}[arguments.family]
    with start(family, {"innodb-buffer-pool-size": "256M"}) as server:
        print(f"{family.title} {server.version}, {arguments.rows:,} rows")
        for mix in MIXES:
            create(server, mix, arguments.rows)
            measure(server, mix, arguments.rows)


if __name__ == "__main__":
    main()
