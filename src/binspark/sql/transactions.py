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

COUNT_MISSED = "SET @missed = @missed + (ROW_COUNT() <> 1);\n"
"""Follows an UPDATE or DELETE of an undo: it counts the rows that are not found as they were left."""

BEGIN_COUNT = "SET @missed = 0;\n"
UNDO_ENDING = (
    "SET @ending = IF(@missed, 'ROLLBACK', 'COMMIT');\nPREPARE ending FROM @ending;\nEXECUTE ending;\n"
    "SET sql_mode = IF(@missed, CONCAT('rolled back: the undo of ",
    " finds rows that are not as it left them: ', @missed), @@sql_mode);\n",
)
"""Ends a transaction of an undo, before and after its name. Where a row was missed it is rolled back, and the last
statement fails: its error shows the text, and the client does not continue. With --force it does, and what follows is
rolled back as well."""

_WIDTH = 200
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f'\\]")
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
        thread = "" if self.thread_id is None else f"  thread {self.thread_id}"
        return f"\n-- {self.gtid or 'anonymous'}  {self._where}  {moment}  server {self.server_id}{thread}\n"

    def undo_ending(self) -> bytes:
        """Return what ends the transaction that undoes this one."""
        return f"{self.gtid or self._where}".join(UNDO_ENDING).encode()

    @property
    def _where(self) -> str:
        return f"{shown_log(self.start.file or '')}:{self.start.offset}"

    def gtid_next(self) -> str:
        """Return the statement that gives the next transaction the same GTID."""
        gtid = self.gtid
        if gtid is None:
            return ""
        if isinstance(gtid, MariadbGtid):
            number = f"gtid_domain_id = {gtid.domain}, server_id = {gtid.server}, gtid_seq_no = {gtid.sequence}"
            return f"SET {number};\n"
        return f"SET gtid_next = '{gtid}';\n"


def shown_log(file: str) -> str:
    """Return the name of a log for comments and literals, without characters that would end them."""
    return _UNSAFE.sub("_", log_name(file))


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
