"""The server that is recovered: what it has already, and how each transaction is applied once.

A transaction with a GTID is applied under it, so that the server itself knows what it has. Where that cannot be (the
transaction has none, the server does not log GTIDs), its position is stored on the server, in a table that is written
in the same transaction. A statement that commits by itself, such as DDL, cannot be in it: then the table first says
that the statement is running, and afterwards that it is done.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from binspark.diff.gtid_inputs import gtids_of_server
from binspark.diff.gtids import HeldGtids, MariadbGtids, MysqlGtids
from binspark.errors import OptionError, Server
from binspark.files.sources import log_order
from binspark.folders import state_folder
from binspark.frames.format import Family
from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbState
from binspark.os_errors import source_errors
from binspark.position import log_name
from binspark.private_files import create_folder, open_file
from binspark.server.connection import Connection
from binspark.server.info import server_info, server_variables

_TABLE = "binspark_restore.progress"
CREATE_PROGRESS = (
    "CREATE DATABASE IF NOT EXISTS binspark_restore",
    f"CREATE TABLE IF NOT EXISTS {_TABLE} (archive VARCHAR(200) CHARACTER SET utf8mb4 PRIMARY KEY, "
    "file VARCHAR(255) CHARACTER SET utf8mb4 NOT NULL, position BIGINT UNSIGNED NOT NULL, "
    "status VARCHAR(10) CHARACTER SET utf8mb4 NOT NULL) ENGINE=InnoDB",
)
_SELECT_PROGRESS = f"SELECT file, position, status FROM {_TABLE} WHERE archive = %s"  # noqa: S608 (no input)
_NO_SUCH_TABLE = ("(error 1146)", "(error 1049)")
_RUNNING = "running"
_DONE = "done"


@dataclass(frozen=True, slots=True)
class StoredProgress:
    """How far an archive was applied: the position after the last transaction, or of a statement that is running."""

    file: str
    position: int
    is_running: bool


@dataclass(frozen=True, slots=True)
class Target:
    """What is known of the server.

    gtids        those that it has
    keeps_gtids  whether a transaction can be applied under its GTID, so that the server remembers it
    progress     how far the archive was applied, if positions are stored
    uuid         its identity, empty if it has none
    is_begun     whether this archive was applied to it before, from this machine
    """

    family: Family
    version: str
    name: str
    server_id: int
    gtids: HeldGtids
    keeps_gtids: bool
    max_packet: int
    progress: StoredProgress | None
    uuid: str = ""
    is_begun: bool = False

    def has(self, gtid: str | None, file: str, start: int) -> bool:
        """Return whether the server has a transaction."""
        if gtid is not None and self.keeps_gtids:
            return self._has_gtid(gtid)
        if self.progress is None:
            return False
        return (log_order(log_name(file)), start) < (log_order(self.progress.file), self.progress.position)

    def _has_gtid(self, gtid: str) -> bool:
        if isinstance(self.gtids, MysqlGtids):
            return ":" in gtid and Gtid.parse(gtid) in self.gtids.executed
        if ":" in gtid:
            return False
        parsed = MariadbGtid.parse(gtid)
        return self.gtids.reached(parsed) >= parsed.sequence

    def lacks(self, gtids_before: GtidSet | MariadbState | None) -> str:
        """Return the GTIDs from before an archive that the server does not have; empty if it has all."""
        if isinstance(gtids_before, GtidSet) and isinstance(self.gtids, MysqlGtids):
            return str(gtids_before - self.gtids.executed)
        if isinstance(gtids_before, MariadbState) and isinstance(self.gtids, MariadbGtids):
            return ",".join(map(str, self.gtids.lacks(MariadbGtids(gtids_before))))
        return ""


def read_target(connection: Connection, archive: str) -> Target:
    """Ask a server what it has; `archive` is the name under which positions of the archive are stored."""
    info, variables = server_info(connection), server_variables(connection)
    if info.family is Family.MYSQL:
        keeps_gtids = variables.get("gtid_mode", "OFF") != "OFF"
    else:
        keeps_gtids = variables.get("log_bin") == "ON"
    return Target(
        info.family,
        info.version,
        str(connection.address),
        info.server_id,
        gtids_of_server(connection),
        keeps_gtids,
        int(variables.get("max_allowed_packet", 1 << 22)),
        _stored_progress(connection, archive),
        uuid := "" if info.uuid == str(connection.address) else info.uuid,
        bool(uuid) and _mark(uuid, archive).exists(),
    )


def note_begin(target: Target, archive: str) -> None:
    """Remember on this machine that an archive is applied to a server, whose new GTIDs are then those of the archive.

    MariaDB's GTIDs have no other mark of whose they are than the server id, and that of a backup may be the target's.
    """
    if target.uuid and isinstance(target.gtids, MariadbGtids):
        mark = _mark(target.uuid, archive)
        with source_errors(str(mark)):
            create_folder(mark.parent)
            os.close(open_file(mark, os.O_WRONLY | os.O_CREAT))


def _mark(uuid: str, archive: str) -> Path:
    return state_folder() / "restore" / re.sub(r"[^\w.@-]", "_", f"{uuid}-{archive}")


def _stored_progress(connection: Connection, archive: str) -> StoredProgress | None:
    try:
        rows = connection.rows(_SELECT_PROGRESS, (archive,))
    except Server as error:
        if error.message.endswith(_NO_SUCH_TABLE):
            return None
        raise
    return StoredProgress(str(rows[0][0]), int(rows[0][1]), rows[0][2] == _RUNNING) if rows else None


def refuse_running(progress: StoredProgress | None, archive: str) -> None:
    """Refuse to continue after a statement of which it is not known whether it was executed."""
    if progress is None or not progress.is_running:
        return
    delete = f"DELETE FROM {_TABLE} WHERE archive = '{archive}'"  # noqa: S608 (for people)
    raise OptionError(
        f"the recovery was interrupted while the statement at {progress.file}:{progress.position} was running, which "
        "commits by itself as DDL and XA transactions do: check whether it was executed (XA RECOVER lists transactions "
        f"that are prepared), then run {delete} and continue with --start-position "
        f"{progress.file}:{progress.position}, or with the position after it"
    )


def store_progress(archive: str, file: str, position: int, *, is_running: bool = False) -> bytes:
    """Return the statement that stores how far an archive was applied."""
    status = _RUNNING if is_running else _DONE
    names = ", ".join("'" + text.replace("'", "''") + "'" for text in (archive, log_name(file)))
    return f"REPLACE INTO {_TABLE} VALUES ({names}, {position}, '{status}')".encode()  # noqa: S608 (quoted above)
