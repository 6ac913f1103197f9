"""What a dump contains: its position in the log, the definitions of its tables, and their rows.

    mysqldump, mariadb-dump   one file, with --source-data or --master-data (and --single-transaction)
    mydumper                  a directory with a file `metadata`

FLOAT has only six digits in a dump: rows that are not changed afterwards keep what the dump has. All other values are
exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import pyarrow as pa

from binspark.columns.result_rows import ResultRows
from binspark.errors import BinlogError, Malformed, OptionError, SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.gtid import GtidSet, MariadbPosition
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.dumps.packets import RowPackets
from binspark.mirror.snapshot.dumps.statements import DumpReader, Insert, open_text
from binspark.mirror.snapshot.dumps.values import RowEncoder, dumped_schema, parse_rows, sent_types
from binspark.mirror.snapshot.read import conformed
from binspark.mirror.snapshot.select import queried_schema
from binspark.position import Position
from binspark.replication.gtids import Gtids
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog
from binspark.schema.dump import from_dump
from binspark.schema.table import TableName, TableSchema

_COORDINATES = re.compile(
    r"CHANGE (?:MASTER|REPLICATION SOURCE) TO (?:MASTER|SOURCE)_LOG_FILE='([^']+)', (?:MASTER|SOURCE)_LOG_POS=(\d+)"
)
_GTID_PURGED = re.compile(r"GTID_PURGED\s*=\s*(?:/\*!80000 '\+'\*/\s*)?'([^']*)'")
_SLAVE_POS = re.compile(r"SET GLOBAL gtid_slave_pos='([^']*)'")
_NAMES = re.compile(r"SET NAMES (\w+)")
_UTC = re.compile(r"SET TIME_ZONE='\+00:00'")
_UTF8 = ("utf8mb4", "utf8mb3", "utf8")
_UNCONVERTED = "binary"
_COMMENTED = "-- Server version"
_COMPLETED = "-- Dump completed"
_METADATA = "metadata"
_FILE = re.compile(r"^\s*(?:Log:|File\s*=)\s*\"?([^\"\s]+)\"?", re.MULTILINE)
_OFFSET = re.compile(r"^\s*(?:Pos:|Position\s*=)\s*\"?(\d+)\"?", re.MULTILINE)
_EXECUTED = re.compile(r"^\s*(?:GTID:|Executed_Gtid_Set\s*=)\s*\"?([^\"\n]*)\"?", re.MULTILINE | re.IGNORECASE)
_SECTIONS = re.compile(r"^\[(?:master|source)\]\s*$|^SHOW MASTER STATUS:\s*$", re.MULTILINE | re.IGNORECASE)
_NEXT_SECTION = re.compile(r"^\[|^SHOW SLAVE STATUS:|^Finished dump", re.MULTILINE)
_SQL_FILE = re.compile(r"(.+?)\.(.+?)(?:\.\d+){0,2}\.sql(?:\.(?:gz|zst|xz|bz2))?")
_SCHEMA_FILE = re.compile(r"(.+?)(?:\.(.+?))?-schema(?:-create)?\.sql(?:\.(?:gz|zst|xz|bz2))?")
_MOMENTS = (T.TIMESTAMP, T.TIMESTAMP2)


class MissingColumns(SchemaError):
    """A dump does not have all columns of a table."""


@dataclass(frozen=True, slots=True)
class Dump:
    """A dump that was opened.

    position   where the log continues after it
    catalog    the definitions of its databases and tables
    files      its files with rows, each with the database that it belongs to
    in_utc     whether TIMESTAMP is in UTC
    converted  whether text was converted to UTF-8; if not, it is in the character sets of its columns
    """

    position: BinlogPosition
    catalog: Catalog
    files: tuple[tuple[str, str], ...]
    in_utc: bool
    converted: bool

    def rows(self, tables: Mapping[TableName, MirroredTable]) -> Iterator[tuple[TableName, Iterator[pa.RecordBatch]]]:
        """Yield the tables that are wanted in the order of the dump, each with its rows, which must be read at once.

        A table without rows may be missing.
        """
        inserts = (insert for path, schema in self.files for insert in DumpReader(path, schema).inserts())
        for name, group in groupby(inserts, attrgetter("table")):
            if name in tables:
                self._check(tables[name])
                yield name, _batches(tables[name], group, converted=self.converted)

    def _check(self, table: MirroredTable) -> None:
        if not self.in_utc and any(column.type in _MOMENTS for column in table.source.columns):
            message = f"TIMESTAMP columns of {table.name} are in an unknown time zone: dump again without --skip-tz-utc"
            raise SchemaError(message, Position(source="the dump"))


def open_dump(path: str) -> Dump:
    """Open a dump: a file of mysqldump or mariadb-dump, or a directory of mydumper."""
    return _open_directory(Path(path)) if Path(path).is_dir() else _open_file(path)


def _batches(table: MirroredTable, inserts: Iterator[Insert], *, converted: bool) -> Iterator[pa.RecordBatch]:
    schema = dumped_schema(queried_schema(table), converted=converted)
    result = ResultRows(schema, table.options, sent_types(schema))
    try:
        for batch in result.batches(RowPackets(_payloads(table, schema, inserts))):
            yield conformed(batch, table.schema)
    except BinlogError as error:
        raise error.at(Position(source=f"rows of {table.name} in the dump")) from None


def _payloads(table: MirroredTable, schema: TableSchema, inserts: Iterator[Insert]) -> Iterator[bytes]:
    encoder, wanted = RowEncoder(schema.columns), schema.column_names
    for insert in inserts:
        listed = insert.columns or tuple(name for name in table.source.column_names if name in wanted)
        missing = [name for name in wanted if name not in listed]
        if missing:
            raise MissingColumns(f"the dump has no values of column {missing[0]}, which is generated")
        order = [listed.index(name) for name in wanted]
        for row in parse_rows(insert.statement, insert.start, len(listed)):
            yield encoder.encode([row[index] for index in order])


# --- mysqldump and mariadb-dump ---------------------------------------------------------------------------------------


def _open_file(path: str) -> Dump:
    reader = DumpReader(path)
    for _ in reader.inserts():
        pass
    text = "".join(reader.text)
    if _COMMENTED in text and _COMPLETED not in text:
        raise Malformed(
            f"the dump is not complete: it has no line that begins with {_COMPLETED!r}", Position(file=path)
        )
    in_utc, converted = _UTC.search(text) is not None, _is_converted(text, path)
    return Dump(_position_in(text, path), from_dump(text), ((path, ""),), in_utc, converted)


def _is_converted(text: str, path: str) -> bool:
    """Return whether text is UTF-8, by the first lines of a dump; if not, nothing was converted."""
    names = _NAMES.search(text)
    if names is not None and names[1] not in (*_UTF8, _UNCONVERTED):
        message = f"is in {names[1]}: dump again with --default-character-set=utf8mb4"
        raise OptionError(message, Position(file=path), "from_dump")
    return names is None or names[1] != _UNCONVERTED


def _position_in(text: str, path: str) -> BinlogPosition:
    coordinates, purged, slave = _COORDINATES.search(text), _GTID_PURGED.search(text), _SLAVE_POS.search(text)
    gtids: Gtids | None = None
    if purged is not None:
        gtids = GtidSet(re.sub(r"\s", "", purged[1]))
    elif slave is not None:
        gtids = MariadbPosition(slave[1])
    return _position(coordinates and (coordinates[1], int(coordinates[2])), gtids, path)


def _position(coordinates: tuple[str, int] | None, gtids: Gtids | None, path: str) -> BinlogPosition:
    if coordinates is not None:
        return BinlogPosition(*coordinates, gtids)
    if gtids is not None:
        return BinlogPosition.after_gtids(gtids)
    message = "has no position in the log: dump again with --single-transaction and --source-data=2 (--master-data=2)"
    raise OptionError(message, Position(file=path), "from_dump")


# --- mydumper ---------------------------------------------------------------------------------------------------------


def _open_directory(path: Path) -> Dump:
    metadata = path / _METADATA
    if not metadata.is_file():
        hint = "it was not finished" if (path / f"{_METADATA}.partial").exists() else "it is not a dump of mydumper"
        raise OptionError(f"has no file {_METADATA}: {hint}", Position(file=str(path)), "from_dump")
    definitions, rows = [], []
    for file in sorted(path.iterdir()):
        if (schema := _SCHEMA_FILE.fullmatch(file.name)) is not None:
            definitions.append((schema[2] is not None, schema[1], str(file)))
        elif (data := _SQL_FILE.fullmatch(file.name)) is not None:
            rows.append((str(file), data[1]))
    text = _read_definitions(sorted(definitions))
    beginning = _beginning(rows[0][0]) if rows else ""
    in_utc, converted = _UTC.search(beginning) is not None, _is_converted(beginning, str(path))
    return Dump(_position_of_metadata(metadata), from_dump(text), tuple(rows), in_utc, converted)


def _read_definitions(files: list[tuple[bool, str, str]]) -> str:
    """Return all definitions as one text, with the database of each."""
    parts = []
    for is_table, schema, file in files:
        with open_text(file) as opened:
            text = opened.read().decode("utf-8", "replace")
        parts.append(f"USE `{schema}`;\n{text}\n" if is_table else f"{text}\n")
    return "".join(parts)


def _beginning(file: str) -> str:
    with open_text(file) as opened:
        return opened.read(2000).decode("utf-8", "replace")


def _position_of_metadata(metadata: Path) -> BinlogPosition:
    text = metadata.read_text()
    section = _SECTIONS.search(text)
    part = text[section.end() :] if section is not None else ""
    end = _NEXT_SECTION.search(part)
    part = part if end is None else part[: end.start()]
    file, offset, executed = _FILE.search(part), _OFFSET.search(part), _EXECUTED.search(part)
    gtids: Gtids | None = None
    if executed is not None and executed[1].strip():
        listed = executed[1].strip()
        gtids = GtidSet(listed) if ":" in listed else MariadbPosition(listed)
    coordinates = (file[1], int(offset[1])) if file is not None and offset is not None else None
    return _position(coordinates, gtids, str(metadata))
