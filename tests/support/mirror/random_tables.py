"""Tables of all types with random rows, and the same rows as the log has them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pyarrow as pa

from binspark.columns.options import ColumnOptions
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.errors import SchemaError
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS, MirroredTable, mirrored_table
from binspark.testing.servers import MySQL, Server
from tests.support.replay.random_types import COMMON, MARIADB_ONLY, MYSQL_ONLY, Kind, quoted

_AWKWARD = (
    Kind("INT(8) ZEROFILL", lambda rng: str(rng.randint(0, 99)), int),
    Kind("DECIMAL(10,2) ZEROFILL", lambda rng: str(rng.randint(0, 99)), int),
    Kind("DECIMAL(20,15)", lambda rng: rng.choice(("0", "-0.000000000000001", "99999")), str),
    Kind("FLOAT", lambda rng: rng.choice(("0", "-0e0", "1e-45", "3.4e38", "0.1", "16777217")), float),
    Kind("FLOAT(10,2)", lambda rng: repr(rng.uniform(-1e4, 1e4)), float),
    Kind("DOUBLE", lambda rng: repr(rng.uniform(-1, 1) * 10 ** rng.randint(-20, 20)), float),
    Kind("DOUBLE(20,6)", lambda rng: repr(rng.uniform(-1e10, 1e10)), float),
    Kind("DOUBLE", lambda rng: rng.choice(("0", "-0e0", "1e15", "1e16", "5e-324", "1.7976931348623157e308")), float),
    Kind("DOUBLE", lambda rng: rng.choice(("-4061241793150054.5", "4061241793150054", "123456789012345678")), float),
    Kind("DATE", lambda rng: rng.choice(("'0000-05-10'", "'0001-01-01'", "'2024-02-29'", "'2023-02-29'")), str),
    Kind(
        "DATETIME(2)", lambda rng: rng.choice(("'0000-00-00'", "'0001-01-01 00:00:01'", "'2024-02-31 1:2:3.45'")), str
    ),
    Kind("YEAR", lambda rng: rng.choice(("0", "1901", "2155")), int),
    Kind("VARCHAR(20)", lambda rng: quoted(rng.choice(("", " ", "a", "a ", "A", "ä", "N", ",", "1:a", "a,b"))), str),
    Kind("CHAR(20)", lambda rng: quoted(rng.choice(("", " ", "a", "a ", "\t"))), str),
    Kind("TEXT", lambda rng: quoted(rng.choice(("", " ", "a", "a ", "x" * 5000))), str),
    Kind("ENUM('a','ö','it''s','')", lambda rng: str(rng.randint(0, 4)), str),
    Kind("GEOMETRY", lambda rng: f"ST_GeomFromText('LINESTRING(0 0, {rng.randint(1, 9)} 1)', 4326)", bytes),
)
_NOTATIONS = (
    Kind("UUID", lambda rng: f"'{rng.getrandbits(128):032x}'", str),
    Kind("INET4", lambda rng: f"'{rng.randint(0, 255)}.0.0.1'", str),
    Kind("INET6", lambda rng: rng.choice(("'::1'", "'2001:db8::ff00:42:8329'", "'::ffff:1.2.3.4'")), str),
)
_COLUMNS = 12


def all_kinds(server: Server) -> list[Kind]:
    """Return the types of a server."""
    if server.family is MySQL:
        return [*COMMON, *_AWKWARD, *MYSQL_ONLY]
    return [*COMMON, *_AWKWARD, *_NOTATIONS, *(kind for kind in MARIADB_ONLY if not kind.sql.startswith("VECTOR"))]


def create_tables(server: Server, database: str, seed: int, rows: int) -> list[str]:
    """Create tables that have all types, with random rows and a few NULLs; return their names."""
    rng = Random(seed)
    kinds = all_kinds(server)
    names = []
    with server.connect(init_command="SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'") as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {database}")
        for number, start in enumerate(range(0, len(kinds), _COLUMNS)):
            chosen = kinds[start : start + _COLUMNS]
            name = f"types_{number}"
            columns = ", ".join(f"c{index} {kind.sql} NULL" for index, kind in enumerate(chosen))
            cursor.execute(f"CREATE TABLE {database}.{name} (id INT PRIMARY KEY, {columns}) CHARACTER SET utf8mb4")
            for key in range(rows):
                values = ", ".join("NULL" if rng.random() < 0.1 else kind.literal(rng) for kind in chosen)
                cursor.execute(f"INSERT IGNORE INTO {database}.{name} VALUES ({key}, {values})")
            names.append(name)
    return names


def logged_table(
    server: Server, database: str, table: str, options: ColumnOptions = MIRROR_OPTIONS
) -> tuple[MirroredTable, pa.Table]:
    """Return how a table is mirrored, and the rows that were inserted, as the log has them."""
    reader = BatchReader(Selection(tables=frozenset({f"{database}.{table}"}), metadata=False, options=options))
    batches, source = [], None
    for log in server.log_files():
        with log.open("rb") as file:
            for found in reader.read(file.readinto, log.name):
                source = found.table
                batches.append(found.batch)
    if source is None:
        raise SchemaError(f"no rows of {database}.{table}")
    mirrored = mirrored_table(replace(source, schema=database, table=table), lambda kind: kind, options)
    return mirrored, pa.Table.from_batches(batches).select(mirrored.schema.names).cast(mirrored.schema)
