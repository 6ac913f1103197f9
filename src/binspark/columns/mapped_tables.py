"""Which table an id means in the statement that a scan is in, and numbers for the names of tables and schemas."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from binspark.columns.log_scan import Numbers
from binspark.columns.row_counts import row_sizes
from binspark.event import TableMap
from binspark.kernels.layout import Operation, State, TableIds
from binspark.kernels.list_layout import MapNumber, NameNumber
from binspark.kernels.sessions import find_name, hash_name
from binspark.kernels.table_maps import find_table_id

_FIRST_IDS = 1 << 10
_MAX_IDS = 1 << 15
_MAX_TABLES = 1 << 16
_MAX_SCHEMAS = 1 << 12
_NO_TABLE = 0
_PADDING = 8

Name = tuple[str, str]


class MappedTables:
    """Registers table maps and names for kernels, whose arrays these are; and for an `Assembler`, whose tables it is.

    body     the body of the TABLE_MAP that comes next
    tables   the names of tables, by their numbers
    schemas  the names of schemas that statements run in, by their numbers
    """

    def __init__(self, state: Numbers) -> None:
        self.body = b""
        self.tables: list[Name] = []
        self.schemas: list[str] = []
        self.change_of = np.zeros(len(Operation) * _FIRST_IDS, dtype=np.int64)
        self.names = np.full((2 * _MAX_SCHEMAS, NameNumber.COUNT), -1, dtype=np.int64)
        self._state = state
        self._numbers: dict[Name, int] = {}
        self._schema_numbers: dict[str, int] = {}
        self._schema_bytes: list[npt.NDArray[np.uint8]] = []
        self._make_ids(_FIRST_IDS)

    def _make_ids(self, capacity: int) -> None:
        self.ids = np.full((2 * capacity, TableIds.WIDTH), -1, dtype=np.int64)
        self.stamps = np.zeros(2 * capacity, dtype=np.int64)
        self.maps = np.zeros((2 * capacity, MapNumber.COUNT), dtype=np.int64)
        self._maps: dict[int, tuple[TableMap, npt.NDArray[np.uint8], Numbers | None]] = {}

    def get(self, table_id: int) -> TableMap | None:
        """Return the last TABLE_MAP with an id, None if there is none in the statement."""
        entry = find_table_id(self.ids, table_id)
        if self.ids[entry, TableIds.ID] == -1 or self.stamps[entry] != self._state[State.STATEMENT]:
            return None
        return self._maps[table_id][0]

    def __setitem__(self, table_id: int, table: TableMap) -> None:
        if len(self._maps) >= len(self.ids) // 2:
            self._make_room()
        self._enter(table_id, table, np.frombuffer(self.body + bytes(_PADDING), dtype=np.uint8))

    def clear(self) -> None:
        """Forget all: the statement ends."""
        self._state[State.STATEMENT] += 1

    def number(self, schema: str, table: str) -> int:
        """Return the number of a table's name."""
        name = (schema, table)
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.tables)
            self.tables.append(name)
            if len(Operation) * len(self.tables) > len(self.change_of):
                self.change_of = np.concatenate([self.change_of, np.zeros_like(self.change_of)])
        return number

    def schema_number(self, schema: str) -> int:
        """Return the number of a schema's name. Kernels know it from then on, if it is in ASCII."""
        number = self._schema_numbers.get(schema)
        if number is None:
            number = self._schema_numbers[schema] = len(self.schemas)
            self.schemas.append(schema)
            if schema.isascii() and len(self._schema_bytes) < _MAX_SCHEMAS:
                self._enter_schema(schema.encode(), number)
        return number

    @property
    def is_large(self) -> bool:
        """Whether there are enough names to forget those that are no longer needed."""
        return len(self.tables) > _MAX_TABLES or len(self.schemas) > _MAX_SCHEMAS

    def forget(self, tables: Iterable[int], schemas: Iterable[int]) -> tuple[dict[int, int], dict[int, int]]:
        """Forget all names but some tables and schemas; return the new numbers of those by their old ones."""
        old_tables, old_schemas = self.tables, self.schemas
        self.tables, self.schemas = [], []
        self._numbers, self._schema_numbers, self._schema_bytes = {}, {}, []
        self.names[:] = -1
        kept = self._of_statement()
        self._make_ids(_FIRST_IDS)
        moved_tables = {number: self.number(*old_tables[number]) for number in tables}
        moved_schemas = {number: self.schema_number(old_schemas[number]) for number in schemas}
        for table_id, (table, body, _) in kept.items():
            if len(self._maps) >= len(self.ids) // 2:
                self._make_room()
            self._enter(table_id, table, body)
        return moved_tables, moved_schemas

    def _enter(self, table_id: int, table: TableMap, body: npt.NDArray[np.uint8]) -> None:
        entry = find_table_id(self.ids, table_id)
        sizes = row_sizes(table.column_types, table.column_metadata)
        self._maps[table_id] = (table, body, sizes)
        self.ids[entry] = (table_id, _NO_TABLE, body.ctypes.data, len(body) - _PADDING)
        self.stamps[entry] = self._state[State.STATEMENT]
        self.maps[entry, MapNumber.TABLE] = self.number(table.schema, table.table)
        self.maps[entry, MapNumber.COLUMNS] = table.column_count
        self.maps[entry, MapNumber.SIZES] = 0 if sizes is None else sizes.ctypes.data

    def _enter_schema(self, raw: bytes, number: int) -> None:
        kept = np.frombuffer(raw + bytes(_PADDING), dtype=np.uint8)
        self._schema_bytes.append(kept)
        address = int(kept.ctypes.data)
        entry = find_name(self.names, address, len(raw))
        self.names[entry] = (hash_name(address, len(raw)), address, len(raw), number)

    def _of_statement(self) -> dict[int, tuple[TableMap, npt.NDArray[np.uint8], Numbers | None]]:
        """Return the tables of the current statement."""
        return {table_id: known for table_id, known in self._maps.items() if self.get(table_id) is not None}

    def _make_room(self) -> None:
        """Forget the tables of earlier statements if there are many; if the current one has many, make more room."""
        capacity = len(self.ids) // 2
        kept = self._of_statement() if capacity >= _MAX_IDS else dict(self._maps)
        stamps = {table_id: int(self.stamps[find_table_id(self.ids, table_id)]) for table_id in kept}
        self._make_ids(2 * capacity if 2 * len(kept) > capacity else capacity)
        for table_id, (table, body, _) in kept.items():
            self._enter(table_id, table, body)
            self.stamps[find_table_id(self.ids, table_id)] = stamps[table_id]
