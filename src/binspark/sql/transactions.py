"""The transactions of a script: how they begin and end, and what is said of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from binspark.event import Event, MariadbGtidEvent, Query
from binspark.event.mariadb import MariadbGtidFlag
from binspark.event.xa import XaPrepare
from binspark.gtid import Gtid, MariadbGtid
from binspark.position import Position, log_name
from binspark.sql.session import Settings
from binspark.transactions.grammar import Boundary, Role
from binspark.transactions.rollbacks import xid_in

_WIDTH = 200
_SPACE = re.compile(r"[\x00-\x20\x7f-\x9f]+")


@dataclass
class ScriptTransaction:
    """The transaction in progress, as far as it is known.

    start      where it begins
    opened     whether something of it is part of the script
    xa         the identifier of an XA transaction
    statement  the statement of the rows that were added last
    held       statements about savepoints that come before its first change in the script, and their settings
    """

    start: Position
    timestamp: int
    server_id: int
    gtid: Gtid | MariadbGtid | None = None
    thread_id: int | None = None
    opened: bool = False
    xa: str = ""
    statement: str | None = None
    held: list[tuple[bytes, Settings]] = field(default_factory=list)

    def comment(self, moment: str) -> str:
        """Return the comment before a transaction, with its time."""
        where = f"{log_name(self.start.file or '')}:{self.start.offset}"
        thread = "" if self.thread_id is None else f"  thread {self.thread_id}"
        return f"\n-- {self.gtid or 'anonymous'}  {where}  {moment}  server {self.server_id}{thread}\n"

    def gtid_next(self) -> str:
        """Return the statement that gives the next transaction the same GTID."""
        gtid = self.gtid
        if gtid is None:
            return ""
        if isinstance(gtid, MariadbGtid):
            number = f"gtid_domain_id = {gtid.domain}, server_id = {gtid.server}, gtid_seq_no = {gtid.sequence}"
            return f"SET {number};\n"
        return f"SET gtid_next = '{gtid}';\n"


def xid_of(event: Event, role: Role) -> str:
    """Return the identifier of the XA transaction that an event begins, empty if it begins none."""
    body = event.body
    if isinstance(body, MariadbGtidEvent):
        is_prepared = body.gtid_flags & MariadbGtidFlag.PREPARED_XA
        return body.xid.name if body.xid is not None and is_prepared else ""
    return xid_in(body.query) if role is Role.BEGINS else ""


def ending_sql(event: Event, boundary: Boundary) -> bytes:
    """Return the statement that ends a transaction as the log does."""
    body = event.body
    if isinstance(body, XaPrepare):
        return f"XA {'COMMIT' if body.one_phase else 'PREPARE'} {body.name}{' ONE PHASE' * body.one_phase};\n".encode()
    if isinstance(body, Query) and boundary.role is Role.ENDS:
        return bytes(body.query.rstrip(b"; \n")) + b";\n"
    return b"COMMIT;\n"


def one_line(text: str) -> str:
    """Return the beginning of a statement on one line, without characters that a terminal obeys."""
    line = _SPACE.sub(" ", text[: 4 * _WIDTH]).strip()
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
