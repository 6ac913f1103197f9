"""Logs as servers before 5.5 wrote them, rebuilt after real ones."""

from __future__ import annotations

from binspark.event import Rotate, encode_body
from binspark.frames import EventCode as E
from binspark.testing.builder import (
    MYSQL_5_0,
    MYSQL_5_1_17,
    MYSQL_5_5,
    BinlogBuilder,
    EventSpec,
    Overrides,
    ServerKind,
    insert,
    integer,
    table,
    varchar,
)

ORDERS = table("shop.orders", integer("id"), varchar("note", 200))
OLD_RELAY_SERVERS = (MYSQL_5_0, MYSQL_5_1_17, MYSQL_5_5)


class OldRelayLog:
    """A relay log without the flag of one: events have the positions of the source's log.

    starts   where its transactions begin
    """

    def __init__(self, server: ServerKind = MYSQL_5_5, transactions: int = 5) -> None:
        self.log = BinlogBuilder(server, base_name="relay-bin")
        self.starts: list[int] = []
        self._position = 0
        self._begin_stream()
        for number in range(transactions):
            self.starts.append(self.log.offset)
            self._transaction(number)

    @property
    def content(self) -> bytes:
        return self.log.content

    def _begin_stream(self) -> None:
        """Write what a source sends first: ROTATE with next position 0, and the format description of its log."""
        self.log.timestamp = 0
        self._copy(EventSpec(E.ROTATE, Rotate(4, "source-bin.000007")), 0)
        description = self.log.server.format_description(self.log.format.checksum, 0)
        self._copy(EventSpec(E.FORMAT_DESCRIPTION, description), 106)
        self._position = 106

    def _transaction(self, number: int) -> None:
        log = self.log
        changes = (insert(ORDERS, (number, "relayed")),) if log.server is MYSQL_5_5 else ()
        specs = [log.query_spec("BEGIN"), *log.change_specs(changes), log.query_spec("COMMIT")]
        for spec in specs:
            self._position += log.size_of(spec)
            self._copy(spec, self._position)

    def _copy(self, spec: EventSpec, next_position: int) -> None:
        body = encode_body(spec.type_code, spec.body, self.log.format)
        self.log.raw(spec.type_code, body, spec.flags, Overrides(next_position=next_position))


def log_with_cached_positions(server: ServerKind = MYSQL_5_1_17) -> BinlogBuilder:
    """Build a log whose transaction has, in its headers, the positions that its events had in the cache."""
    log = BinlogBuilder(server)
    log.query("CREATE TABLE t (a INT)", "test")
    log.query("BEGIN", "test")
    cached = 0
    for number in range(3):
        spec = log.query_spec(f"INSERT INTO t VALUES ({number})", "test")
        cached += log.size_of(spec)
        log.raw(spec.type_code, encode_body(spec.type_code, spec.body, log.format), 0, Overrides(next_position=cached))
    log.xid(3)
    log.stop()
    return log
