"""A query in the binary protocol, whose rows arrive while they are read: memory does not depend on how many there are.

A prepared statement is used, because only its rows are exact: numbers in their own form, FLOAT with all its bits, parts
of dates as they are stored.

    COM_STMT_PREPARE  0x16, text of the statement
    answer            0x00, statement (4 bytes), columns (2), parameters (2), 0, warnings (2); descriptions, EOF
    COM_STMT_EXECUTE  0x17, statement (4), no cursor (1), once (4)
    answer            number of columns; descriptions, EOF; rows, EOF
"""

from __future__ import annotations

from binspark.errors import ConnectionLost, Malformed, SchemaError
from binspark.replication.channel import PacketChannel
from binspark.replication.packets import ERROR, decode_error, is_end
from binspark.server.connection import Connection
from binspark.server.errors import explain_error, printable
from binspark.wire import Cursor

_PREPARE, _EXECUTE, _CLOSE = 0x16, 0x17, 0x19
_OK = 0x00
_PREPARED_LENGTH = 9
_TEXTS_BEFORE_TYPE = 6  # catalog, schema, table and its own name, column and its own name
CHANGED = frozenset({1054, 1146, 1176, 1412, 1615})
"""Errors of a query whose table is not what it was: no such column, table or key, another definition."""

_ONCE = (0).to_bytes(1, "little") + (1).to_bytes(4, "little")


_MAX_COLUMNS = 4096
"""As many as a table of MySQL or MariaDB may have."""


class TableChanged(SchemaError):
    """A table was changed while it was read: what was read of it has to be read again, with its new columns."""


class QueryChannel:
    """Runs queries one after the other; their rows are read by `columns.result_rows`.

    From now on the socket of the connection belongs to it. `silence_seconds` is how long the server may take for the
    next row.
    """

    def __init__(self, connection: Connection, silence_seconds: float) -> None:
        self._position = connection.position
        self._account = connection.account  # no statement can be run once the channel has the socket
        self._channel = PacketChannel(connection.socket, connection.position)
        self._seconds = silence_seconds
        self._statement = b""

    def execute(self, sql: str) -> list[int]:
        """Run a query, and return the types that the server names for its columns. All rows must be read then."""
        self._statement = self._prepare(sql)
        self._channel.send(bytes((_EXECUTE,)) + self._statement + _ONCE, self._seconds)
        answer = self._read()
        return [_described_type(packet) for packet in self._descriptions(Cursor(answer).packed("columns"))]

    def unread(self) -> tuple[int, int, int]:
        """Return where packets are that have arrived, and the number of the next one."""
        unread = self._channel.unread
        address = unread.memory.address
        return address + unread.start, address + unread.end, unread.sequence

    def skip(self, count: int, sequence: int) -> None:
        """Note that packets were read."""
        self._channel.unread.start += count
        self._channel.unread.sequence = sequence

    def receive(self, needed: int) -> None:
        """Wait until more has arrived."""
        self._channel.unread.needed = needed
        if not self._channel.receive(self._seconds):
            raise ConnectionLost(f"no row came for {self._seconds:g} seconds", self._position)

    def read_row(self) -> bytes | None:
        """Return the payload of the next row, None after the last."""
        payload = self._read()
        if not is_end(payload):
            return payload
        self._channel.send(bytes((_CLOSE,)) + self._statement, self._seconds)
        return None

    def _prepare(self, sql: str) -> bytes:
        self._channel.send(bytes((_PREPARE,)) + sql.encode(), self._seconds)
        answer = self._read()
        if len(answer) < _PREPARED_LENGTH or answer[0] != _OK:
            raise Malformed("the answer to COM_STMT_PREPARE is not valid", self._position)
        fields = Cursor(answer, 1)
        statement = fields.raw("statement", 4)
        columns, parameters = fields.u16("columns"), fields.u16("parameters")
        for count in (parameters, columns):
            if count:
                self._descriptions(count)
        return statement

    def _descriptions(self, count: int) -> list[bytes]:
        """Read as many descriptions of columns, and the EOF after them."""
        if count > _MAX_COLUMNS:
            raise Malformed(
                f"the answer to a query has {count:,} columns, expected at most {_MAX_COLUMNS:,}", self._position
            )
        found = [self._read() for _ in range(count)]
        if not is_end(self._read()):
            raise Malformed("no EOF after the descriptions of columns", self._position)
        return found

    def _read(self) -> bytes:
        payload = self._channel.read(self._seconds)
        if payload[:1] == bytes((ERROR,)):
            error = decode_error(payload)
            if error.code in CHANGED:
                raise TableChanged(
                    f"the table was changed while it was read: {printable(error.message)}", self._position
                )
            raise explain_error(error.code, error.message, self._position, self._account)
        return payload


def _described_type(packet: bytes) -> int:
    """Return the type in the description of a column.

    Six texts, each after its length; then the length of the fixed fields: collation (2 bytes), length (4), type (1).
    """
    fields = Cursor(packet)
    for _ in range(_TEXTS_BEFORE_TYPE):
        fields.raw("text", fields.packed("length"))
    fields.packed("length")
    fields.raw("collation_and_length", 6)
    return fields.u8("type")
